"""Clustered mean: the mean of values that come in clusters, with the interval that leaderboards give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.intervals import ClusterSums, mean_interval
from .score_table import Figures


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its 95 % interval, which is None with fewer than two clusters."""

    value: float
    low: float | None
    high: float | None


def clustered_mean(
    values: Figures, clusters: NDArray[np.intp], low: float | None = None, high: float | None = None
) -> Mean:
    """The mean of some values; there must be one.

    Args:
        values: one a unit.
        clusters: code of the cluster of each.
        low: the least value there can be.
        high: the greatest. Values that are all 0 or 1, and can't leave that range, get Wilson's interval.

    >>> clustered_mean(np.array([1.0, 0.0]), np.array([0, 1]), 0.0, 1.0).value
    0.5
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    totals = np.bincount(codes, weights=values)
    sums = ClusterSums(
        clusters=len(sizes),
        count=len(values),
        total=float(values.sum()),
        squares=float((values**2).sum()),
        total_squared=float((totals**2).sum()),
        total_count=float((totals * sizes).sum()),
        count_squared=float((sizes**2).sum()),
        binary=(low, high) == (0, 1) and bool(((values == 0) | (values == 1)).all()),
    )
    interval = mean_interval(sums, low, high) or (None, None)
    return Mean(float(values.mean()), *interval)
