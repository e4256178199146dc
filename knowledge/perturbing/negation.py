"""Negation: what a question says is denied, or no longer denied, so that another answer is right."""

from collections.abc import Sequence
from typing import Final

from .chance import Chance
from .english import (
    BE_FINITE,
    CONJUNCTIONS,
    DETERMINERS,
    DO,
    HAVE,
    MODALS,
    NOT_ENGLISH,
    PREPOSITIONS,
    QUESTION_WORDS,
    asked,
    begins_part,
    is_english,
    is_helping,
    part_start,
)
from .rewording import Change, Refused, Reworded, changed
from .units import Word, is_name, like, words

_SUBJECTS: Final = frozenset(["i", "you", "he", "she", "it", "we", "they", "there", "this", "that", "one"])
_SET: Final = frozenset(["and", "but", "if", "or", "when", "whether", "why"])  # "or not", "if not", "why not"
_CLAUSE: Final = CONJUNCTIONS | QUESTION_WORDS | {"that"}
_CONTRACTED: Final = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_DENIED: Final = {
    verb: {
        "can": "can't",
        "will": "won't",
        "shall": "shan't",
        "am": "am not",
        "may": "may not",
        "cannot": "cannot",
    }.get(verb, f"{verb}n't")
    for verb in DO | BE_FINITE | MODALS
}
_BEEN: Final = frozenset({
    "been", "gone", "done", "made", "sent", "paid", "bought", "got", "gotten", "lost", "found", "seen", "taken",
    "given", "left", "had", "kept", "broken", "sold", "told",
})  # fmt: skip


def negate(text: str, share: float, chance: Chance) -> Reworded:  # noqa: ARG001 - two denials may cancel out
    """``not`` put in at one helping verb, or one ``not`` taken out.

    The helping verb with which a yes/no question begins stays as it is: "Can I not return it?" asks for the same
    facts as "Can I return it?". So does that of "how long" and "how much": what is not measured is no question.
    """
    found = words(text)
    if not is_english(found):
        raise Refused(NOT_ENGLISH)
    questions = asked(found)
    denials = [made for place in questions if (made := _affirmed(found, place, text))]
    places = denials or [made for place in questions if (made := _denied(found, place))]
    if not places:
        raise Refused(_lacking(found))
    return Reworded(changed(text, [chance.pick(places)]), 1, len(places))


def _affirmed(found: Sequence[Word], place: int, text: str) -> Change | None:
    """The change that takes a denial out; None where there is none."""
    word = found[place]
    if _asks_politely(found, place):
        return None
    if word.plain in _CONTRACTED:
        return Change(word.start, word.end, like(_CONTRACTED[word.plain], word.text))
    if word.plain.endswith("n't"):
        return Change(word.end - 3, word.end, "")
    if word.plain == "not" and place and found[place - 1].plain not in _SET and not (word.before or word.after):
        blank = next(at for at in range(word.end, len(text) + 1) if not text[at : at + 1].isspace())
        return Change(word.start, blank, "")
    return None


def _asks_politely(found: Sequence[Word], place: int) -> bool:
    """Whether the denial belongs to a verb that begins a yes/no question: "Isn't it open?", "Do you not ship it?"."""
    start = part_start(found, place)
    between = found[start + 1 : place]
    return is_helping(found[start]) and not any(is_helping(word) or word.plain in _CLAUSE for word in between)


def _denied(found: Sequence[Word], place: int) -> Change | None:
    """The change that denies what is said with a helping verb; None where there is no such verb."""
    verb, following = found[place], found[place + 1] if place + 1 < len(found) else None
    if following is None or verb.after or following.before or not _is_helping(found, place):
        return None
    if begins_part(found, place) or _is_measured(found, place):
        return None
    if following.plain in _SUBJECTS and _is_turned(found, place):
        return Change(following.end, following.end, " not") if not following.after else None
    turned = following.plain in DETERMINERS and _is_turned(found, place)
    if verb.plain in DO or turned or verb.plain == "can":
        short = _DENIED["cannot" if verb.plain == "can" and not turned else verb.plain]
        return Change(verb.start, verb.end, like(short, verb.text))
    return Change(verb.end, verb.end, " NOT" if len(verb.text) > 1 and verb.text.isupper() else " not")


def _is_helping(found: Sequence[Word], place: int) -> bool:
    verb, before, after = found[place], found[place - 1].plain if place else "", found[place + 1].plain
    if before in MODALS | {"to"} or (is_name(verb, found) and not begins_part(found, place)):
        return False
    if verb.plain in BE_FINITE:
        return True
    if verb.plain in MODALS - {"cannot"}:
        return before not in DETERMINERS - {"this", "that", "these", "those", "which", "what"}
    if verb.plain in HAVE:
        later = after if after not in _SUBJECTS else (found[place + 2].plain if place + 2 < len(found) else "")
        return later in _BEEN or later.endswith("ed")
    is_object_next = after in PREPOSITIONS | CONJUNCTIONS | QUESTION_WORDS
    return verb.plain in DO and not is_object_next and before not in _SUBJECTS


def _is_turned(found: Sequence[Word], place: int) -> bool:
    """Whether the subject follows its verb, as it does after a question word."""
    asked = any(word.plain in QUESTION_WORDS for word in found[part_start(found, place) : place])
    return asked and found[place - 1].plain not in _SUBJECTS


def _is_measured(found: Sequence[Word], place: int) -> bool:
    """Whether the verb belongs to a question such as "how long is it"."""
    before = [word.plain for word in found[part_start(found, place) : place]]
    asked = [at for at, word in enumerate(before) if word in QUESTION_WORDS]
    return bool(asked) and before[asked[-1]] == "how" and asked[-1] + 1 < len(before)


def _lacking(found: Sequence[Word]) -> str:
    if any(_is_helping(found, place) for place in range(len(found) - 1)) or any(map(is_helping, found[:1])):
        return "it asks for the same facts when it is denied, as yes/no questions and questions of measure do"
    return "it has no helping verb to deny"
