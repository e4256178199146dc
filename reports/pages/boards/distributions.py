"""Distributions: how the values of a metric spread over the rows of each bot, as counts in bins that all bots share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...reported_run import ReportedRun, metrics_once
from ...run import RunEvaluator
from ...summary import MetricColumn, MetricSummary
from .score_values import RowScores, ScoreValues

BINS: Final = 20
LONG_TAIL: Final = 3.0  # times from the least value to the 98th percentile: what goes further needs equal factors
CLOSE: Final = 1e-9  # of a bin: a value this much below an edge stands on it, whatever rounding made of it

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bins:
    """Where the bins of a metric begin and end.

    Attributes:
        edges: rising; a value on an edge belongs to the bin above it, the greatest to the last bin.
        is_log: whether they grow by equal factors instead of equal steps.
        is_whole: whether each has one whole number in its middle.
    """

    edges: tuple[float, ...]
    is_log: bool = False
    is_whole: bool = False

    def counts(self, values: Figures) -> tuple[int, ...]:
        """How many of these values are in each bin."""
        edges = np.asarray(self.edges)
        inner = edges[1:-1] - CLOSE * np.diff(edges)[:-1]
        places = np.searchsorted(inner, values, side="right")
        return tuple(int(number) for number in np.bincount(places, minlength=len(edges) - 1))


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of one bot; ``failing`` is None for a metric without a threshold, ``median`` without a value."""

    bot: str
    counts: tuple[int, ...]
    known: int
    missing: int
    median: float | None
    failing: int | None
    summary: MetricSummary

    @property
    def missing_share(self) -> float:
        """Share of the rows without a value."""
        return self.missing / (self.known + self.missing) if self.missing else 0.0


@dataclass(frozen=True, slots=True)
class MetricDistributions:
    """One metric with a distribution for each bot."""

    evaluator: RunEvaluator
    column: MetricColumn
    bins: Bins
    bots: tuple[Distribution, ...]

    @property
    def limit(self) -> float | None:
        """Where values that pass are parted from those that don't; None without a threshold."""
        threshold = self.column.threshold
        if threshold is None or self.column.better == "neither" or not self.bins.is_whole:
            return None if self.column.better == "neither" else threshold
        return math.ceil(threshold) - 0.5 if self.column.better == "higher" else math.floor(threshold) + 0.5


def distributions(run: ReportedRun, scores: ScoreValues, bots: Sequence[str]) -> list[MetricDistributions]:
    """The metrics of rows that have a value for some bot, in the order of the evaluators.

    Of a boolean evaluator only what ranks the bots: its other rates say the same of a row in other words.
    """
    found = []
    for evaluator, name in metrics_once(run):
        there = {bot: scores[bot, name] for bot in bots if (bot, name) in scores}
        known = {bot: own.known for bot, own in there.items()}
        column = run.columns[name]
        is_told = column.level == "row" and (evaluator.board != "bool" or name == evaluator.primary)
        if is_told and any(len(values) for values in known.values()):
            bins = bins_for(np.concatenate(list(known.values())), column.low, column.high)
            own_bots = tuple(_distribution(run, bot, column, bins, own) for bot, own in there.items())
            found.append(MetricDistributions(evaluator, column, bins, own_bots))
    return found


def _distribution(run: ReportedRun, bot: str, column: MetricColumn, bins: Bins, scores: RowScores) -> Distribution:
    values = scores.known
    summary = run.bot(bot).metrics[column.name]
    return Distribution(
        bot=bot, counts=bins.counts(values), known=len(values), missing=scores.missing,
        median=float(np.median(values)) if len(values) else None, failing=_failing(values, column), summary=summary,
    )  # fmt: skip


def _failing(values: Figures, column: MetricColumn) -> int | None:
    """How many miss the threshold, judged as rows are: exactly."""
    if column.threshold is None or column.better == "neither":
        return None
    return int(np.count_nonzero(values < column.threshold if column.better == "higher" else values > column.threshold))


def bins_for(values: Figures, low: float | None, high: float | None) -> Bins:
    """Bins for values of which there is at least one.

    Whole numbers that are few get a bin each, in its middle. A metric with two ends gets ``BINS`` of equal width
    between them. Others get bins of a round width, from the low end where that is near; where a few of them are far
    out, and all are above 0, bins grow by equal factors.
    """
    least, most = float(values.min()), float(values.max())
    if not math.isfinite(most - least):
        return Bins((least, most))
    whole = bool((values == np.round(values)).all())
    ends = None if low is None or high is None or not low <= least <= most <= high or low == high else (low, high)
    first, last = ends or (least, most)
    if whole and last - first <= BINS and float(first).is_integer() and float(last).is_integer():
        return Bins(tuple(first + place - 0.5 for place in range(round(last - first) + 2)), is_whole=True)
    if ends:
        return Bins(tuple(round(first + (last - first) * place / BINS, 12) for place in range(BINS + 1)))
    if most == least:
        half = abs(least) / 20 or 0.5
        return Bins((least - half, least + half))
    if least > 0 and most - least > LONG_TAIL * (float(np.quantile(values, 0.98)) - least):
        return Bins(tuple(float(edge) for edge in np.geomspace(least, most, BINS + 1)), is_log=True)
    if low is not None and 0 <= least - low <= most - least:
        least = low
    return Bins(_round_edges(least, most, whole))


def _round_edges(least: float, most: float, whole: bool) -> tuple[float, ...]:
    width = round_width((most - least) / BINS)
    width = max(width, 1.0) if whole else width
    first, last = math.floor(least / width + CLOSE), math.ceil(most / width - CLOSE)
    return tuple(float(f"{place * width:.12g}") for place in range(first, max(last, first + 1) + 1))


def round_width(least: float) -> float:
    """The least of 1, 2, 5, 10, ... times a power of ten that is not smaller.

    >>> round_width(0.03)
    0.05
    """
    power = 10.0 ** math.floor(math.log10(least))
    return float(f"{next(power * step for step in (1, 2, 5, 10) if power * step >= least * (1 - CLOSE)):.12g}")
