"""Threshold verdicts: whether the mean of a metric reaches the threshold that the suite names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ...metrics.score import passed
from ..comparing.score_table import ScoreTable
from ..statistics.intervals import ClusterSums, mean_interval
from ..summary import MetricColumn
from .gate_rule import NOT_WORSE, REGRESSED, UNDECIDED
from .metric_sentences import shown
from .metric_verdicts import is_binary

ThresholdOutcome = Literal["met", "missed", "undecided"]
CODES: Final = {"met": NOT_WORSE, "missed": REGRESSED, "undecided": UNDECIDED}


@dataclass(frozen=True, slots=True)
class ThresholdVerdict:
    """One threshold of one bot, held against the mean of the head alone.

    Attributes:
        metric: its name.
        outcome: met or missed when the whole interval of the mean is on one side, else undecided.
        threshold: what the mean has to reach.
        mean: over all rows of the head that have a value.
        low: lower end of its 95 % interval.
        high: upper end.
        rows: how many rows have a value.
        sentence: the verdict in words.
    """

    metric: str
    outcome: ThresholdOutcome
    threshold: float
    mean: float | None
    low: float | None
    high: float | None
    rows: int
    sentence: str

    @property
    def exit_code(self) -> int:
        """What the verdict alone would end with."""
        return CODES[self.outcome]


def threshold_verdicts(head: ScoreTable, wanted: Iterable[str]) -> list[ThresholdVerdict]:
    """A verdict for each metric of ``wanted`` that the head has with a threshold, in the head's order."""
    names = set(wanted)
    return [
        _verdict(head, column, column.threshold)
        for name, column in head.columns.items()
        if name in names and column.threshold is not None and column.better != "neither"
    ]


def own_mean(table: ScoreTable, metric: str) -> tuple[float | None, float | None, float | None, int]:
    """Mean with its 95 % interval (clustered by source document) and the number of rows with a value."""
    values, column = table.values[metric], table.columns[metric]
    there = np.isfinite(values)
    if not there.any():
        return None, None, None, 0
    names = [(True, case.source_document) if case.source_document else (False, case.key) for case in table.cases]
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    places = np.repeat(np.array([codes[name] for name in names]), values.shape[1])[there.ravel()]
    flat = values[there]
    counts = np.bincount(places, minlength=len(codes)).astype(float)
    sums = np.bincount(places, flat, minlength=len(codes))
    found = ClusterSums(
        int((counts > 0).sum()), len(flat), float(sums.sum()), float((flat**2).sum()), float((sums**2).sum()),
        float((sums * counts).sum()), float((counts**2).sum()), is_binary(values, values, column),
    )  # fmt: skip
    low, high = mean_interval(found, column.low, column.high) or (None, None)
    return found.mean, low, high, len(flat)


def _verdict(head: ScoreTable, column: MetricColumn, threshold: float) -> ThresholdVerdict:
    mean, low, high, rows = own_mean(head, column.name)
    outcome = _outcome(mean, low, high, threshold, column)
    bound = "at least" if column.better == "higher" else "at most"
    reached = "no value at all" if mean is None else f"{shown(mean, column)}"
    reach = "" if low is None or high is None else f" ({shown(low, column)} to {shown(high, column)})"
    says = f"{reached}{reach}, wanted {bound} {threshold:g}"
    return ThresholdVerdict(column.name, outcome, threshold, mean, low, high, rows, says)


def _outcome(
    mean: float | None, low: float | None, high: float | None, threshold: float, column: MetricColumn
) -> ThresholdOutcome:
    if mean is None:
        return "undecided"
    best = column.high if column.better == "higher" else column.low
    if threshold == best:  # no sample shows that nothing is ever wrong: it is wanted of these questions
        return "met" if passed(mean, threshold, column.better) else "missed"
    if low is None or high is None:
        return "undecided"
    ends = {passed(low, threshold, column.better), passed(high, threshold, column.better)}
    return "undecided" if len(ends) > 1 else "met" if ends == {True} else "missed"
