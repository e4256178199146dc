"""Clustered mean: the mean of values that come in clusters, with the interval that every table gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.intervals import mean_interval
from .score_table import Figures


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its 95 % interval, or why that can't be told."""

    value: float
    low: float | None
    high: float | None
    untold: str = ""


def clustered_mean(
    values: Figures, clusters: NDArray[np.intp], low: float | None = None, high: float | None = None
) -> Mean:
    """The mean of some values; there must be one.

    Args:
        values: one a unit.
        clusters: code of the cluster of each.
        low: the least value there can be.
        high: the greatest.

    >>> clustered_mean(np.array([1.0, 0.0]), np.array([0, 1]), 0.0, 1.0)
    Mean(value=0.5, low=None, high=None, untold='2 questions are too few: an interval takes 5')
    """
    _, codes = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    binary = (low, high) == (0, 1) and bool(((values == 0) | (values == 1)).all())
    sums = np.bincount(codes, weights=values).astype(np.float64)
    found = mean_interval(sums, sizes, low, high, binary)
    return Mean(float(values.mean()), found.low, found.high, found.untold)
