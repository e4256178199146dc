"""Bounds of a mean difference by what missing values could have been at worst and at best."""

from __future__ import annotations

import numpy as np

from .chance import Figures


def missing_bounds(base: Figures, head: Figures, low: float | None, high: float | None) -> tuple[float, float] | None:
    """Least and greatest mean of head - base when every NaN is filled from ``low`` to ``high``.

    Nothing is assumed of why values are missing. Neither bound holds the uncertainty of the sample.

    Args:
        base: one value a question, or (questions, repeats), NaN where it is missing.
        head: likewise, of the same questions; it may have other repeats.
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
    return _filled(head, low) - _filled(base, high), _filled(head, high) - _filled(base, low)


def _filled(values: Figures, missing: float) -> float:
    return float(np.where(np.isnan(values), missing, values).mean())
