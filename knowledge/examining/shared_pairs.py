"""Shared pairs: which owners have values in common, and how many, counted over sorted arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def shared_pairs(
    values: NDArray[np.int64] | NDArray[np.uint64], owners: NDArray[np.int32], size: int, neighbours: int
) -> tuple[Counts, Counts]:
    """Pairs of owners that have a value in common, and how many values that is.

    Args:
        values: sorted, so that equal ones stand together.
        owners: of each value a number below ``size``; those of one value in order.
        size: how many owners there are.
        neighbours: how far apart two of one value may stand to be paired.

    Returns:
        The pairs, each as ``first * size + second``, ascending, and their counts; both of shape (pairs,).
    """
    pairs, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for lag in range(1, neighbours + 1):
        same = values[lag:] == values[:-lag]
        if not same.any():
            break
        found = owners[:-lag][same].astype(np.int64) * size + owners[lag:][same]
        pairs, counts = _added(pairs, counts, *np.unique(found, return_counts=True))
    return pairs, counts


def _added(pairs: Counts, counts: Counts, more: Counts, more_counts: Counts) -> tuple[Counts, Counts]:
    every, places = np.unique(np.concatenate([pairs, more]), return_inverse=True)
    return every, np.bincount(places, np.concatenate([counts, more_counts]), len(every)).astype(np.int64)
