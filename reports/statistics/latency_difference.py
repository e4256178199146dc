"""Latency difference: medians and 95th percentiles of two sides on the same questions, and how sure their ratio is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .chance import resamples
from .permutation import sign_flip
from .student import student_quantile
from .survival import quantile, quantiles

Figures = NDArray[np.float64]
Flags = NDArray[np.bool_]

SHARES = (0.5, 0.95)
DRAWS = 2000
FEWEST_DRAWS = 400
CELLS = 2_000_000  # durations times draws that are in memory at once
MOST = 20_000_000  # durations times draws beyond which fewer draws are made
LEAST_MS = 1e-3  # what a duration of 0 counts as where its logarithm is taken


@dataclass(frozen=True, slots=True)
class SideLatency:
    """Latencies of one side, those that were cut off counted as lasting at least as long.

    Attributes:
        p50: median in milliseconds; None when too much is censored to tell.
        p95: 95th percentile; None likewise.
        rows: with a known time.
        censored: those of them that were cut off before there was an answer.
        failed: rows of any question that have no time because they ended with an error.
    """

    p50: float | None
    p95: float | None
    rows: int
    censored: int
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Ratio:
    """Head over base, with its interval.

    Attributes:
        value: None when a side does not reach the quantile, or the base's is 0.
        low: lower end; None with fewer than two clusters.
        high: upper end; None likewise, or when it has no bound because too much is censored.
    """

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class LatencyDifference:
    """How much longer the head takes than the base, over the questions of which both sides have a time.

    Attributes:
        base: latencies of the base.
        head: latencies of the head.
        p50: ratio of the medians.
        p95: ratio of the 95th percentiles.
        p50_difference: of the medians in milliseconds, head - base; None when one is not reached.
        p95_difference: of the 95th percentiles, likewise.
        p_value: two-sided, that neither side is slower; None with fewer than two clusters.
        questions: paired.
        clusters: they come from.
        level: of the intervals.
    """

    base: SideLatency
    head: SideLatency
    p50: Ratio
    p95: Ratio
    p50_difference: float | None
    p95_difference: float | None
    p_value: float | None
    questions: int
    clusters: int
    level: float


def latency_difference(
    base_ms: Figures, base_observed: Flags, head_ms: Figures, head_observed: Flags, clusters: NDArray[np.intp],
    seed: int = 0, level: float = 0.95, draws: int = DRAWS,
) -> LatencyDifference | None:  # fmt: skip
    """Compare the latencies of two sides.

    Quantiles are over rows, by Kaplan and Meier's curve (see ``survival.quantile``), so that a bot that is given up
    where it would be slow does not look fast. Intervals of ratios rest on a bootstrap that draws whole clusters, and
    with each question both its sides: Student's t with the standard deviation of the logarithms of its ratios, as its
    percentiles hold the truth too often (98 of 100 times with 100 questions); they serve where draws don't reach the
    quantile.
    The p value flips signs of the differences of mean logarithms.

    Args:
        base_ms: (questions, repeats), NaN where no time is known.
        base_observed: whether the row ended with an answer; where not, its time is censored.
        head_ms: (questions, its own number of repeats).
        head_observed: likewise.
        clusters: code of each question's cluster.
        seed: of the draws.
        level: of the intervals.
        draws: fewer are made, down to 400, of very many rows.

    Returns:
        None when no question has a time on both sides.

    Source: Kaplan and Meier 1958; Efron and Tibshirani 1993, chapter 13; Field and Welsh 2007 (cluster bootstrap).
    """
    known = ~np.isnan(base_ms).all(axis=1) & ~np.isnan(head_ms).all(axis=1)
    if not known.any():
        return None
    base_ms, head_ms = base_ms[known], head_ms[known]
    base_observed, head_observed = base_observed[known], head_observed[known]
    _, codes = np.unique(clusters[known], return_inverse=True)
    number = int(codes.max()) + 1
    rows = _Rows.of(base_ms, base_observed, codes), _Rows.of(head_ms, head_observed, codes)
    base, head = (side.summary() for side in rows)
    values = _over(base.p50, head.p50), _over(base.p95, head.p95)
    p50, p95 = _ratios(*rows, values, number, seed, level, draws)
    moved = np.zeros(number)
    np.add.at(moved, codes, _moved(base_ms, base_observed, head_ms, head_observed))
    return LatencyDifference(
        base=base, head=head, p50=p50, p95=p95,
        p50_difference=_minus(base.p50, head.p50), p95_difference=_minus(base.p95, head.p95),
        p_value=sign_flip(moved, seed)[0] if number > 1 else None,
        questions=int(np.count_nonzero(known)), clusters=number, level=level,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one side with a known time, the shortest first, with the cluster of each."""

    times: Figures
    observed: Flags
    clusters: NDArray[np.intp]

    @classmethod
    def of(cls, times: Figures, observed: Flags, codes: NDArray[np.intp]) -> _Rows:
        known = ~np.isnan(times)
        times, observed, clusters = times[known], observed[known], np.broadcast_to(codes[:, None], known.shape)[known]
        order = np.lexsort((~observed, times))
        return cls(times[order], observed[order], clusters[order])

    def summary(self) -> SideLatency:
        p50, p95 = (quantile(self.times, self.observed, share) for share in SHARES)
        return SideLatency(p50, p95, len(self.times), int(np.count_nonzero(~self.observed)))


def _ratios(
    base: _Rows, head: _Rows, values: Sequence[float | None], clusters: int, seed: int, level: float, draws: int
) -> list[Ratio]:
    """The ratio of each share's quantiles with its interval."""
    if clusters < 2:
        return [Ratio(value, None, None) for value in values]
    parts = [
        [quantiles(side.times, side.observed, SHARES, counts[:, side.clusters]) for side in (base, head)]
        for counts in _drawn(clusters, max(len(base.times), len(head.times)), seed, draws)
    ]
    below, above = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    return [
        Ratio(value, *_interval(value, below[:, place], above[:, place], level, clusters - 1))
        for place, value in enumerate(values)
    ]


def _drawn(clusters: int, rows: int, seed: int, draws: int) -> Iterator[NDArray[np.intp]]:
    """How often each cluster is in each draw, some draws at a time."""
    draws = min(draws, max(MOST // rows, FEWEST_DRAWS))
    at_once = max(CELLS // max(rows, clusters), 1)
    for number, start in enumerate(range(0, draws, at_once)):
        size = min(at_once, draws - start)
        places = resamples(seed + number, size, clusters) + np.arange(size)[:, None] * clusters
        yield np.bincount(places.ravel(), minlength=size * clusters).reshape(size, clusters)


def _interval(
    value: float | None, base: Figures, head: Figures, level: float, degrees: int
) -> tuple[float | None, float | None]:
    """Student's t on the logarithm of the ratio, or percentiles where a draw does not reach the quantile.

    A quantile that is not reached lasts longer than all others, so it opens the interval on its side.
    """
    if value and (base > 0).all() and (head > 0).all():  # NaN is not above 0
        spread = float(np.log(head / base).std())
        half = student_quantile((1 + level) / 2, degrees) * spread
        return value * math.exp(-half), value * math.exp(half)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(np.isnan(head), np.inf, np.where(np.isnan(base), 0.0, head / base))
    ratios = np.where(np.isnan(ratios), 1.0, ratios)  # both 0
    unknown = np.isnan(base) & np.isnan(head)
    tail = (1 - level) / 2
    low = np.quantile(np.where(unknown, 0.0, ratios), tail, method="lower")
    high = np.quantile(np.where(unknown, np.inf, ratios), 1 - tail, method="higher")
    return float(low), float(high) if np.isfinite(high) else None


def _moved(base: Figures, base_observed: Flags, head: Figures, head_observed: Flags) -> Figures:
    """By how much the mean logarithm of each question's times rose.

    Where a side that has a censored time seems to be the faster one, nothing is known of the question: 0. Swapping the
    sides turns every sign, which is all that the test asks.
    """
    rise = _log_means(head) - _log_means(base)
    known_head = (head_observed | np.isnan(head)).all(axis=1)
    known_base = (base_observed | np.isnan(base)).all(axis=1)
    return np.where(((rise < 0) & ~known_head) | ((rise > 0) & ~known_base), 0.0, rise)


def _log_means(times: Figures) -> Figures:
    return np.asarray(np.nanmean(np.log(np.maximum(times, LEAST_MS)), axis=1))


def _over(base: float | None, head: float | None) -> float | None:
    if base == head and base is not None:
        return 1.0
    return None if base is None or head is None or base == 0 else head / base


def _minus(base: float | None, head: float | None) -> float | None:
    return None if base is None or head is None else head - base
