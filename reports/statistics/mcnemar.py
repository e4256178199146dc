"""McNemar's exact test of yes/no results on the same questions."""

from __future__ import annotations

import math

import numpy as np


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided p value that changes go either way alike; 1 when nothing changed.

    Args:
        gained: questions that only the head has right.
        lost: questions that only the base has right.

    Source: McNemar 1947; the exact form is the binomial test of the changed questions at one half.
    """
    changed, fewer = gained + lost, min(gained, lost)
    if changed - fewer <= fewer + 1:  # the tails meet, and rounding must not leave a gap
        return 1.0
    # The most likely term of the tail, then the others as shares of it: no term is too small to be told from 0.
    log_top = math.lgamma(changed + 1) - math.lgamma(fewer + 1) - math.lgamma(changed - fewer + 1)
    below = np.arange(fewer, 0, -1)
    shares = np.cumprod(below / (changed - below + 1.0))
    return min(1.0, 2 * math.exp(log_top - changed * math.log(2)) * (1 + math.fsum(shares)))
