"""McNemar's test of yes/no results on the same questions."""

from __future__ import annotations


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided mid-p value that changes go either way alike; 1 when nothing changed.

    The exact test finds a difference where there is none 1 to 3 of 100 times instead of 5, and so misses 3 to 13 points
    of the true ones; the mid-p value counts the outcome that was seen half.

    Args:
        gained: questions that only the head has right.
        lost: questions that only the base has right.

    Source: McNemar 1947; Fagerland, Lydersen and Laake 2013 (mid-p, which kept to 5 of 100 in all their cases).

    >>> round(mcnemar(1, 7), 4)
    0.0391
    """
    from scipy.stats import binom  # here, as scipy takes a while to load

    changed, fewer = gained + lost, min(gained, lost)
    if not changed:
        return 1.0
    return min(1.0, float(2 * binom.cdf(fewer, changed, 0.5) - binom.pmf(fewer, changed, 0.5)))
