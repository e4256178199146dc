"""Skewness: how far an interval goes to the side to which values lean."""

from __future__ import annotations

import numpy as np

from .chance import Figures

FARTHEST = 1.5  # times the plain half-width: how far the correction goes
STRENGTH = 0.4  # of Hall's correction that is made, see ``paired_interval``


def lean_of(off: Figures, variance: Figures) -> Figures:
    """Skewness of the mean, of which ``STRENGTH`` is corrected for; positive where the long tail is above.

    Args:
        off: what each cluster adds to the mean's error, of shape (samples, clusters).
        variance: of the mean, by sample.
    """
    return np.asarray(STRENGTH * (off**3).sum(axis=-1) / np.where(variance > 0, variance, np.inf) ** 1.5)


def leaning_reach(off: Figures, variance: Figures, quantile: float) -> tuple[Figures, Figures]:
    """How far the interval goes below and above the mean, by sample.

    Student's t on either side, or Hall's corrected quantile where that is farther, up to ``FARTHEST`` times as far.

    Source: Hall 1992 (removal of skewness).
    """
    error, lean = np.sqrt(variance), lean_of(off, variance)
    above = np.clip(_unskewed(quantile, lean), quantile, FARTHEST * quantile)
    below = np.clip(-_unskewed(-quantile, lean), quantile, FARTHEST * quantile)
    return error * below, error * above


def _unskewed(quantile: float, lean: Figures) -> Figures:
    """How far, in standard errors, the end at a quantile lies from a mean whose distribution leans.

    Hall's cubic of the studentised mean is solved for the mean.
    """
    leans = np.abs(lean) > 1e-6
    some = np.where(leans, lean, 1.0)
    return np.where(leans, -3 / some * (np.cbrt(1 - some * (quantile + some / 6)) - 1), quantile)
