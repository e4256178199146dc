"""Differences: what two sentences say otherwise, and when two figures are one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ...metrics.judge.embedded.wording import Word, Wording

Sort = Literal["number", "date", "name", "negation", "opposite"]
_ROUNDED: Final = 0.05  # of a figure; about and nearly make no more of a difference
_ROUNDED_YEARS: Final = 2
# What stands before a number that only names a thing.
_NAMED_BY_NUMBER: Final = frozenset({
    "article", "bus", "chapter", "class", "clause", "exhibit", "figure", "flight", "grade", "group", "item", "level",
    "line", "model", "number", "no.", "no", "nr", "paragraph", "part", "phase", "platform", "question", "room",
    "route", "row", "section", "series", "stage", "step", "table", "track", "tier", "type", "unit", "version",
    "volume", "week", "zone",
})  # fmt: skip
ABOUT: Final = frozenset({
    "about", "almost", "approximately", "around", "circa", "least", "most", "nearly", "over", "roughly", "than", "to",
    "under", "up",
})  # fmt: skip
"""Words before a figure that make it a bound, or less exact."""


class Difference(NamedTuple):
    """One thing that the second sentence says otherwise than the first; a blank word where it lacks it."""

    sort: Sort
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first or 'nothing'} against {self.second or 'nothing'}"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Why two sentences can't both be true.

    Attributes:
        differences: what they say otherwise.
        shared: content words that they have in common.
        names: names among these.
        subject: the first content word of the first sentence that is no figure, where both have it before all that
            differs; blank otherwise.
        loose: whether one says much besides, so that they may be about different things.
    """

    differences: tuple[Difference, ...]
    shared: int
    names: frozenset[str]
    subject: str = ""
    loose: bool = False


def are_alike(first: Word, second: Word) -> bool:
    """Both in digits or both in letters (months, weekdays), both shares or neither."""
    return first.key[0].isdigit() == second.key[0].isdigit() and first.key.endswith("%") == second.key.endswith("%")


def is_rounding(first: Word, second: Word, about: bool) -> bool:
    """Whether two numbers may be one, less exactly said: 1.5 and 1.52, or about 1000 and 1012."""
    plain = [word.key.rstrip("%") for word in (first, second)]
    try:
        one, other = map(float, plain)
    except ValueError:
        return False
    if first.kind == "date":
        return about and abs(one - other) <= _ROUNDED_YEARS
    fewer, more = sorted(len(text.partition(".")[2]) for text in plain)
    if more > fewer and round(one, fewer) == round(other, fewer):
        return True
    return about and math.isclose(one, other, rel_tol=_ROUNDED)


def is_one_figure(figure: Word) -> bool:
    """Whether it is one figure: no decade."""
    return not (figure.key[0].isdigit() and figure.key.endswith("s"))


def is_named(text: Wording, figure: Word) -> bool:
    """Whether a figure of a text only names a thing: route 41, chapter 3."""
    place = text.words.index(figure)
    return place > 0 and text.words[place - 1].text.lower() in _NAMED_BY_NUMBER
