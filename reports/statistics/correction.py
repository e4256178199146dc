"""Corrections of p values for the number of metrics that were looked at."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that keep the chance of any false finding (Holm 1979), in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    count, adjusted, highest = len(p_values), [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(count), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (count - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values that keep the share of false findings (Benjamini and Hochberg 1995), in the order given.

    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    count, adjusted, lowest = len(p_values), [0.0] * len(p_values), 1.0
    order = sorted(range(count), key=p_values.__getitem__)
    for rank in range(count, 0, -1):
        place = order[rank - 1]
        lowest = min(lowest, p_values[place] * (count / rank))
        adjusted[place] = lowest
    return adjusted
