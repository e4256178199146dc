"""Preference: win rates of paired verdicts, at equal length, and with predictions for pairs that nobody judged."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .agreement import best_weight
from .intervals import Clusters, Figures, student_quantile
from .paired import FEW, difference


@dataclass(frozen=True, slots=True)
class WinRate:
    """A share of questions won, ties counted half.

    Attributes:
        mean: from 0 to 1.
        low, high: ends of the 95 % interval; None where it can't be told (see ``no_interval``).
        p_value: two-sided, that neither is better; None where there is no test.
        no_interval: why there is no interval; blank where there is one.
    """

    mean: float
    low: float | None
    high: float | None
    p_value: float | None = None
    no_interval: str = ""

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``no difference shown``, of the candidate; interval and test must both say so."""
        if self.low is None or self.high is None:
            return "not estimable"
        shown = self.p_value is None or self.p_value <= 0.05
        if shown and self.low > 0.5:
            return "better"
        return "worse" if shown and self.high < 0.5 else "no difference shown"


def win_rate(values: Figures, clusters: NDArray[np.intp], seed: int = 0) -> WinRate:
    """The win rate of a candidate with the interval and test of every paired difference (``paired.difference``).

    Args:
        values: one a question: 1 won, 0 lost, .5 a tie, or the mean over repeats.
        clusters: code of each question's cluster.
        seed: of the draws of the test.

    Raises:
        ValueError: no questions.
    """
    found = difference(1 - values, values, clusters, 0.0, 1.0, binary=True, seed=seed)
    return WinRate(0.5 + found.mean / 2, _half(found.low), _half(found.high), found.p_to_correct, found.no_interval)


def _half(end: float | None) -> float | None:
    return None if end is None else 0.5 + end / 2


ITERATIONS = 50
CLOSE = 1e-10  # of a step, at which the fit has come to rest
REST = 1e-6  # the same of log-strengths, far below their intervals


def length_controlled(values: Figures, ratios: Figures, clusters: NDArray[np.intp]) -> WinRate | None:
    """The win rate that is to be expected were both answers equally long.

    A logistic regression of the value on the log of how much longer the candidate's answer is, read at 0. Firth's
    correction keeps it finite where all verdicts are the same. The interval is the jackknife over clusters (CV3) on
    the scale of log-odds.

    Args:
        values: as for ``win_rate``.
        ratios: log of the candidate's length over the baseline's, one a question.
        clusters: code of each question's cluster.

    Returns:
        None where no answer differs in length, fewer than five verdicts differ from the others, or there is no
        interval for so few clusters.

    Sources: Dubois et al. 2024 (length-controlled AlpacaEval: regression on the difference in length, read at 0);
    Firth 1993; Papke and Wooldridge 1996 (fractional values); Bell and McCaffrey 2002 and MacKinnon, Nielsen and Webb
    2023 (cluster jackknife).
    """
    grouped = Clusters.of(clusters)
    most_alike = max(int((values == value).sum()) for value in np.unique(values))
    if np.ptp(ratios) <= 0 or len(values) - most_alike < FEW or grouped.no_interval():
        return None
    design = np.column_stack([np.ones(len(values)), ratios / ratios.std()])
    fitted = _firth(values, design)
    share = _odds_share(design @ fitted)
    weights = share * (1 - share)
    information = np.einsum("ni,nj,n->nij", design, design, weights)
    scores = design * (values - share)[:, None]
    whole = information.sum(axis=0)
    score = np.stack([grouped.sums(scores[:, place]) for place in range(2)], axis=-1)
    own = np.stack(
        [[grouped.sums(information[:, row, column]) for column in range(2)] for row in range(2)]
    )  # (2, 2, clusters)
    rest = whole[None] - np.moveaxis(own, -1, 0)
    if (np.linalg.det(rest) <= 1e-12 * np.linalg.det(whole)).any():
        return None  # one cluster alone says what length does
    moved = np.linalg.solve(rest, score[..., None])[:, 0, 0]  # by how much the odds change without the cluster
    error = math.sqrt((grouped.count - 1) / grouped.count * float(((moved - moved.mean()) ** 2).sum()))
    reach = float(student_quantile(0.975, grouped.degrees())) * error
    low, mean, high = (float(_odds_share(np.array(fitted[0] + step))) for step in (-reach, 0.0, reach))
    return WinRate(mean, low, high)


def _odds_share(odds: Figures) -> Figures:
    return np.asarray(1 / (1 + np.exp(-np.clip(odds, -30, 30))), np.float64)


def _firth(values: Figures, design: Figures) -> Figures:
    """Coefficients of a logistic regression with Firth's correction, by Newton's method with halved steps."""
    fitted = np.zeros(design.shape[1])
    for _ in range(ITERATIONS):
        share = _odds_share(design @ fitted)
        weights = share * (1 - share)
        inverse = np.linalg.inv((design * weights[:, None]).T @ design)
        leverage = weights * np.einsum("ni,ij,nj->n", design, inverse, design)
        step = inverse @ (design.T @ (values - share + leverage * (0.5 - share)))
        fitted = fitted + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < CLOSE:
            break
    return fitted


def prediction_powered(
    judged: Figures, predicted: Figures, others: Figures, clusters: NDArray[np.intp],
    clusters_of_others: NDArray[np.intp], known: Figures | None = None,
    clusters_of_known: NDArray[np.intp] | None = None,
) -> WinRate | None:  # fmt: skip
    """The win rate over all questions from the verdicts on some, drawn at random, and predictions for all.

    Args:
        judged: values of the judged questions.
        predicted: predictions for the same.
        others: predictions for the questions that were not judged.
        clusters: codes of the judged questions' clusters.
        clusters_of_others: codes of those of the others.
        known: values of questions that needed no judge, all of which are known; None for none.
        clusters_of_known: codes of theirs.

    Returns:
        None where there is no interval for so few clusters, or fewer than five questions were judged.

    Source: Angelopoulos, Duchi, Zrnic 2023 (PPI++), with the variance added up by clusters.
    """
    settled = np.zeros(0) if known is None else known
    codes = np.zeros(0, np.intp) if clusters_of_known is None else clusters_of_known
    whole = Clusters.of(np.concatenate([clusters, clusters_of_others, codes]))
    if len(judged) < FEW or whole.no_interval():
        return None
    weight = best_weight(judged.tolist(), predicted.tolist(), others.tolist()) if len(others) else 0.0
    total = len(judged) + len(others) + len(settled)
    drawn_from = (len(judged) + len(others)) / total
    rest = judged - weight * predicted
    every = np.concatenate([weight * predicted, weight * others, settled])
    mean = float(drawn_from * rest.mean() + every.mean())
    # What each question adds to the error: its prediction or value over all, and over the judged ones what it missed.
    adds = (every - every.mean()) / total
    few = math.sqrt(len(judged) / max(len(judged) - 2, 1))
    adds[: len(judged)] += drawn_from * (rest - rest.mean()) / len(judged) * few
    off = whole.sums(adds)
    drawn = Clusters.of(clusters)
    degrees = min(drawn.degrees(), whole.degrees()) if drawn.count > 1 else 1.0
    share = whole.sizes / total
    reach = float(student_quantile(0.975, max(degrees, 1.0))) * math.sqrt(float((off * off / (1 - share)).sum()))
    mean = min(max(mean, 0.0), 1.0)
    return WinRate(mean, max(mean - reach, 0.0), min(mean + reach, 1.0))


@dataclass(frozen=True, slots=True)
class Strengths:
    """Strengths of several bots from their pairs.

    Attributes:
        strength: log-strength of each bot, 0 on average.
        low, high: ends of 95 % intervals; NaN where they can't be told.
        ties: Davidson's tie parameter; 0 where no pair was a tie.
    """

    strength: Figures
    low: Figures
    high: Figures
    ties: float


PRIOR = 0.1  # games that every two bots are taken to have drawn beforehand, so that no strength is infinite
DRAWS = 500


def davidson(
    first: NDArray[np.intp], second: NDArray[np.intp], values: Figures, clusters: NDArray[np.intp], bots: int,
    seed: int = 0,
) -> Strengths:  # fmt: skip
    """Bradley-Terry strengths with ties, with intervals by bootstrap over clusters.

    Args:
        first: number of the first bot of each judged pair, from 0.
        second: number of the second.
        values: 1 where the second won, 0 where the first did, .5 for a tie.
        clusters: code of the cluster of each pair's question.
        bots: how many bots there are.
        seed: of the bootstrap.

    Sources: Bradley and Terry 1952; Davidson 1970 (ties); Hunter 2004 (the iteration).
    """
    grouped = Clusters.of(clusters)
    cells = np.zeros((grouped.count, bots, bots, 2))  # by cluster: wins of row over column, and ties
    code = np.empty(len(clusters), np.intp)
    code[grouped.order] = np.repeat(np.arange(grouped.count), grouped.sizes.astype(np.intp))
    tied = values == 0.5
    np.add.at(cells, (code[~tied], np.where(values > 0.5, second, first)[~tied],
                      np.where(values > 0.5, first, second)[~tied], 0), 1.0)  # fmt: skip
    for one, other in ((first, second), (second, first)):
        np.add.at(cells, (code[tied], one[tied], other[tied], 1), 1.0)
    whole = cells.sum(axis=0)
    strength, ties = _fit(whole[..., 0], whole[..., 1])
    if grouped.no_interval():
        blank = np.full(bots, np.nan)
        return Strengths(strength, blank, blank, float(ties))
    source = np.random.default_rng(seed)
    counts = source.multinomial(grouped.count, np.full(grouped.count, 1 / grouped.count), DRAWS)
    drawn = np.einsum("dc,cijk->dijk", counts.astype(np.float64), cells, optimize=True)
    made, _ = _fit(drawn[..., 0], drawn[..., 1])
    error = made.std(axis=0, ddof=1) * math.sqrt(grouped.count / (grouped.count - 1))
    reach = float(student_quantile(0.975, grouped.degrees())) * error
    return Strengths(strength, strength - reach, strength + reach, float(ties))


def _fit(wins: Figures, ties: Figures) -> tuple[Figures, Figures]:
    """Log-strengths (..., bots) and tie parameters by minorisation-maximisation, of counts (..., bots, bots).

    Ties are symmetric.
    """
    apart = ~np.eye(wins.shape[-1], dtype=bool)
    wins = np.where(apart, wins + PRIOR / 2, 0.0)
    tied = ties.sum(axis=(-2, -1)) / 2
    games = wins + np.swapaxes(wins, -1, -2) + ties
    gained = wins.sum(axis=-1) + ties.sum(axis=-1) / 2
    strength, tie = np.ones_like(gained), np.minimum(tied, 1.0)
    for _ in range(ITERATIONS * 4):
        one, other, nu = strength[..., :, None], strength[..., None, :], tie[..., None, None]
        pull = games * (2 + nu * np.sqrt(other / one)) / (one + other + nu * np.sqrt(one * other))
        new = 2 * gained / np.where(apart, pull, 0.0).sum(axis=-1)
        new /= np.exp(np.log(new).mean(axis=-1, keepdims=True))
        one, other = new[..., :, None], new[..., None, :]
        root = np.sqrt(one * other)
        below = np.where(apart, games * root / (one + other + nu * root), 0.0).sum(axis=(-2, -1)) / 2
        tie = tied / np.where(tied > 0, below, 1.0)
        settled = float(np.abs(np.log(new / strength)).max()) < REST
        strength = new
        if settled:
            break
    return np.log(strength), tie
