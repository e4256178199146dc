"""Survival: quantiles of durations of which some ended before they were complete (Kaplan-Meier)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Flags = NDArray[np.bool_]

_CLOSE = 1e-9  # of the probability: what sums of rounded shares may be off


def quantile(times: Figures, observed: Flags, q: float) -> float | None:
    """The duration that a share ``q`` of all don't surpass; None where too many are censored to tell.

    Each complete duration has its mass of Kaplan and Meier's curve: 1/n, and what those censored before it hand on. In
    order, the masses fill the line from 0 to 1, and the quantile is the mean over the stretch of 1/n that begins at
    q(1 - 1/n). Without censored ones this is numpy's linear percentile, as p50 and p95 of the leaderboard; with them,
    it goes linearly between the two steps of the curve that the stretch touches. Beyond the last complete duration
    nothing is known, and a stretch that reaches there has no mean.

    Args:
        times: durations, without NaN.
        observed: whether a duration is complete.
        q: from 0 to 1.

    Source: Kaplan and Meier 1958.
    """
    if len(times) and observed.all():
        return float(np.quantile(times, q))
    found = float(quantiles(times, observed, (q,))[0, 0])
    return None if np.isnan(found) else found


def quantiles(
    times: Figures, observed: Flags, q: Sequence[float], counts: NDArray[np.integer] | None = None
) -> Figures:
    """``quantile`` for several shares and, for a bootstrap, several weightings at once.

    Args:
        times: durations (n,), without NaN.
        observed: whether a duration is complete (n,).
        q: shares from 0 to 1.
        counts: (draws, n): how often each duration is in each draw; None means a single draw with each once.

    Returns:
        (draws, shares), NaN where a quantile is not reached.
    """
    order = np.lexsort((~observed, times))
    if counts is None:
        counts = np.ones((1, len(times)), np.int8)
    elif (order != np.arange(len(order))).any():  # a bootstrap sorts once, not for all its draws anew
        counts = counts[:, order]
    weights = counts.astype(np.float64)
    return _weighted(times[order], observed[order], weights, q)


def _weighted(times: Figures, observed: Flags, weights: Figures, q: Sequence[float]) -> Figures:
    """``quantiles`` of sorted durations; only the complete ones have mass, so only they have columns here."""
    found = np.full((len(weights), len(q)), np.nan)
    complete = np.flatnonzero(observed)
    if not len(complete):
        return found
    steps = _Steps(_ended(weights, observed))
    lines = np.flatnonzero(steps.ended[:, -1] > _CLOSE)  # draws with a complete duration
    width = 1 / weights[lines].sum(axis=1)
    for column, share in enumerate(q):
        start = share * (1 - width)
        lower = steps.first_above(lines, start + _CLOSE)
        upper = steps.first_above(lines, steps.ended[lines, lower] + _CLOSE)
        beyond = np.clip((start + width - steps.ended[lines, lower]) / width, 0, 1)  # of the stretch, above ``lower``
        low, high = times[complete[lower]], times[complete[upper]]
        known = start + width <= steps.ended[lines, -1] + _CLOSE
        found[lines, column] = np.where(known, low + beyond * (high - low), np.nan)
    return found


def _ended(weights: Figures, observed: Flags) -> Figures:
    """Mass up to and with each complete duration, for every draw."""
    upto: Figures = np.cumsum(weights, axis=1)
    if observed.all():
        upto /= np.maximum(upto[:, -1:], 1)  # a draw of nothing stays 0
        return upto
    complete = np.flatnonzero(observed)
    drawn = weights[:, complete]
    left = upto[:, -1:] - upto[:, complete] + drawn  # still lasting when each one ends
    return np.asarray(1 - np.cumprod(1 - np.divide(drawn, left, out=np.zeros_like(drawn), where=drawn > 0), axis=1))


class _Steps:
    """Rising masses of every draw, (draws, durations), in which places are found for all draws at once."""

    def __init__(self, ended: Figures) -> None:
        self.ended = ended
        self._flat = (ended + 2.0 * np.arange(len(ended))[:, None]).ravel()

    def first_above(self, lines: NDArray[np.intp], masses: Figures) -> NDArray[np.intp]:
        """The first place at which each of these draws has more than its mass; the last where none has."""
        width = self.ended.shape[1]
        found: NDArray[np.intp] = np.searchsorted(self._flat, masses + 2.0 * lines, side="right")
        return np.asarray(np.minimum(found - lines * np.intp(width), width - 1))
