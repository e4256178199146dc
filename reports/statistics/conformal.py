"""Conformal risk control: a threshold whose loss on fresh questions is promised to stay within a chosen risk."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]


def controlled_threshold(
    losses: Figures, thresholds: Figures, risk: float, bound: float = 1.0, clusters: NDArray[np.intp] | None = None
) -> float | None:
    """The smallest threshold at which the expected loss of a fresh question is at most ``risk``.

    It is the smallest t with (sum of the losses at t + bound) / (n + 1) <= risk: the fresh question counts with the
    worst loss that it can have. The expectation is over questions drawn like these n and the fresh one.

    With clusters (questions of one document are alike, and the fresh question is from a fresh document), it is a whole
    fresh cluster that counts with its worst loss, as large as the largest there is, m questions:
    (sum of the losses at t + m * bound) / (n + m) <= risk. With single questions this is the above, and with
    clusters of one size the rule above over the means of the clusters. What is promised is the risk over questions,
    as long as fresh clusters are not larger than those seen.

    Args:
        losses: (questions, thresholds), from 0 to ``bound``, falling or staying as the threshold rises.
        thresholds: ascending.
        risk: the expected loss that is accepted, in the units of the losses.
        bound: the largest loss possible.
        clusters: code of each question's cluster; None means that all are independent.

    Returns:
        None where no threshold can be promised: too few questions, or too much loss at every one.

    Raises:
        ValueError: losses that rise with the threshold, leave 0 to ``bound`` or are not known, or thresholds that
            don't ascend.

    Source: Angelopoulos, Bates, Fisch, Lei, Schuster 2024 (theorem 1); for clusters the same theorem on the sum of
    (loss - risk) over each cluster, which is at most (bound - risk) * m.
    """
    _check(losses, thresholds, bound)
    if not len(losses) or risk < 0:
        return None
    largest = 1 if clusters is None else int(np.bincount(clusters).max())
    worst = (losses.sum(axis=0) + largest * bound) / (len(losses) + largest)
    kept = np.flatnonzero(worst <= risk + 1e-12)
    return float(thresholds[kept[0]]) if len(kept) else None


def _check(losses: Figures, thresholds: Figures, bound: float) -> None:
    if losses.ndim != 2 or losses.shape[1] != len(thresholds):
        raise ValueError(f"losses have the shape (questions, {len(thresholds)} thresholds), not {losses.shape}")
    if not (np.diff(thresholds) > 0).all():
        raise ValueError("thresholds ascend")
    if not ((losses >= 0) & (losses <= bound)).all():
        raise ValueError(f"losses are from 0 to {bound:g}")
    if (np.diff(losses, axis=1) > 1e-12).any():
        raise ValueError("losses fall or stay as the threshold rises")
