"""Intervals of a mean over answers that come in clusters (one document, several repeats)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from .chance import Figures
from .clusters import Clusters
from .skewness import leaning_reach
from .student import student_quantile

ALIKE = 0.2  # correlation within a cluster that is assumed where all values are the same
YES_OR_NO = 2.0  # degrees of freedom that each cluster with a rare answer is worth, where values are yes or no
_NOTHING = 1e-18  # variance, as a share of the mean square, that is only rounding


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """Where the mean of a population lies, or why that can't be told.

    Attributes:
        low: lower end; None where it can't be told.
        high: upper end; None likewise.
        untold: why there are no ends; blank where there are.
    """

    low: float | None
    high: float | None
    untold: str = ""


def mean_interval(
    sums: Figures, sizes: Figures, low: float | None = None, high: float | None = None, binary: bool = False,
    level: float = 0.95, noun: str = "document",
) -> MeanInterval:  # fmt: skip
    """The interval of a mean over clustered values.

    The variance is that of ``paired_intervals`` (CR2 with Bell and McCaffrey's degrees of freedom), so that figures of
    one bot and differences of two are as sure as each other. A metric with both ends is stretched by Wilson's formula,
    in which the variance shrinks towards the ends as that of a share does: ten right answers of ten are not certain,
    and no interval leaves the range. Near an end few clusters hold all that varies; degrees of freedom are then no more
    than these are worth. Yes/no values are taken to vary no less than independent ones. A metric without ends gets
    Student's t, longer on the side to which values lean, as differences do.

    Args:
        sums: sum of the values of each cluster.
        sizes: how many values each cluster has.
        low: least value of the metric, None when it has none.
        high: greatest value of the metric, None when it has none.
        binary: all values are ``low`` or ``high``.
        level: share of intervals that hold the truth; ``tests/benchmarks/interval_coverage.py`` measures it.
        noun: what a cluster is called, for the sentence.

    Sources: Bell and McCaffrey 2002; Imbens and Kolesár 2016; Wilson 1927; Korn and Graubard 1998 and Dean and Pagano
    2015 (Wilson's interval at the effective number of values, with the degrees of freedom of the design).
    """
    clusters = Clusters(np.arange(int(sizes.sum()), dtype=np.intp), np.empty(0, np.intp), sizes)
    if untold := clusters.untold(noun):
        return MeanInterval(None, None, untold)
    count, mean = clusters.questions, float(sums.sum()) / clusters.questions
    off = (sums - sizes * mean) / np.sqrt(1 - sizes / count) / count
    variance = float(off @ off)
    variance = variance if variance > _NOTHING * mean * mean else 0.0
    if low is None or high is None or not low <= mean <= high or low == high:
        reach = leaning_reach(np.array([off]), np.array([variance]), float(_quantile(level, clusters.degrees())))
        return MeanInterval(mean - float(reach[0][0]), mean + float(reach[1][0]))
    share, width = (mean - low) / (high - low), high - low
    rare = sums - low * sizes if share <= 0.5 else high * sizes - sums
    ends = _stretched(share, variance / width**2, clusters, rare, binary, level)
    return MeanInterval(low + width * ends[0], low + width * ends[1])


def _stretched(
    share: float, variance: float, clusters: Clusters, rare: Figures, binary: bool, level: float
) -> tuple[float, float]:  # fmt: skip
    """Wilson's interval of a mean from 0 to 1; ``rare`` is what each cluster holds of the end that is farther away."""
    plain = share * (1 - share)
    alike = 1 + ALIKE * (float(clusters.sizes @ clusters.sizes) / clusters.questions - 1)
    worth = plain / variance if plain > 0 and variance > 0 else clusters.questions / alike
    degrees = clusters.degrees()
    if not (binary and clusters.single):
        some = float(rare.sum()) ** 2 / float(rare @ rare) if rare.any() else math.inf
        degrees = min(degrees, max(some * (YES_OR_NO if binary else 1.0), 1.0))
    low, high = _wilson(share, worth, float(_quantile(level, degrees)))
    if binary:
        quantile = _quantile(level, degrees) if clusters.single else NormalDist().inv_cdf((1 + level) / 2)
        own = _wilson(share, float(clusters.questions), float(quantile))
        low, high = min(low, own[0]), max(high, own[1])
    return low, high


def _quantile(level: float, degrees: float) -> Figures:
    return student_quantile((1 + level) / 2, degrees)


def wilson(share: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share of ``count`` independent values (Wilson 1927)."""
    return _wilson(share, count, NormalDist().inv_cdf((1 + level) / 2))


def _wilson(share: float, count: float, z: float) -> tuple[float, float]:
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half))
