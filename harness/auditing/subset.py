"""Subset: the fewest questions that keep the ranking of the bots, and what to expect of them elsewhere.

Questions are chosen one by one, each time the one that brings the means of all bots, of each step of difficulty and of
each common tag nearest to those on all questions (herding, Welling 2009). With the bots that took part in the choice a
handful fits; that is no promise for a bot that has changed. So the size is found by leaving out each bot in turn:
chosen with the others, the mean of the one left out must come near as well. Beside it stands what as many questions
drawn by chance would do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...reports.ranking.rank_agreement import kendall_tau
from ...reports.statistics.chance import Figures
from ...reports.statistics.clusters import Clusters
from ...reports.statistics.paired_interval import paired_intervals
from ...reports.surveys.audit import Subset

MOST_ERROR: Final = 0.03  # of the metric's range: how far a bot's mean may be from that on all questions
WORTH_WHILE: Final = 0.8  # of the questions; a subset that is larger saves hardly anything
_LEAST: Final = 5
_MOST: Final = 1_000  # questions of a subset
_STEPS: Final = 5  # of difficulty
_OF_STRATA: Final = 0.5  # weight of a step or tag, beside 1 for a bot
_TRIALS: Final = 12  # of leaving one bot out, at least
_SPLITS: Final = 10
_LASTING: Final = 1.5  # times its size, up to which the error must stay small: one lucky size is none

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Scores:
    """What a subset is chosen by, over the questions that all bots have a value on.

    Attributes:
        goodness: of shape (questions, bots), as shares of the metric's range.
        strata: of shape (questions, strata): other things whose shares should be kept, 0 or 1.
        clusters: code of each question's cluster.
        telling: how much each question tells; the greater come first in the subset.
    """

    goodness: Figures
    strata: Figures
    clusters: Places
    telling: Figures


@dataclass(frozen=True, slots=True)
class Chosen:
    """A subset by places, and whether it is worth having; its errors are in units of the metric."""

    subset: Subset | None
    warnings: tuple[str, ...] = ()


def choose_subset(scores: Scores, keys: Sequence[str], reach: float, seed: int = 0) -> Chosen:
    """Find the fewest questions that keep the order of all bots that are told apart, and every mean near.

    Args:
        scores: of the questions; at least two bots.
        keys: of the questions.
        reach: the metric's range, by which errors are given in its units.
        seed: of the draws.
    """
    count, bots = scores.goodness.shape
    if bots < 2 or count < 2 * _LEAST:
        why = "fewer than two bots have values" if bots < 2 else f"only {count} questions have a value for every bot"
        return Chosen(None, (f"No smaller set of questions was looked for: {why}.",))
    firm = firm_pairs(scores)
    order = herd(_features(scores, np.arange(bots)), min(count, _MOST))
    unseen = unseen_errors(scores, len(order), seed)
    size = _size(scores, order, firm, unseen)
    if size is None:
        return Chosen(None, (_none_found(count),))
    picked = order[:size]
    elsewhere = _elsewhere(scores, size, seed)
    by_chance = random_error(scores.goodness, size)
    means, whole = scores.goodness[picked].mean(axis=0), scores.goodness.mean(axis=0)
    tau = kendall_tau(_ranks(means), _ranks(whole))
    found = Subset(
        questions=tuple(keys[place] for place in picked[np.lexsort((picked, -scores.telling[picked]))].tolist()),
        of=count,
        agreement=1.0 if math.isnan(tau) else tau,
        error=float(np.abs(means - whole).max()) * reach,
        error_elsewhere=None if elsewhere is None else elsewhere[0] * reach,
        agreement_elsewhere=None if elsewhere is None else elsewhere[1],
        error_unseen=float(unseen[size - 1]) * reach,
        error_random=by_chance * reach,
        firm_pairs=len(firm),
    )
    return Chosen(found, tuple(_doubts(found, bots)))


def firm_pairs(scores: Scores, level: float = 0.95) -> Places:
    """The pairs of bots that all questions tell apart by a paired, clustered interval: the better one first."""
    bots = scores.goodness.shape[1]
    first, second = np.triu_indices(bots, 1)
    clusters = Clusters.of(scores.clusters)
    if clusters.count < 2 or not len(first):
        return np.empty((0, 2), np.intp)
    differences = (scores.goodness[:, first] - scores.goodness[:, second]).T
    binary = bool(np.isin(scores.goodness, (0.0, 1.0)).all())
    reach = np.maximum(np.abs(differences).max(axis=1), 1e-9)
    found = paired_intervals(differences, clusters, 1.0 if binary else reach, binary, level)
    pairs = np.column_stack([first, second])
    return np.concatenate([pairs[found.low > 0], pairs[found.high < 0][:, ::-1]]).astype(np.intp)


def herd(features: Figures, most: int) -> Places:
    """Places of the rows whose running mean stays nearest to the mean of all, in the order of their choice.

    Source: Welling 2009 (herding).
    """
    target = features.mean(axis=0)
    squares = (features**2).sum(axis=1)
    taken = np.zeros(len(features))
    total = np.zeros(features.shape[1])
    order = np.empty(min(most, len(features)), np.intp)
    for step in range(len(order)):
        # Of the square of (total + row - (step + 1) * target), the part that depends on the row.
        place = int(np.argmin(squares + 2 * (features @ (total - (step + 1) * target)) + taken))
        order[step] = place
        total += features[place]
        taken[place] = np.inf
    return order


def unseen_errors(scores: Scores, most: int, seed: int = 0) -> Figures:
    """For each size, the mean error of a bot's mean where the questions were chosen without it."""
    count, bots = scores.goodness.shape
    chance = np.random.default_rng(seed)
    sizes = np.arange(1, most + 1)
    total, trials = np.zeros(most), 0
    for _ in range(-(-_TRIALS // bots)):
        shuffled = chance.permutation(count)  # of equal questions another one comes first
        for bot in range(bots):
            others = np.delete(np.arange(bots), bot)
            order = shuffled[herd(_features(scores, others)[shuffled], most)]
            running = np.cumsum(scores.goodness[order, bot]) / sizes
            total += np.abs(running - scores.goodness[:, bot].mean())
            trials += 1
    return total / trials


def random_error(goodness: Figures, size: int) -> float:
    """The mean error of a bot's mean over as many questions drawn by chance, without replacement."""
    count = len(goodness)
    if count < 2:
        return 0.0
    variance = goodness.var(axis=0, ddof=1) / size * (1 - size / count)
    return float(np.sqrt(2 * variance / math.pi).mean())


def _features(scores: Scores, bots: Places) -> Figures:
    """What is to be kept near: the values of some bots, the shares of their steps of difficulty, and of the strata."""
    values = scores.goodness[:, bots]
    hardness = values.mean(axis=1)
    low, high = float(hardness.min()), float(hardness.max())
    steps = np.minimum((hardness - low) / max(high - low, 1e-9) * _STEPS, _STEPS - 1).astype(np.intp)
    return np.hstack([values, _OF_STRATA * np.eye(_STEPS)[steps], _OF_STRATA * scores.strata])


def _size(scores: Scores, order: Places, firm: Places, unseen: Figures) -> int | None:
    """The least size that keeps the firm pairs, and the means of seen and unseen bots near; None without one."""
    count = len(scores.goodness)
    sizes = np.arange(1, len(order) + 1)
    running = np.cumsum(scores.goodness[order], axis=0) / sizes[:, None]
    error = np.abs(running - scores.goodness.mean(axis=0)).max(axis=1)
    kept = (running[:, firm[:, 0]] > running[:, firm[:, 1]]).all(axis=1)
    fine = kept & (error <= MOST_ERROR) & (unseen <= MOST_ERROR)
    for size in range(_LEAST, int(WORTH_WHILE * count) + 1):
        if size > len(order):
            return None
        if fine[size - 1 : int(size * _LASTING)].all():
            return size
    return None


def _elsewhere(scores: Scores, size: int, seed: int) -> tuple[float, float | None] | None:
    """Greatest error and tau of questions chosen on half of the clusters, on the other half; means over splits."""
    codes = np.unique(scores.clusters)
    if len(codes) < 2:
        return None
    chance = np.random.default_rng(seed)
    errors, taus = [], []
    every = np.arange(scores.goodness.shape[1])
    for _ in range(_SPLITS):
        half = np.isin(scores.clusters, chance.permutation(codes)[: len(codes) // 2])
        ours, theirs = np.flatnonzero(half), np.flatnonzero(~half)
        picked = ours[herd(_features(scores, every)[ours], size)]
        means, others = scores.goodness[picked].mean(axis=0), scores.goodness[theirs].mean(axis=0)
        errors.append(float(np.abs(means - others).max()))
        taus.append(kendall_tau(_ranks(means), _ranks(others)))
    known = [tau for tau in taus if not math.isnan(tau)]
    return math.fsum(errors) / len(errors), math.fsum(known) / len(known) if known else None


def _ranks(means: Figures) -> Figures:
    """Means in which sums of another order of addition are equal."""
    return np.round(means, 12)


def _none_found(count: int) -> str:
    return (
        f"No smaller set of the {count:,} questions keeps every bot's mean within {MOST_ERROR:.0%} of the metric's "
        "range, also that of a bot it was not chosen with: use them all."
    )


def _doubts(found: Subset, bots: int) -> list[str]:
    doubts = []
    if not found.firm_pairs:
        doubts.append(
            "All questions together tell no two bots apart, so the smaller set has no ranking to keep; it only keeps "
            "the means near."
        )
    if found.error_unseen is not None and found.error_random is not None and found.error_unseen >= found.error_random:
        doubts.append(
            f"For a bot that it was not chosen with, the smaller set is no better than {len(found.questions):,} "
            "questions drawn by chance."
        )
    if bots < 3:
        doubts.append("The smaller set was chosen with two bots only; what it makes of others is hardly known.")
    return doubts
