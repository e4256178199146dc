"""Score spread: how far the scores of one question lie apart, and what its worst one is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..comparing.comparable import mean_of_repeats
from ..comparing.estimate import Estimate, estimate
from ..comparing.score_table import Figures
from ..summary import MetricColumn
from .reworded_pairs import Places, RewordedPairs


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """The scores of each question over its rewordings, or over its repeats.

    Attributes:
        over: ``rewordings`` (with the question itself, each the mean of its repeats; only those that must get the
            same answer, without copies) or ``repeats``.
        plain: mean score over these questions as they were asked first (over repeats: the mean of all).
        worst: mean over the questions of their worst score; a bot that is right on every wording keeps ``plain``.
        deviation: mean over the questions of the standard deviation of their scores (n - 1).
        range: mean over the questions of greatest less least.
        without_value: scores that are not there, as where the bot failed; they count neither way.
    """

    over: str
    plain: Estimate
    worst: Estimate | None
    deviation: Estimate
    range: Estimate
    without_value: int


def spread_over_rewordings(pairs: RewordedPairs, column: MetricColumn) -> ScoreSpread | None:
    """Over each question and its rewordings; None when no question has a score together with a rewording's."""
    base = mean_of_repeats(pairs.base.values[column.name])
    after = pairs.values(column.name)[1][pairs.is_same]
    sources = pairs.sources[pairs.is_same]
    there = np.isfinite(after) & np.isfinite(base[sources])
    owners = np.unique(sources[there])
    if not len(owners):
        return None
    codes = np.concatenate([owners, sources[there]])
    values = np.concatenate([base[owners], after[there]])
    return _spread("rewordings", codes, values, base, pairs.clusters, column, int((~there).sum()))


def spread_over_repeats(pairs: RewordedPairs, column: MetricColumn) -> ScoreSpread | None:
    """Over the repeats of each question that is no rewording; None when none has two scores."""
    values = pairs.base.values[column.name][pairs.plain]
    there = np.isfinite(values)
    several = there.sum(axis=1) > 1
    if not several.any():
        return None
    codes = np.repeat(pairs.plain[several], there[several].sum(axis=1))
    flat = values[several][there[several]]
    plain = mean_of_repeats(pairs.base.values[column.name])
    missing = int((pairs.base.asked[pairs.plain] & ~there).sum())
    return _spread("repeats", codes, flat, plain, pairs.clusters, column, missing)


def _spread(
    over: str, codes: Places, values: Figures, plain: Figures, clusters: Places, column: MetricColumn, missing: int
) -> ScoreSpread | None:
    owners, at = np.unique(codes, return_inverse=True)
    greatest, least = _each(np.maximum, at, values, -np.inf), _each(np.minimum, at, values, np.inf)
    counts = np.bincount(at)
    means = np.bincount(at, values) / counts
    deviation = np.sqrt(np.bincount(at, (values - means[at]) ** 2) / (counts - 1))
    worst = {"higher": least, "lower": greatest, "neither": None}[column.better]
    width = None if column.low is None or column.high is None else column.high - column.low
    of = clusters[owners]
    found = estimate(plain[owners], of, column.low, column.high)
    spread = estimate(deviation, of, 0.0, None if width is None else width / math.sqrt(2))  # two scores, far apart
    between = estimate(greatest - least, of, 0.0, width)
    if found is None or spread is None or between is None:
        return None
    lowest = None if worst is None else estimate(worst, of, column.low, column.high)
    return ScoreSpread(over, found, lowest, spread, between, missing)


def _each(function: np.ufunc, at: Places, values: Figures, start: float) -> Figures:
    made = np.full(int(at.max()) + 1, start)
    function.at(made, at, values)
    return made
