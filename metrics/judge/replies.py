"""Strict parsing of judge replies: labels, JSON objects, items; nothing is guessed."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeVar

Item = TypeVar("Item")

NO_OBJECT = "The reply holds no JSON object."
_THINKING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w+-]*[ \t]*$", re.MULTILINE)
_OBJECT = re.compile(r"""\{(?=\s*["'}])""")  # not {this} in the words before it
_TEXT_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.?)*+"?)|,(?=\s*[}\]])', re.DOTALL)
_BEGINS = ("{", "`" * 3, "~~~")  # how a reply begins whose reasoning, if any, is over
_QUOTES = "\"'`*\u201c\u201d\u201e\u2018\u2019\u201a\u00ab\u00bb"
_LINE_MARKS = re.compile(r"^[ \t]*(?:[#>]+|[-+]|\d+[.)])[ \t]+", re.MULTILINE)
_TRAILING = " \t\r\n.,;:!\u3002\uff0e\uff01"
_AFTER_LABEL = ".,;:!\n\u3002\uff0c\uff0e\uff1a\uff01"
_JOINED = r"[\w\-\u00ad\u2010\u2011\u0300-\u036f]"  # what makes a label part of a longer word
_YES = ("true", "yes", "1")
_NO = ("false", "no", "0")


class Malformed(ValueError):  # noqa: N818 - says what the reply is
    """A part of a reply is not what was asked for; the message says what is wrong, for the judge."""


def bare_reply(reply: str) -> str:
    r"""A reply without its reasoning and without fences around it.

    Reasoning without an end mark extends to the end of the reply; an end mark without a beginning removes all before
    it (some servers send the beginning with the prompt). A reply that begins with an object is not searched for
    marks, because its texts may contain them.

    >>> bare_reply("<think>true? No.</think>\n```json\n{}\n```")
    '{}'
    """
    text = _without_reasoning(reply).strip()
    return _FENCE.sub("", text).strip() if text.startswith(_BEGINS[1:]) else text


def _without_reasoning(reply: str) -> str:
    outside: list[str] = []
    position, thinking = 0, False
    for mark in _THINKING.finditer(reply):
        if not thinking and _begins(reply, position):
            break
        if not thinking and not mark[1]:
            outside.append(reply[position : mark.start()])
            thinking = True
        elif mark[1]:
            outside = outside if thinking else []
            position, thinking = mark.end(), False
    return "".join(outside) if thinking else "".join(outside) + reply[position:]


def _begins(reply: str, position: int) -> bool:
    """Whether an object or a fence follows, after white space."""
    while position < len(reply) and reply[position].isspace():
        position += 1
    return reply.startswith(_BEGINS, position)


def read_label(reply: str, labels: Sequence[str]) -> str | None:
    r"""The class label of a reply, or None when it can't be read.

    It is read if it is the whole reply, begins the reply followed by punctuation or a line break, or ends the last
    line alone or after a colon, and if no other label occurs anywhere as a whole word. An object with ``verdict`` is
    read by that.

    >>> read_label("**True**", ("true", "false")), read_label("This is not true.", ("true", "false"))
    ('true', None)
    """
    text = bare_reply(reply)
    if text.startswith("{"):
        found = _object_alone(text)
        value = None if found is None else found.get("verdict")
        text = str(value).lower() if isinstance(value, bool) else value if isinstance(value, str) else ""
    names = {" ".join(label.casefold().split()): label for label in labels}
    text = _plain(text)
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    mentioned = {found[0] for found in re.finditer(rf"(?<!{_JOINED})(?:{longest_first})(?!{_JOINED})", text)}
    if len(mentioned) != 1:
        return None
    (name,) = mentioned
    return names[name] if _stands_out(text, name) else None


def _plain(text: str) -> str:
    """Case-folded, without quotes, emphasis, marks of lists and headings, repeated blanks and final punctuation."""
    text = _FENCE.sub("", text).translate({ord(mark): None for mark in "*`"})
    text = _LINE_MARKS.sub("", text.casefold())
    lines = (_unquoted(" ".join(line.split())) for line in text.splitlines())
    return _unquoted("\n".join(line for line in lines if line).rstrip(_TRAILING))


def _unquoted(text: str) -> str:
    """Without quotes and emphasis around the whole text."""
    text = text.strip(_QUOTES + " \t")
    around = min(len(text) - len(text.lstrip("_")), len(text) - len(text.rstrip("_")))
    return text[around : len(text) - around]


def _stands_out(text: str, name: str) -> bool:
    if text.startswith(name) and (len(text) == len(name) or text[len(name)] in _AFTER_LABEL):
        return True
    last = _unquoted(text.rsplit("\n", 1)[-1].rstrip(_TRAILING))
    before, colon, after = last.replace("\uff1a", ":").rpartition(":")
    return last == name or (bool(colon) and bool(before) and _unquoted(after) == name)


def read_object(reply: str) -> Mapping[str, object] | str:
    """The first object at the top level of a reply; a str is the reason, for the judge, why there is none."""
    text = bare_reply(reply)
    begin = _OBJECT.search(text)
    start = begin.start() if begin else text.find("{")
    if start < 0:
        return "The reply is empty." if not text else NO_OBJECT
    try:
        found, _ = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError) as wrong:
        try:  # a comma before an end means nothing
            found, _ = _DECODER.raw_decode(_TEXT_OR_COMMA.sub(r"\1", text[start:]))
        except (ValueError, RecursionError):
            return f"The JSON object can't be read: {_why(wrong)}."
    return found  # type: ignore[no-any-return]  # what begins with a brace is an object


def _object_alone(text: str) -> Mapping[str, object] | None:
    """An object with nothing after it."""
    try:
        found, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return None if text[end:].strip() else found


def _why(wrong: ValueError | RecursionError) -> str:
    """What is wrong, without quoting the reply."""
    if isinstance(wrong, json.JSONDecodeError):
        return f"{wrong.msg}, at character {wrong.pos + 1}"
    if isinstance(wrong, RecursionError):
        return "it is nested too deeply"
    return str(wrong) if isinstance(wrong, Malformed) else "it holds a number that is too long"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("a property stands twice in one object")
    return found


def _no_number(_name: str) -> NoReturn:
    raise Malformed("NaN and Infinity are no numbers")


# Line breaks within texts are allowed: they are not ambiguous.
_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number, strict=False)


def read_boolean(found: object) -> bool | None:
    """``true/false/1/0``, or ``"yes"/"no"`` and the former as texts in any case; None for all else."""
    if isinstance(found, bool):
        return found
    if isinstance(found, int):
        return {1: True, 0: False}.get(found)
    word = found.strip().casefold() if isinstance(found, str) else ""
    return True if word in _YES else False if word in _NO else None


def read_score(found: object, low: float, high: float) -> float:
    """A number on a scale, its ends included; one outside it is not clamped. Raises Malformed."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise Malformed("the score must be a number")
    if not low <= found <= high or math.isnan(found):
        raise Malformed(f"the score must be from {low:g} to {high:g}")
    return float(found)


def read_reason(found: Mapping[str, object], field: str = "reason") -> str:
    """A reason on one line; blank where none is given."""
    reason = found.get(field)
    return " ".join(reason.split()) if isinstance(reason, str) else ""


def read_texts(found: Mapping[str, object], field: str) -> tuple[str, ...]:
    """A list of texts, each once, trimmed, without blank ones. Raises Malformed when anything else is in it."""
    texts = _listed(found, field)
    if not all(isinstance(text, str) for text in texts):
        raise Malformed(f'Each entry of "{field}" must be a text in quotes.')
    once: dict[str, str] = {}
    for text in texts:
        plain = " ".join(str(text).split())
        once.setdefault(plain.casefold(), plain)
    return tuple(text for text in once.values() if text)


def read_list(
    found: Mapping[str, object], field: str, read: Callable[[Mapping[str, object]], Item]
) -> tuple[list[Item], list[str]]:
    """The entries of a list that can be read, and what is wrong with the others. Raises Malformed: it is no list."""
    items: list[Item] = []
    problems: dict[str, None] = {}
    for entry in _listed(found, field):
        try:
            items.append(read(_entry(entry)))
        except Malformed as wrong:
            problems[f'In "{field}", {wrong}.'] = None
    return items, list(problems)


def read_items(
    found: Mapping[str, object], field: str, ids: Sequence[str], read: Callable[[Mapping[str, object]], Item]
) -> tuple[tuple[Item | None, ...], list[str]]:
    """The entry of a reply's list for each item, in the order of their ids; None where it can't be read.

    Every id must occur exactly once: an id that occurs twice is not read. Ids that were not asked for are
    dropped. The second of the pair says, for the judge, what is wrong.
    """
    try:
        entries = [_entry(entry) for entry in _listed(found, field)]
    except Malformed as wrong:
        return (None,) * len(ids), [str(wrong)]
    named = [(_identity(entry.get("id"), ids), entry) for entry in entries]
    times = Counter(identity for identity, _ in named if identity is not None)
    items: dict[str, Item] = {}
    problems: list[str] = []
    for identity, entry in named:
        if identity is None or times[identity] > 1:
            continue
        try:
            items[identity] = read(entry)
        except Malformed as wrong:
            problems.append(f'In "{field}", {identity}: {wrong}.')
    twice = [identity for identity in ids if times[identity] > 1]
    missing = [identity for identity in ids if not times[identity]]
    if twice:
        problems.append(f'"{field}" holds more than one entry for {", ".join(twice)}.')
    if missing:
        problems.append(f'"{field}" misses {", ".join(missing)}.')
    return tuple(items.get(identity) for identity in ids), problems


def _listed(found: Mapping[str, object], field: str) -> list[object]:
    entries = found.get(field)
    if not isinstance(entries, list):
        raise Malformed(f'The object must have "{field}", a list.')
    return entries


def _entry(entry: object) -> Mapping[str, object]:
    return entry if isinstance(entry, dict) else {}


def _identity(found: object, ids: Sequence[str]) -> str | None:
    """Which item is meant: by its id, with or without brackets, or by its number; None for any other."""
    name = found.strip(" []").casefold() if isinstance(found, str) else ""
    if isinstance(found, int) and not isinstance(found, bool):
        name = str(found)
    if name.isdecimal() and ids:
        name = ids[0][0] + name
    return name if name in ids else None


# Behind a stored reply: how probable each score was, from the log-probabilities of its tokens. What a model itself
# writes in this form is taken out before.
_PROBABILITIES: Final = re.compile(r"\n*<<score probabilities (\{[^{}]*\})>>\s*")
_SCORE: Final = re.compile(r'"score"\s*:\s*"?(\d+)')
_LEAST_MASS: Final = 0.5  # of the scores together; below, the model was about to write something else


def with_probabilities(reply: str, tokens: Sequence[tuple[str, Mapping[str, float]]], scale: tuple[int, int]) -> str:
    """A reply with the probabilities of its score behind it, or without where they can't be had.

    Args:
        reply: the text of the reply.
        tokens: the reply's tokens, each with the log-probabilities of those that might have come in its place.
        scale: the lowest and the highest score.
    """
    bare = _PROBABILITIES.sub("\n", reply)
    found = score_probabilities(tokens, scale)
    return f"{bare}\n\n<<score probabilities {json.dumps(found)}>>" if found else bare


def score_probabilities(tokens: Sequence[tuple[str, Mapping[str, float]]], scale: tuple[int, int]) -> dict[str, float]:
    """The probability of each whole score on the scale, by its text; empty where the tokens don't tell.

    Source: Liu et al. 2023, G-Eval: scores weighted by the probabilities of their tokens.
    """
    joined = "".join(text for text, _ in tokens)
    scores = list(_SCORE.finditer(joined))
    if not scores:
        return {}
    start, end = scores[-1].span(1)
    place = 0
    for text, others in tokens:
        if place <= start < place + len(text):
            found = _of_token(others, scale) if end <= place + len(text) else {}
            mass = math.fsum(found.values())
            return {score: found[score] / mass for score in sorted(found, key=int)} if mass >= _LEAST_MASS else {}
        place += len(text)
    return {}


def _of_token(others: Mapping[str, float], scale: tuple[int, int]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text, logprob in others.items():
        score = text.strip(' \t\n":')
        if score.isascii() and score.isdecimal() and scale[0] <= int(score) <= scale[1]:
            found[str(int(score))] = found.get(str(int(score)), 0.0) + math.exp(min(logprob, 0.0))
    return found


def read_probabilities(reply: str) -> tuple[str, dict[int, float]]:
    """A reply without the probabilities behind it, and these."""
    found = _PROBABILITIES.search(reply)
    if found is None:
        return reply, {}
    read = json.loads(found[1])
    return reply[: found.start()], {int(score): float(share) for score, share in read.items()}
