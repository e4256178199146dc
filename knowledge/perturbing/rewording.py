"""Rewording: what became of a text, put together from changes in some places."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .chance import Chance


class Refused(Exception):  # noqa: N818 - an outcome, told as a part of a sentence
    """A kind can't change this text; the message says why, as in "no variant was made, because ..."."""


class Change(NamedTuple):
    """Characters from ``start`` to ``end`` that give way to ``new``."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Reworded:
    """A text that was changed.

    Attributes:
        text: as it is now.
        changed: in how many of the places something was changed.
        units: in how many places the kind could have changed something.
    """

    text: str
    changed: int
    units: int


def how_many(units: int, share: float) -> int:
    """The number of places that a share of them comes to: rounded, at least one, at most all."""
    return min(units, max(1, int(share * units + 0.5)))


def some_of(places: Sequence[Change], share: float, chance: Chance, lacking: str, source: str) -> Reworded:
    """The text with a random share of the possible changes made.

    Args:
        places: all changes that are possible; they don't overlap.
        share: of the places, above 0 and at most 1.
        chance: draws which.
        lacking: why nothing can be changed when there are no places.
        source: the text.

    Raises:
        Refused: there are no places.
    """
    if not places:
        raise Refused(lacking)
    made = chance.shuffled(places, how_many(len(places), share))
    return Reworded(changed(source, made), len(made), len(places))


def changed(source: str, changes: Sequence[Change]) -> str:
    """The text with these changes made; they don't overlap."""
    pieces, position = [], 0
    for change in sorted(changes):
        pieces += [source[position : change.start], change.new]
        position = change.end
    return "".join((*pieces, source[position:]))
