"""Bounds of a mean difference by what missing values could have been at worst and at best."""

from __future__ import annotations

import numpy as np

from .chance import Figures


def missing_bounds(base: Figures, head: Figures, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Least and greatest mean of head - base when every NaN is filled from ``low`` to ``high``.

    Nothing is assumed of why values are missing. Neither bound holds the uncertainty of the sample.

    Args:
        base: one value a question, NaN where it is missing; means of repeats count as one value.
        head: likewise, of the same questions.
        low: least value of the metric; None when it has none.
        high: greatest value of the metric; None when it has none.

    Returns:
        (least, greatest); None for a metric without a range that has missing values, and of no questions.

    Source: Manski 1990 (bounds without assumptions).
    """
    if not len(base):
        return None
    if low is None or high is None:
        if np.isnan(base).any() or np.isnan(head).any():
            return None
        low = high = 0.0
    least = np.where(np.isnan(head), low, head) - np.where(np.isnan(base), high, base)
    greatest = np.where(np.isnan(head), high, head) - np.where(np.isnan(base), low, base)
    return float(least.mean()), float(greatest.mean())
