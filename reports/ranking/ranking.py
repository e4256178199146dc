"""Ranking: which of several bots is best, how sure that is, and how often a ranking would come out the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..comparing.score_table import Figures
from ..statistics.chance import uniforms
from ..statistics.clusters import Clusters

DRAWS: Final = 10_000
ROUNDING: Final = 1e-12  # share of the greatest variance that is none
ALIKE: Final = 1.0  # correlation within a cluster for which degrees of freedom are those of the spread
SAME: Final = 1e-9  # of the greatest value: means that differ by less are equal, in whatever order they were added up


@dataclass(frozen=True)
class Ranking:
    """How bots stand on one metric. Bots are in the order that was given; ranks begin at 1; ties share.

    Attributes:
        bots: who is ranked.
        means: of each, turned so that higher is better.
        ranks: of each as measured; bots that tie share the mean of the ranks that they take.
        best: for each the probability that it is the best: the share of draws of the true means in which it is.
        shares: of shape (bots, ranks), the share of draws in which a bot has a rank.
        expected: for each its mean rank over the draws.
        same_winner: how often the draws have the same best bot (or bots, where they tie).
        same_ranking: how often they have the whole ranking the same.
        above: of shape (bots, bots), how often the one of the line is above that of the column; ties count half.
        questions, clusters, draws: what it rests on.
    """

    bots: tuple[str, ...]
    means: Figures
    ranks: Figures
    best: Figures
    shares: Figures
    expected: Figures
    same_winner: float
    same_ranking: float
    above: Figures
    questions: int
    clusters: int
    draws: int

    @property
    def order(self) -> list[int]:
        """Places of the bots from best to worst; of those that tie, first comes whoever has the better odds."""
        return sorted(range(len(self.bots)), key=lambda bot: (self.ranks[bot], self.expected[bot], bot))

    @property
    def winners(self) -> tuple[str, ...]:
        """The best bot, or all that tie for it."""
        return tuple(bot for bot, rank in zip(self.bots, self.ranks, strict=True) if rank == self.ranks.min())


@dataclass(frozen=True)
class Goodness:
    """What is ranked: for each question the values of some bots, higher being better, and the cluster of each."""

    bots: tuple[str, ...]
    values: Figures
    clusters: NDArray[np.intp]


def rank_all(measured: Mapping[str, Goodness], seed: int = 0, draws: int = DRAWS) -> dict[str, Ranking]:
    """Rank bots on several metrics. Metrics without a question, or without a bot, are left out.

    What the true means may be is drawn around the measured ones by Student's t of several variables, with the spread
    and likeness that the bots' means have by clusters (CR2) and the degrees of freedom of that: of few documents little
    is known of the spread, so that the odds stay nearer to one another. Resampled documents can't tell that: of what
    three to ten of them call 95 sure or more, 85 to 95 of 100 is right. Questions of one cluster say nothing of how
    means vary; all bots then have the same odds. ``tests/benchmarks/rank_calibration.py`` measures it.

    Args:
        measured: what is ranked, by metric.
        seed: of the draws.
        draws: how many.

    Source: Gelman and others 2013, section 3.6 (means under an unknown covariance); Bell and McCaffrey 2002 (CR2).
    """
    whole = {name: each for name, each in measured.items() if len(each.values) and each.bots}
    return {name: _ranking(each, _true_means(each, seed, draws)) for name, each in whole.items()}


def rank(goodness: Goodness, seed: int = 0, draws: int = DRAWS) -> Ranking:
    """Rank bots on one metric; there must be a question."""
    return rank_all({"": goodness}, seed, draws)[""]


def _true_means(goodness: Goodness, seed: int, draws: int) -> Figures:
    """What the true means may be, of shape (draws, bots)."""
    from scipy.special import gammaincinv, ndtri  # here, as scipy takes a while to load

    clusters, values = Clusters.of(goodness.clusters), goodness.values
    means, bots = values.mean(axis=0), values.shape[1]
    normal = ndtri(uniforms(seed, draws, bots))
    if clusters.count < 2:
        return np.asarray(normal)
    shares = clusters.sizes / clusters.questions
    sums = clusters.sums(np.ascontiguousarray(values.T)) - clusters.sizes * means[:, None]
    off = sums / np.sqrt(1 - shares) / clusters.questions
    spread, axes = np.linalg.eigh(off @ off.T)
    degrees = clusters.degrees(ALIKE)
    wider = np.sqrt(degrees / 2 / gammaincinv(degrees / 2, uniforms(seed + 1, draws, 1)))
    spread = np.where(spread > ROUNDING * spread[-1], spread, 0.0)  # else equal bots would differ by its root
    root = (axes * np.sqrt(spread)) @ axes.T  # the same whatever signs the axes have
    return np.asarray(means + wider * (normal @ root))


def _ranking(goodness: Goodness, means: Figures) -> Ranking:
    tolerance = SAME * float(np.abs(goodness.values).max())
    measured = goodness.values.mean(axis=0)
    before, tied = _standing(measured[None, :], tolerance)
    ranks = before[0] + (tied[0] + 1) / 2
    above, with_me = _standing(means, tolerance)
    middles = above + (with_me + 1) / 2
    return Ranking(
        bots=goodness.bots,
        means=measured,
        ranks=ranks,
        best=np.where(above == 0, 1 / with_me, 0.0).mean(axis=0),
        shares=_shares(above, with_me),
        expected=middles.mean(axis=0),
        same_winner=float(((above == 0) == (before == 0)).all(axis=1).mean()),
        same_ranking=float((middles == ranks).all(axis=1).mean()),
        above=_above(means, tolerance),
        questions=len(goodness.values),
        clusters=len(np.unique(goodness.clusters)),
        draws=len(means),
    )


def _standing(means: Figures, tolerance: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each draw and bot, how many are above it, and how many are level with it, itself among them."""
    above = np.zeros(means.shape, np.intp)
    level = np.zeros(means.shape, np.intp)
    for other in range(means.shape[1]):
        lead = means[:, other : other + 1] - means
        above += lead > tolerance
        level += np.abs(lead) <= tolerance
    return above, level


def _shares(above: NDArray[np.intp], level: NDArray[np.intp]) -> Figures:
    """How often each bot has each rank; those that are level share the ranks that they take."""
    ranks = np.arange(above.shape[1])
    takes = (ranks >= above[:, :, None]) & (ranks < (above + level)[:, :, None])
    shares: Figures = (takes / level[:, :, None]).mean(axis=0)
    return shares


def _above(means: Figures, tolerance: float) -> Figures:
    return np.array([
        [_odds(means[:, one] - means[:, other], tolerance) for other in range(means.shape[1])]
        for one in range(means.shape[1])
    ])  # fmt: skip


def _odds(leads: Figures, tolerance: float) -> float:
    return float((leads > tolerance).mean() + (np.abs(leads) <= tolerance).mean() / 2)


def names_in_order(ranking: Ranking) -> Sequence[tuple[str, ...]]:
    """The bots from best to worst, those that tie together."""
    groups: dict[float, list[str]] = {}
    for place in ranking.order:
        groups.setdefault(float(ranking.ranks[place]), []).append(ranking.bots[place])
    return [tuple(group) for group in groups.values()]
