"""Leaderboard lines: what stands in one line of a page's leaderboard, and at the head of its columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

NONE: Final = "\N{EN DASH}"  # where there is no figure


def pieces_of(name: str) -> list[str]:
    """A name in pieces between which a narrow column may break it.

    >>> pieces_of("pii_leakage.passes")
    ['pii_', 'leakage.', 'passes']
    """
    return re.findall(r"[^._]*[._]|[^._]+", name)


@dataclass(frozen=True, slots=True)
class Heading:
    """A bot at the head of its column; ``nature`` is its model, or its kind where it has none."""

    name: str
    embedded: bool
    nature: str
    problem: str
    shape: str
    colour: str

    @property
    def pieces(self) -> list[str]:
        """The name in pieces, see ``pieces_of``."""
        return pieces_of(self.name)


@dataclass(frozen=True, slots=True)
class Bar:
    """A mean with its interval, from 0 to 100 along the range that the cells of a line share; None where unknown."""

    mean: float
    low: float | None
    high: float | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one bot.

    Attributes:
        text: the figure; a dash where there is none.
        interval: its 95 % interval in words, or blank.
        href: where its rows are, or blank.
        is_best: whether no other bot's is better, and some are worse.
        mark: ``met`` or ``missed`` where there is a threshold, ``bad`` for what should not be.
        notes: which rows have no value and why; other small print.
        missing: where the rows without a value are, or blank.
        corrected: what people would find, or blank.
        bar: a drawing of the mean and its interval.
    """

    text: str
    interval: str = ""
    href: str = ""
    is_best: bool = False
    mark: str = ""
    notes: str = ""
    missing: str = ""
    corrected: str = ""
    bar: Bar | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A metric, or what an answer takes, of all bots.

    Attributes:
        name: of the metric.
        cells: one for each bot.
        arrow, better: its direction, as a sign and in words.
        wanted: its threshold in words.
        notes: which rows have no value and why, where that is the same for all bots.
        missing: where these rows are.
        meaning: what the metric measures, in a sentence.
    """

    name: str
    cells: tuple[Cell, ...]
    arrow: str = ""
    better: str = ""
    wanted: str = ""
    notes: str = ""
    missing: str = ""
    meaning: str = ""

    @property
    def pieces(self) -> list[str]:
        """The name in pieces, see ``pieces_of``."""
        return pieces_of(self.name)
