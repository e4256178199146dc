"""Intervals of a mean over questions that come in clusters (one document, several repeats)."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from .student import student_quantile


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """What an interval needs to know of the values, added up over clusters.

    With n_c values of sum s_c in cluster c: ``clusters`` is how many there are, ``count`` the sum of n_c, ``total`` of
    s_c, ``squares`` of all squared values, and the last three of s_c squared, s_c times n_c and n_c squared.
    """

    clusters: int
    count: int
    total: float
    squares: float
    total_squared: float
    total_count: float
    count_squared: float
    binary: bool

    @property
    def mean(self) -> float | None:
        """Mean over all values; None when there are none."""
        return self.total / self.count if self.count else None


def mean_interval(
    sums: ClusterSums, low: float | None = None, high: float | None = None, level: float = 0.95
) -> tuple[float, float] | None:
    """Interval of the mean, with the cluster-robust standard error; None with fewer than two clusters.

    Values that are all 0 or 1 get Wilson's interval at the effective number of independent values, so that ten
    right answers of ten are not reported as certain. Others get Student's t with clusters - 1 degrees of freedom,
    cut to the range ``low`` to ``high`` of the metric, or to the mean where that is not in it.

    Sources: Cameron and Miller 2015 (cluster-robust variance of a ratio mean); Wilson 1927; Kish 1965 (design effect).
    """
    if sums.clusters < 2 or sums.mean is None:
        return None
    mean = sums.mean
    spread = sums.total_squared - 2 * mean * sums.total_count + mean * mean * sums.count_squared
    variance = max(spread, 0.0) * sums.clusters / (sums.clusters - 1) / sums.count**2
    if sums.binary:
        return wilson(mean, _effective_count(sums, mean, variance), level)
    half = student_quantile((1 + level) / 2, sums.clusters - 1) * math.sqrt(variance)
    lower, upper = mean - half, mean + half
    return (
        lower if low is None else max(lower, min(low, mean)),
        upper if high is None else min(upper, max(high, mean)),
    )


def _effective_count(sums: ClusterSums, mean: float, variance: float) -> float:
    """How many independent values would give this variance; the number of clusters when all values are equal."""
    simple = mean * (1 - mean)
    if simple <= 0:
        return float(sums.clusters)
    if variance <= 0:
        return float(sums.count)
    return min(simple / variance, float(sums.count))


def wilson(share: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """Interval of a share of ``count`` independent values (Wilson 1927)."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, centre - half), min(1.0, centre + half)
