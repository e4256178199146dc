"""Student's t: quantiles for any degrees of freedom, exact and without scipy."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

_STEPS = 200  # of the continued fraction and of Newton's method; both need far fewer
_NORMAL = 1e8  # degrees of freedom from which t and the normal law agree to 8 digits


@lru_cache(maxsize=4096)
def student_quantile(probability: float, degrees: float) -> float:
    """The value below which Student's t with ``degrees`` of freedom lies with ``probability``.

    Args:
        probability: more than 0 and less than 1.
        degrees: more than 0, need not be whole.

    Source: the distribution as an incomplete beta function (Abramowitz and Stegun 26.7.1), solved by Newton's method.
    """
    normal = NormalDist().inv_cdf(max(probability, 1 - probability))
    found = normal
    if degrees < _NORMAL:
        log_scale = math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2) - math.log(degrees * math.pi) / 2
        for _ in range(_STEPS):
            # In the upper half the distribution is concave and t lies beyond the normal law: every step goes up.
            density = math.exp(log_scale - (degrees + 1) / 2 * math.log1p(found * found / degrees))
            step = (upper_tail(found, degrees) - min(probability, 1 - probability)) / density
            found += step
            if abs(step) <= 1e-13 * found:
                break
    return math.copysign(found, probability - 0.5)


def upper_tail(value: float, degrees: float) -> float:
    """Chance that Student's t exceeds ``value``, which is 0 or more."""
    return _beta_share(degrees / 2, 0.5, degrees / (degrees + value * value)) / 2


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    if x < (a + 1) / (a + b + 2):
        return math.exp(log_front) / a / _fraction(a, b, x)
    return 1 - math.exp(log_front) / b / _fraction(b, a, 1 - x)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (A&S 26.5.8), from its front by Lentz's method."""
    value = above = 1.0
    below = 0.0
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / (1 + term * below)
        above = 1 + term / above
        value *= above * below
        if abs(above * below - 1) < 1e-15:
            break
    return value
