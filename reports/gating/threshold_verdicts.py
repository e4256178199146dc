"""Threshold verdicts: whether the mean of a metric reaches the threshold that the suite names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...metrics.score import passed
from ..comparing.clustered_mean import clustered_mean
from ..comparing.comparable import cluster_codes
from ..comparing.score_table import STATUSES, Flags, RunFigure, ScoreTable
from ..leaderboard import count
from ..summary import MetricColumn
from ..thresholds import bound
from .gate_rule import CODES
from .metric_sentences import shown

ThresholdOutcome = Literal["met", "below threshold", "undecided"]


@dataclass(frozen=True, slots=True)
class ThresholdVerdict:
    """One threshold of one bot, held against the mean of the head alone.

    Attributes:
        metric: its name.
        outcome: met or below threshold when the whole interval of the mean is on one side, else undecided; on these
            questions alone, and for a figure of the whole run, the mean itself is on one side. What lacks too many
            values is not met.
        threshold: what the mean has to reach; None where the run has no such metric.
        mean: over all rows of the head that have a value.
        low: lower end of its 95 % interval.
        high: upper end.
        rows: how many rows have a value.
        sentence: the verdict in words.
    """

    metric: str
    outcome: ThresholdOutcome
    threshold: float | None
    mean: float | None
    low: float | None
    high: float | None
    rows: int
    sentence: str

    @property
    def exit_code(self) -> int:
        """What the verdict alone would end with."""
        return CODES[self.outcome]


def threshold_verdicts(
    head: ScoreTable, wanted: Iterable[str], missing: float, on_these: bool = False
) -> list[ThresholdVerdict]:
    """A verdict for each metric of ``wanted``, in the head's order.

    Args:
        head: the bot.
        wanted: metrics with a threshold.
        missing: the share of rows that may lack a value.
        on_these: whether the mean of these questions decides, and not where that of questions like these may lie.
    """
    names = set(wanted)
    rows = [(name, column) for name, column in head.columns.items() if name in names]
    of_run = [(name, found) for name, found in head.of_run.items() if name in names]
    absent = sorted(names - {name for name, _ in (*rows, *of_run)})
    return [
        *(
            _of_rows(head, column, limit, missing, on_these)
            for _, column in rows
            if (limit := _limit(column)) is not None
        ),
        *(_of_run(found, limit, head) for _, found in of_run if (limit := _limit(found.column)) is not None),
        *(
            ThresholdVerdict(name, "undecided", None, None, None, None, 0, "the run has no value of it")
            for name in absent
        ),
    ]


def _limit(column: MetricColumn) -> float | None:
    return None if column.better == "neither" else column.threshold


def _of_rows(
    head: ScoreTable, column: MetricColumn, threshold: float, missing: float, on_these: bool
) -> ThresholdVerdict:
    values, statuses = head.values[column.name], head.statuses[column.name]
    there = np.isfinite(values)
    lacking = int((head.asked & ~there & (statuses != STATUSES.index("not_applicable"))).sum())
    rows = int(there.sum())
    mean, low, high = _mean(head, column, there) if rows else (None, None, None)
    ends = (mean, mean) if on_these else (low, high)
    outcome = _outcome(mean, *ends, threshold, column)
    reached = "no value at all" if mean is None else f"{shown(mean, column)}"
    reach = "" if low is None or high is None else f" ({shown(low, column)} to {shown(high, column)})"
    says = f"{reached}{reach}, {_wanted(column, threshold)}"
    if outcome == "met" and lacking > missing * (rows + lacking):
        outcome = "undecided"
        says = (
            f"{says}; {count(lacking, 'row')} of {rows + lacking:,} have no value, more than the {missing:.0%} that may"
        )
    return ThresholdVerdict(column.name, outcome, threshold, mean, low, high, rows, says)


def _of_run(found: RunFigure, threshold: float, head: ScoreTable) -> ThresholdVerdict:
    value, column = found.value, found.column
    reached = passed(value, threshold, column.better)
    outcome: ThresholdOutcome = "undecided" if reached is None else "met" if reached else "below threshold"
    told = "no value" if value is None else shown(value, column)
    says = f"{told} over the whole run, {_wanted(column, threshold)}"
    return ThresholdVerdict(column.name, outcome, threshold, value, None, None, int(head.asked.sum()), says)


def _wanted(column: MetricColumn, threshold: float) -> str:
    return f"wanted {bound(column, threshold)}"


def _mean(head: ScoreTable, column: MetricColumn, there: Flags) -> tuple[float, float | None, float | None]:
    """The mean over rows with its 95 % interval, as leaderboards have it: clustered by source document."""
    codes = cluster_codes(head.cases, "source")[0]
    rows = np.broadcast_to(codes[:, None], there.shape)[there]
    found = clustered_mean(head.values[column.name][there], rows, column.low, column.high)
    return found.value, found.low, found.high


def _outcome(
    mean: float | None, low: float | None, high: float | None, threshold: float, column: MetricColumn
) -> ThresholdOutcome:
    if mean is None:
        return "undecided"
    best = column.high if column.better == "higher" else column.low
    if threshold == best:  # no sample shows that nothing is ever wrong: it is wanted of these questions
        return "met" if passed(mean, threshold, column.better) else "below threshold"
    if low is None or high is None:
        return "undecided"
    ends = {passed(low, threshold, column.better), passed(high, threshold, column.better)}
    return "undecided" if len(ends) > 1 else "met" if ends == {True} else "below threshold"
