"""Disagreeing: whether two sentences about the same thing can't both be true, by their figures, names and negations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from ...metrics.judge.embedded.signals import opposites
from ...metrics.judge.embedded.word_lists import HEDGES
from ...metrics.judge.embedded.wording import Word, Wording, wording
from .differences import ABOUT, Difference, Disagreement, Sort, are_alike, is_named, is_one_figure, is_rounding
from .held_whole import held_whole

_LEAST_WORDS: Final = {"number": 2, "date": 3, "name": 4, "negation": 3, "opposite": 3}  # content words in common
_LEAST_PLAIN: Final = 3  # of them neither figures nor dates
_LEAST_PLAIN_IN_ROW: Final = 1
_LEAST_SHARE: Final = 0.6  # of the shorter one's content words, what differs left out
_MOST_PLACES: Final = 4  # at which two sentences may differ; beyond, they are about different things
# Function words that say of when, how much or which; on one side only they make it another matter.
_QUALIFYING: Final = frozenset({
    "above", "after", "all", "any", "before", "below", "between", "both", "during", "each", "every", "few", "first",
    "if", "last", "least", "less", "many", "more", "most", "only", "other", "over", "several", "some", "then", "under",
    "unless", "until", "when", "while",
})  # fmt: skip
_NOT_OF_ALL: Final = frozenset({"few", "many", "most", "other", "others", "several", "some", "sometimes"})
_CLAUSE_ENDS: Final = frozenset(";:.()")


def disagree(first: str, second: str, is_row: bool = False) -> Disagreement | None:
    """What two sentences say otherwise in the same words; None where they may both be true.

    They may where a word differs that is neither a figure, a name, a negation nor an opposite, and where a name
    differs beside a figure: that is another thing with a figure of its own.

    Args:
        first: a sentence.
        second: another, about the same as far as its words tell.
        is_row: whether they are rows of tables, where another name is another thing.
    """
    one, other = wording(first), wording(second)
    return _same_frame(one, other, is_row) or (None if is_row else held_whole(one, other))


class _Change(NamedTuple):
    """A place at which two sentences differ: the words of each, without those that say nothing."""

    ours: tuple[Word, ...]
    theirs: tuple[Word, ...]
    place: int  # of the first of ours
    last: bool  # whether nothing comes behind it in either


def _same_frame(one: Wording, other: Wording, is_row: bool) -> Disagreement | None:
    changes = list(_changes(one, other))
    if not changes or len(changes) > _MOST_PLACES:
        return None
    found: list[Difference] = []
    for change in changes:
        differences = _of_change(change, one, other)
        if differences is None:
            return None
        found += differences
    sorts = {difference.sort for difference in found}
    shared = _shared(one, other)
    if not _one_matter(found, sorts, is_row) or not _enough(found, sorts, shared, one, other, is_row=is_row):
        return None
    before = (word.key for word in one.words[: changes[0].place] if word.kind in {"word", "name"})
    subject = next(before, "")
    return Disagreement(tuple(found), len(shared), _names(shared, one, other), subject if subject in shared else "")


def _one_matter(found: Sequence[Difference], sorts: set[Sort], is_row: bool) -> bool:
    if not found or ("name" in sorts and (len(found) > 1 or is_row)):
        return False
    if "date" in sorts and "number" in sorts:
        return False  # the figures of another year
    return len(sorts - {"number", "date"}) <= 1 and (len(sorts) == 1 or not sorts & {"number", "date"})


def _enough(
    found: Sequence[Difference],
    sorts: set[Sort],
    shared: frozenset[str],
    one: Wording,
    other: Wording,
    *,
    is_row: bool,
) -> bool:
    wanted = max(_LEAST_WORDS[sort] for sort in sorts)
    if "negation" in sorts and any(word.key in _NOT_OF_ALL for word in one.words[:2]):
        return False
    plain = {word.key for word in one.words if word.kind in {"word", "name"}} & shared
    if len(plain) < (_LEAST_PLAIN_IN_ROW if is_row else _LEAST_PLAIN):
        return False
    differing = {word.key for text in (one, other) for word in text.words} - shared
    fewest = min(len(text.content - differing) + len(found) for text in (one, other))
    return len(shared) >= wanted and len(shared) >= _LEAST_SHARE * fewest


def _shared(one: Wording, other: Wording) -> frozenset[str]:
    return one.content & other.content


def _names(shared: frozenset[str], one: Wording, other: Wording) -> frozenset[str]:
    return frozenset(word.key for text in (one, other) for word in text.of_kind("name") if word.key in shared)


def _changes(one: Wording, other: Wording) -> Iterator[_Change]:
    ours, theirs = one.words, other.words
    matcher = SequenceMatcher(None, [word.key for word in ours], [word.key for word in theirs], autojunk=False)
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag != "equal":
            last = end == len(ours) and other_end == len(theirs)
            change = _Change(ours[start:end], theirs[other_start:other_end], start, last)
            if _says(change.ours) or _says(change.theirs):
                yield change


def _says(words: Iterable[Word]) -> list[Word]:
    """The words that could make a difference: content, negations and function words that have an opposite."""
    known = opposites()
    return [
        word for word in words
        if word.kind != "stop" or word.key == "not" or word.key in known or word.key in _QUALIFYING
    ]  # fmt: skip


def _of_change(change: _Change, one: Wording, other: Wording) -> list[Difference] | None:
    """What a change says otherwise; none for what makes no difference, None where it is about something else."""
    ours, theirs = _says(change.ours), _says(change.theirs)
    denied = [any(word.key == "not" for word in words) for words in (ours, theirs)]
    content = [[word for word in words if word.kind != "stop"] for words in (ours, theirs)]
    if denied[0] != denied[1]:
        return _negation(ours, theirs, content)
    opposed = _opposed(ours, theirs)
    if not content[0] and not content[1]:
        return opposed or None
    if any(word.kind == "stop" for word in (*ours, *theirs)):
        return None
    if not content[0] or not content[1]:
        return [] if change.last and _is_new_clause(change, one, other) else None
    figures = _figures(content[0], content[1], change, one)
    if figures is not None:
        return figures
    if opposed:
        return opposed if len(content[0]) == len(content[1]) == 1 else None
    return _named(content[0], content[1], change, one)


def _negation(
    ours: Sequence[Word], theirs: Sequence[Word], content: Sequence[Sequence[Word]]
) -> list[Difference] | None:
    if content[0] or content[1]:
        return None
    first, second = (next((word.text for word in words if word.key == "not"), "") for words in (ours, theirs))
    return [Difference("negation", first, second)]


def _opposed(ours: Sequence[Word], theirs: Sequence[Word]) -> list[Difference]:
    known = opposites()
    return [
        Difference("opposite", word.text, against.text)
        for word in ours
        for against in theirs
        if against.key in known.get(word.key, ())
    ][:1]


def _is_new_clause(change: _Change, one: Wording, other: Wording) -> bool:
    """Whether what only one of them says at its end is a clause of its own, behind a semicolon or a full stop."""
    longer, words = (one, change.ours) if change.ours else (other, change.theirs)
    place = longer.text.rfind(words[0].text)
    before = longer.text[:place].rstrip()
    return bool(before) and before[-1] in _CLAUSE_ENDS


def _figures(ours: Sequence[Word], theirs: Sequence[Word], change: _Change, one: Wording) -> list[Difference] | None:
    """The figures that differ one by one; None where it is not figures alone, or where they name a thing."""
    if len(ours) != len(theirs) or not change.place:
        return None
    found: list[Difference] = []
    before = {word.key for word in (*one.words[max(0, change.place - 2) : change.place], *change.ours, *change.theirs)}
    named = is_named(one, ours[0])
    for word, against in zip(ours, theirs, strict=True):
        if word.kind != against.kind or word.kind not in {"number", "date"} or named or not are_alike(word, against):
            return None
        if is_one_figure(word) != is_one_figure(against):
            return None
        if word.key != against.key and not is_rounding(word, against, bool(before & (ABOUT | HEDGES))):
            found.append(Difference(word.kind, word.text, against.text))
    return found


def _named(ours: Sequence[Word], theirs: Sequence[Word], change: _Change, one: Wording) -> list[Difference] | None:
    """A name in the place of another, where it is not the subject of the sentence."""
    if any(word.kind != "name" for word in (*ours, *theirs)):
        return None
    before = [word for word in one.words[: change.place] if word.kind != "stop"]
    if len(before) < 2:
        return None
    first, second = (" ".join(word.text for word in words) for words in (ours, theirs))
    if _abbreviates(ours, theirs) or _abbreviates(theirs, ours):
        return None
    return [Difference("name", first, second)]


def _abbreviates(short: Sequence[Word], long: Sequence[Word]) -> bool:
    keys = {word.key for word in long}
    initials = "".join(word.text[0] for word in long).lower()
    return {word.key for word in short} < keys or (len(short) == 1 and short[0].text.lower() in {initials, *keys})
