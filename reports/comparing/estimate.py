"""Estimate: a mean over whatever of its values is there, with its interval and what it rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clustered_mean import clustered_mean
from .score_table import Figures


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval.

    Attributes:
        mean: over the values that are there; every value weighs the same.
        low: lower end of the interval; None where it can't be told (see ``mean_interval``).
        high: upper end.
        count: how many values there are.
        clusters: how many clusters they come from.
    """

    mean: float
    low: float | None
    high: float | None
    count: int
    clusters: int


def estimate(
    values: Figures, clusters: NDArray[np.intp], low: float | None = None, high: float | None = None
) -> Estimate | None:
    """The mean of the values that are not NaN; None when all are.

    Args:
        values: of one dimension.
        clusters: code of the cluster of each value.
        low: least value that there can be.
        high: greatest value that there can be.
    """
    there = np.isfinite(values)
    values, clusters = values[there], clusters[there]
    if not len(values):
        return None
    count = len(np.unique(clusters))
    found = clustered_mean(values, clusters, low, high)
    return Estimate(found.value, found.low, found.high, len(values), count)
