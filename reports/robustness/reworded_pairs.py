"""RewordedPairs: the questions of one bot with their rewordings, from one run or from two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparing.comparable import mean_of_repeats
from ..comparing.score_table import STATUSES, Figures, Flags, ScoreTable
from ..summary import MetricColumn
from .rewordings import Rewording, read_rewordings

Places = NDArray[np.intp]
Outcomes = NDArray[np.int8]  # 1 passed, 0 failed, -1 neither
OK = STATUSES.index("ok")


@dataclass(frozen=True)
class RewordedPairs:
    """Pairs of a question and its rewording, in the order of the rewordings.

    Attributes:
        base: the table that holds the questions as they were.
        reworded: the table that holds the rewordings; the same one when both stand in one run.
        rewordings: how each was made.
        sources: for each pair the place of the question in ``base``.
        places: for each pair the place of the rewording in ``reworded``.
        plain: places in ``base`` of all questions that are no rewordings.
        without_source: keys of rewordings whose question is not there.
        unreadable: keys of questions of which it can't be read what they reword, with the reason.
    """

    base: ScoreTable
    reworded: ScoreTable
    rewordings: tuple[Rewording, ...]
    sources: Places
    places: Places
    plain: Places
    without_source: tuple[str, ...]
    unreadable: dict[str, str]

    @property
    def repeats(self) -> int:
        """How often both sides were asked: the repeats that can be paired."""
        return min(self.base.repeats, self.reworded.repeats)

    @cached_property
    def clusters(self) -> Places:
        """Code of the cluster of every question of ``base``: its source document, or itself where it has none."""
        codes: dict[tuple[bool, str], int] = {}
        names = [(bool(case.source_document), case.source_document or case.key) for case in self.base.cases]
        return np.array([codes.setdefault(name, len(codes)) for name in names], np.intp)

    @cached_property
    def is_control(self) -> Flags:
        """Which pairs are with a copy that changes nothing."""
        return np.array([each.is_control for each in self.rewordings], np.bool_)

    @cached_property
    def is_same(self) -> Flags:
        """Which pairs are with a real rewording that must get the same answer."""
        return np.array([each.must == "same" and not each.is_control for each in self.rewordings], np.bool_)

    @property
    def kinds(self) -> dict[tuple[str, str], Flags]:
        """The pairs of each kind and demand, in order of appearance."""
        names = [(each.kind, str(each.must)) for each in self.rewordings]
        return {name: np.array([each == name for each in names], np.bool_) for name in dict.fromkeys(names)}

    def values(self, metric: str) -> tuple[Figures, Figures]:
        """The mean over the repeats of both sides of every pair; NaN where there is none."""
        base = mean_of_repeats(self.base.values[metric])
        return base[self.sources], mean_of_repeats(self.reworded.values[metric])[self.places]

    def flips(self, column: MetricColumn) -> Figures:
        """Of every pair and repeat whether it flipped: 1, 0, or NaN where either side has no outcome."""
        before, after = self.outcomes(column)
        return np.where((before < 0) | (after < 0), np.nan, (before != after).astype(np.float64))

    def outcomes(self, column: MetricColumn) -> tuple[Outcomes, Outcomes]:
        """The outcomes of both sides of every pair, of shape (pairs, repeats)."""
        before, after = outcomes(self.base, column), outcomes(self.reworded, column)
        return before[self.sources, : self.repeats], after[self.places, : self.repeats]

    def per_source(self, values: Figures, chosen: Flags) -> Figures:
        """The mean of values of pairs (and repeats) for every question of ``base``, over the chosen pairs; NaN."""
        at = np.repeat(self.sources[chosen], values.shape[1] if values.ndim > 1 else 1)
        flat = values[chosen].ravel()
        there = np.isfinite(flat)
        counts = np.bincount(at[there], minlength=len(self.base.cases))
        sums = np.bincount(at[there], flat[there], minlength=len(self.base.cases))
        return ratios(sums, counts)


def ratios(sums: NDArray[Any], counts: NDArray[Any]) -> Figures:
    """Sums by counts; NaN where nothing was counted."""
    made: Figures = np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)
    return made


def outcomes(table: ScoreTable, column: MetricColumn) -> Outcomes:
    """Whether each row met the threshold (equality does); -1 where it has no value or nothing is wanted."""
    values = table.values[column.name]
    if column.threshold is None or column.better == "neither":
        return np.full(values.shape, -1, np.int8)
    met = values >= column.threshold if column.better == "higher" else values <= column.threshold
    # A verdict that could not be read counts as 0 in a rate, but it is no outcome.
    return np.where(table.statuses[column.name] == OK, met.astype(np.int8), np.int8(-1))


def pair_rewordings(base: ScoreTable, reworded: ScoreTable) -> RewordedPairs:
    """Pair every rewording with its question, by the id that it names."""
    found, unreadable = read_rewordings(reworded.cases)
    of_base = found if base is reworded else read_rewordings(base.cases)[0]
    asked: Flags = np.any(reworded.asked, axis=1)
    pairs = [(base.places.get(mark.source), place, mark) for place, mark in found.items() if asked[place]]
    there = [(source, place, mark) for source, place, mark in pairs if source is not None]
    return RewordedPairs(
        base=base, reworded=reworded, rewordings=tuple(mark for *_, mark in there),
        sources=np.array([source for source, *_ in there], np.intp),
        places=np.array([place for _, place, _ in there], np.intp),
        plain=np.array([place for place in range(len(base.cases)) if place not in of_base], np.intp),
        without_source=tuple(reworded.cases[place].key for source, place, _ in pairs if source is None),
        unreadable=unreadable,
    )  # fmt: skip
