"""Ranking: which of several bots is best, how sure that is, and how often a ranking would come out the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..comparing.score_table import Figures
from ..statistics.chance import resamples

DRAWS: Final = 10_000
FEWEST_DRAWS: Final = 2_000  # where there are many clusters: a probability is then known to within 2 %
MOST_DRAWN: Final = 100_000_000  # places in all, a few seconds
SAME: Final = 1e-9  # of the greatest value: means that differ by less are equal, in whatever order they were added up
MOST_PLACES: Final = 4_000_000  # drawn at once


@dataclass(frozen=True)
class Ranking:
    """How bots stand on one metric. Bots are in the order that was given; ranks begin at 1; ties share.

    Attributes:
        bots: who is ranked.
        means: of each, turned so that higher is better.
        ranks: of each as measured; bots that tie share the mean of the ranks that they take.
        best: for each the probability that it is the best: the share of resamples in which it is.
        shares: of shape (bots, ranks), the share of resamples in which a bot has a rank.
        expected: for each its mean rank over the resamples.
        same_winner: how often the resamples have the same best bot (or bots, where they tie).
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


def rank_all(
    measured: Mapping[str, Goodness], seed: int = 0, draws: int | None = None, clusters: int | None = None
) -> dict[str, Ranking]:
    """Rank bots on several metrics, with the same resamples of clusters for all, so that metrics can be compared.

    A resample takes whole clusters, with replacement, and all bots on each: the pairing and the likeness of questions
    of one document are kept. Metrics without a question, or without a bot, are left out.

    Args:
        measured: what is ranked, by metric.
        seed: of the resamples.
        draws: how many; left out, 10,000, or fewer with more than 10,000 clusters.
        clusters: how many codes of clusters there are, so that a metric's odds don't hang on which others are ranked;
            left out, those of which any metric has a question.

    Source: Efron and Tibshirani 1993, chapter 8 (resampling of whole units); Hall and Miller 2009 (ranks).
    """
    whole = {name: each for name, each in measured.items() if len(each.values) and each.bots}
    if not whole:
        return {}
    found = np.concatenate([each.clusters for each in whole.values()])
    names = np.unique(found) if clusters is None else np.arange(clusters)
    codes = np.zeros(1 + int(max(found.max(), names.max())), np.intp)
    codes[names] = np.arange(len(names))
    sums = np.concatenate([_sums(each.values, codes[each.clusters], len(names)) for each in whole.values()], axis=1)
    ends = np.cumsum([1 + len(each.bots) for each in whole.values()])[:-1]
    wanted = draws or min(DRAWS, max(FEWEST_DRAWS, MOST_DRAWN // len(names)))
    parts = np.split(_resampled(sums, seed, wanted), ends, axis=1)
    return {name: _ranking(each, part) for (name, each), part in zip(whole.items(), parts, strict=True)}


def rank(goodness: Goodness, seed: int = 0, draws: int | None = None) -> Ranking:
    """Rank bots on one metric; there must be a question."""
    return rank_all({"": goodness}, seed, draws)[""]


def _sums(values: Figures, clusters: NDArray[np.intp], count: int) -> Figures:
    """For each cluster the number of questions, and the sum of each bot."""
    columns = [np.ones(len(values)), *values.T]
    return np.column_stack([np.bincount(clusters, weights=column, minlength=count) for column in columns])


def _resampled(sums: Figures, seed: int, draws: int) -> Figures:
    """The sums over resampled clusters, a line a draw; in blocks, so that many clusters don't fill the memory."""
    count = len(sums)
    block = max(1, min(draws, MOST_PLACES // count))
    made = []
    for number, start in enumerate(range(0, draws, block)):
        size = min(block, draws - start)
        places = resamples(seed + number, size, count) + np.arange(size)[:, None] * count
        often = np.bincount(places.ravel(), minlength=size * count).reshape(size, count)
        made.append(often.astype(np.float64) @ sums)
    return np.concatenate(made)


def _ranking(goodness: Goodness, drawn: Figures) -> Ranking:
    filled = drawn[drawn[:, 0] > 0]  # a resample may hold no question of a metric that few have
    means = filled[:, 1:] / filled[:, :1]
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
