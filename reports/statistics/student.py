"""Student's t: quantiles and tails for any degrees of freedom."""

from __future__ import annotations

import numpy as np

from .chance import Figures


def student_quantile(probability: float, degrees: float | Figures) -> Figures:
    """The value below which Student's t with ``degrees`` of freedom lies with ``probability``.

    Args:
        probability: more than 0 and less than 1.
        degrees: more than 0, need not be whole; one, or one a sample.
    """
    from scipy.special import stdtrit  # here, as scipy takes a while to load

    return np.asarray(stdtrit(degrees, probability), np.float64)


def two_sided_p(values: Figures, degrees: float | Figures) -> Figures:
    """Chance that Student's t is as far from 0 as the values, on either side."""
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(degrees, -np.abs(values)), np.float64)
