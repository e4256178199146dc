"""Breakdown: the least intensity of a rewording from which on a bot flips more than it would by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from ..comparing.score_table import Figures
from ..statistics.chance import resamples
from .reworded_pairs import Places

DRAWS: Final = 2_000  # resamples of the clusters
LEVEL: Final = 0.95  # of the interval


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Where a bot breaks down on one kind of rewording.

    Attributes:
        level: by how much the flip rate has to exceed the control's.
        tested: the intensities that were tested, rising.
        at: the least of them at which it does; None when it does at none of them.
        interval: 95 % interval of ``at`` over resamples of the clusters; an end is None where the level is not
            reached within what was tested. None altogether with fewer than two clusters.
        reached: share of the resamples that reach the level at all.
        above_control: the excess at each tested intensity, as it was found.
        fitted: the same made to rise with the intensity.
    """

    level: float
    tested: tuple[float, ...]
    at: float | None
    interval: tuple[float | None, float | None] | None
    reached: float | None
    above_control: tuple[float | None, ...]
    fitted: tuple[float | None, ...]

    @property
    def sentence(self) -> str:
        """Where it breaks down, in words that follow a name."""
        lowest, highest = self.tested[0], self.tested[-1]
        if self.at is None:
            tested = f"the tested {lowest:g}" if lowest == highest else f"the tested {lowest:g}-{highest:g}"
            return f"does not break down within {tested}{self._ends()}"
        return f"breaks down {'already at the lowest, ' if self.at == lowest else 'at '}{self.at:g}{self._ends()}"

    def _ends(self) -> str:
        """The interval, where it says more than the figure."""
        low, high = self.interval or (None, None)
        if low is None:
            return ""
        if high is None:
            return f" (from {low:g} on, or not at all)"
        return f" ({low:g}-{high:g})" if low < high else ""


def breakdown(
    above: Figures, clusters: Places, intensities: Sequence[float], level: float, seed: int = 0
) -> Breakdown | None:
    """Find the least intensity at which the mean excess over the control is above a level.

    The means are made to rise with the intensity first, so that one lucky intensity hides nothing.

    Args:
        above: flip rate less the control's for each question, of shape (questions, intensities); NaN where unknown.
        clusters: code of each question's cluster.
        intensities: rising.
        level: what has to be exceeded.
        seed: of the draws of the bootstrap.

    Returns:
        None when no question has a value.
    """
    there = np.isfinite(above)
    if not there.any():
        return None
    known = np.any(there, axis=1)
    above, there = above[known], there[known]
    names, codes = np.unique(clusters[known], return_inverse=True)
    sums, counts = (
        np.stack([np.bincount(codes, column) for column in each.T], axis=1)
        for each in (np.where(there, above, 0.0), there.astype(np.float64))
    )
    total, number = sums.sum(axis=0), counts.sum(axis=0)
    fitted = isotonic(total[np.newaxis], number[np.newaxis])[0]
    at = _first_above(fitted[np.newaxis], intensities, level)[0]
    interval = reached = None
    if len(names) > 1:
        weights = cluster_weights(len(names), seed)
        drawn = _first_above(isotonic(weights @ sums, weights @ counts), intensities, level)
        ends = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="inverted_cdf")
        interval = (_within(float(ends[0])), _within(float(ends[1])))
        reached = float(np.isfinite(drawn).mean())
    return Breakdown(
        level=level, tested=tuple(intensities), at=_within(float(at)), interval=interval, reached=reached,
        above_control=tuple(float(s / n) if n else None for s, n in zip(total, number, strict=True)),
        fitted=tuple(float(value) if np.isfinite(value) else None for value in fitted),
    )  # fmt: skip


@lru_cache(maxsize=2)
def cluster_weights(clusters: int, seed: int) -> Figures:
    """How often each cluster is drawn in each resample, of shape (draws, clusters)."""
    drawn = resamples(seed, DRAWS, clusters)
    flat = drawn + np.arange(DRAWS, dtype=np.intp)[:, np.newaxis] * clusters
    return np.bincount(flat.ravel(), minlength=DRAWS * clusters).reshape(DRAWS, clusters).astype(np.float64)


def isotonic(sums: Figures, counts: Figures) -> Figures:
    """The rising means nearest to given ones, weighted by their counts, for every row (-inf where nothing counts).

    What pooling adjacent violators gives, by its formula, which takes all rows at once: at each place the greatest
    over all starts before of the least mean over all ends behind.

    Source: Barlow, Bartholomew, Bremner and Brunk 1972 (max-min formula of isotonic regression).
    """
    before = np.zeros((len(sums), 1))
    total = np.concatenate([before, np.cumsum(sums, axis=1)], axis=1)
    number = np.concatenate([before, np.cumsum(counts, axis=1)], axis=1)
    places = sums.shape[1]
    fitted = np.full(sums.shape, -np.inf)
    for place in range(places):
        for start in range(place + 1):
            weight = number[:, place + 1 :] - number[:, [start]]
            block = total[:, place + 1 :] - total[:, [start]]
            means = np.divide(block, weight, out=np.full(block.shape, np.inf), where=weight > 0).min(axis=1)
            fitted[:, place] = np.maximum(fitted[:, place], np.where(np.isfinite(means), means, -np.inf))
    return np.where(counts > 0, fitted, -np.inf)


def _first_above(fitted: Figures, intensities: Sequence[float], level: float) -> Figures:
    """The least intensity above the level for every row; infinity where there is none."""
    above = fitted > level + 1e-12  # a rate that stands on the level is not above it, whatever rounding made of it
    return np.where(above.any(axis=1), np.asarray(intensities, np.float64)[above.argmax(axis=1)], np.inf)


def _within(value: float) -> float | None:
    return value if np.isfinite(value) else None
