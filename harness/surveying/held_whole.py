"""Held whole: a short sentence that stands in a longer one, but for a figure that is another there, or a denial."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ...metrics.judge.embedded.wording import Word, Wording
from .differences import ABOUT, Difference, Disagreement, are_alike, is_named, is_one_figure, is_rounding

_LEAST_HELD: Final = 3  # content words of a short sentence that a longer one holds whole
_BESIDE: Final = 2  # content words on either side of a figure that tell what it is of


def held_whole(one: Wording, other: Wording) -> Disagreement | None:
    """A short sentence whose words all stand in a longer one, but for a figure that is another there, or a denial."""
    short, long = sorted((one, other), key=lambda text: len(text.content))
    shared = short.content & long.content
    within = {word.key for text in (short, long) for word in text.of_kind("name")}
    names = _capitals(short) & _capitals(long) & shared & within
    if len(shared) < _LEAST_HELD or not names:
        return None
    lacking = [word for word in short.of_kind("word", "name", "number", "date") if word.key not in long.content]
    denial = short.words[short.negations[0]].text.lower() if len(short.negations) == 1 else "no"
    if not lacking and denial != "no" and not long.negations:
        found = Difference("negation", *_in_order(denial, "", short is one))
    elif len(lacking) == 1 and not short.negations and not long.negations:
        against = _other_figure(lacking[0], short, long)
        if against is None:
            return None
        found = Difference(against.kind, *_in_order(lacking[0].text, against.text, short is one))  # type: ignore[arg-type]
    else:
        return None
    return Disagreement((found,), len(shared), names, min(names), loose=True)


def _in_order(short: str, long: str, is_short_first: bool) -> tuple[str, str]:
    return (short, long) if is_short_first else (long, short)


def _capitals(text: Wording) -> frozenset[str]:
    """Words with a capital, those at the beginnings of sentences too."""
    return frozenset(word.key for word in text.words if word.kind in {"name", "word"} and word.text[:1].isupper())


def _other_figure(figure: Word, short: Wording, long: Wording) -> Word | None:
    """What the longer text has in the place of a figure: the only one of its sort, beside a word that both have."""
    if figure.kind not in {"number", "date"} or not is_one_figure(figure) or is_named(short, figure):
        return None
    if any(word is not figure and word.kind == figure.kind and are_alike(word, figure) for word in short.words):
        return None
    beside = _neighbours(short, figure)
    others = [word for word in long.of_kind(figure.kind) if are_alike(word, figure)]
    shared = sorted((-len(beside & _neighbours(long, word)), place) for place, word in enumerate(others))
    if not shared or shared[0][0] == 0 or (len(shared) > 1 and shared[0][0] == shared[1][0]):
        return None
    against = others[shared[0][1]]
    if (
        not is_one_figure(against)
        or is_named(long, against)
        or _is_bounded(short, figure)
        or _is_bounded(long, against)
    ):
        return None
    return None if is_rounding(figure, against, about=figure.kind == "number") else against


def _is_bounded(text: Wording, figure: Word) -> bool:
    """Whether a figure is but a bound: more than 5, at least 5."""
    place = text.words.index(figure)
    return any(word.text.lower() in ABOUT for word in text.words[max(0, place - 2) : place])


@lru_cache(maxsize=4_096)
def _neighbours(text: Wording, figure: Word) -> frozenset[str]:
    """The content words beside a figure: founded in 1998."""
    place = text.words.index(figure)
    before = [word.key for word in text.words[max(0, place - 6) : place] if word.kind != "stop"][-_BESIDE:]
    after = [word.key for word in text.words[place + 1 : place + 6] if word.kind != "stop"][:_BESIDE]
    return frozenset((*before, *after))
