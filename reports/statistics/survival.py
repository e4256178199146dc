"""Survival: quantiles of durations of which some ended before they were complete (Kaplan-Meier)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Flags = NDArray[np.bool_]

_CLOSE = 1e-9  # of the probability: what sums of rounded shares may be off


def kaplan_meier(times: Figures, observed: Flags) -> tuple[Figures, Figures]:
    """The different times, ascending, and the share that lasts longer than each (Kaplan and Meier 1958).

    Args:
        times: durations, without NaN.
        observed: whether a duration is complete; where not, it would have been at least as long (censored).
    """
    order = np.lexsort((~observed, times))  # of equal times the complete ones come first
    sorted_times, left = times[order], np.arange(len(times), 0, -1).astype(np.float64)
    survival = np.cumprod(np.where(observed[order], (left - 1) / left, 1.0))
    last = np.append(sorted_times[1:] != sorted_times[:-1], [True])[: len(times)]
    return sorted_times[last], np.asarray(survival[last])


def quantile(times: Figures, observed: Flags, q: float) -> float | None:
    """The duration that a share ``q`` of all don't surpass; None where too many are censored to tell.

    Each complete duration has its mass of Kaplan and Meier's curve (a censored one hands its own on to all that lasted
    longer), and stands at the mass before it, as a share of all mass but that of the longest. Between two of them
    the quantile goes linearly. Without censored ones all masses are 1/n and the places (i - 1)/(n - 1), so that this is
    numpy's linear percentile, as p50 and p95 of the leaderboard; with them, it lies between the two neighbouring
    steps of the curve. Beyond the last complete duration nothing is known.

    Args:
        times: durations, without NaN.
        observed: whether a duration is complete.
        q: from 0 to 1.
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
    weights = np.ones((1, len(times))) if counts is None else counts[:, order].astype(np.float64)
    return _weighted(times[order], observed[order], weights, q)


def _weighted(times: Figures, observed: Flags, weights: Figures, q: Sequence[float]) -> Figures:
    """``quantiles`` of sorted durations; only the complete ones have mass, so only they have columns here."""
    found = np.full((len(weights), len(q)), np.nan)
    complete = np.flatnonzero(observed)
    if not len(complete):
        return found
    ended, censored = _ended(weights, observed)
    steps = _Steps(ended)
    lines = np.flatnonzero(ended[:, -1] > _CLOSE)  # draws with a complete duration
    most = ended[lines, -1]
    drawn = weights[:, complete]
    last = steps.first_above(lines, most - 2 * _CLOSE)
    shared = (1 - most) / np.maximum(censored[lines], 1)  # by the censored ones that outlast all complete ones
    longest = np.where(censored[lines] > 0, shared, steps.height(lines, last) / drawn[lines, last])
    for column, share in enumerate(q):
        target = share * (1 - longest)
        lower = np.minimum(steps.first_above(lines, target + _CLOSE), last)
        single = steps.height(lines, lower) / drawn[lines, lower]
        rest = target - (ended[lines, lower] - single)  # beyond the last of equal durations
        upper = np.minimum(steps.first_above(lines, ended[lines, lower] + _CLOSE), last)
        low, high = times[complete[lower]], times[complete[upper]]
        between = low + np.clip(rest / single, 0, 1) * (high - low)
        found[lines, column] = np.where((lower == last) & (rest > _CLOSE), np.nan, between)
    return found


def _ended(weights: Figures, observed: Flags) -> tuple[Figures, Figures]:
    """Mass up to and with each complete duration, and how many censored ones of each draw outlast all of those."""
    upto = np.cumsum(weights, axis=1)
    with np.errstate(invalid="ignore"):  # a draw of nothing
        if observed.all():
            return np.nan_to_num(upto / upto[:, -1:]), np.zeros(len(weights))
        complete = np.flatnonzero(observed)
        drawn = weights[:, complete]
        left = upto[:, -1:] - upto[:, complete] + drawn  # still lasting when each one ends
        survival = np.cumprod(1 - np.divide(drawn, left, out=np.zeros_like(drawn), where=drawn > 0), axis=1)
    last = np.where(drawn > 0, np.arange(len(complete)), 0).max(axis=1)
    lines = np.arange(len(weights))
    return 1 - survival, left[lines, last] - drawn[lines, last]


class _Steps:
    """Rising masses of every draw, (draws, durations), in which places are found for all draws at once."""

    def __init__(self, ended: Figures) -> None:
        self._ended = ended
        self._flat = (ended + 2.0 * np.arange(len(ended))[:, None]).ravel()

    def first_above(self, lines: NDArray[np.intp], masses: Figures) -> NDArray[np.intp]:
        """The first place at which each of these draws has more than its mass."""
        width = self._ended.shape[1]
        found: NDArray[np.intp] = np.searchsorted(self._flat, masses + 2.0 * lines, side="right")
        return found - lines * np.intp(width)

    def height(self, lines: NDArray[np.intp], places: NDArray[np.intp]) -> Figures:
        """The mass at one place of each of these draws."""
        before = np.where(places > 0, self._ended[lines, places - 1], 0.0)
        return np.asarray(self._ended[lines, places] - before)
