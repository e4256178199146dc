"""Router: ask one bot first, keep its answer above a confidence, and go to another one below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..comparing.score_table import Figures, Flags, ScoreTable
from ..statistics.paired import Difference
from ..statistics.survival import quantile
from .best_per_question import gain_of
from .confidence import Confidence
from .frontier import mean_cost, median_latency
from .ranking import SAME
from .shared_questions import goodness_range

FOLDS: Final = 5
MOST_THRESHOLDS: Final = 200  # that are tried; more differ by next to nothing


@dataclass(frozen=True)
class Router:
    """What "``first`` from confidence t on, else ``second``" would have done; quality is such that higher is better.

    Attributes:
        first, second: the two bots.
        key: what tells the first one's confidence.
        threshold: the best t over all questions; None where asking the first bot never pays.
        thresholds: the best t of the training questions of each fold.
        floor: the least t that could be tried: below it the first bot declined, and what it would have said is not on
            record.
        held_out: mean on the held-out questions, each routed by the t of its fold.
        fitted: mean when t is chosen and measured on the same questions, which flatters it.
        single: the best bot alone, over the same questions.
        single_mean: its mean.
        gain: of ``held_out`` over the single bot.
        share_first: share of the questions on which the first bot's answer is kept, by the t of each fold.
        latency_ms: median time, with the first bot's where both are asked; None where it is not known.
        single_latency_ms: that of the best bot alone.
        cost: mean cost, in the same way; None where it is not known.
        single_cost: that of the best bot alone.
        questions: how many have a value wherever they are sent.
    """

    first: str
    second: str
    key: str
    threshold: float | None
    thresholds: tuple[float | None, ...]
    floor: float
    held_out: float
    fitted: float
    single: str
    single_mean: float
    gain: Difference
    share_first: float
    latency_ms: float | None
    single_latency_ms: float | None
    cost: float | None
    single_cost: float | None
    questions: int


@dataclass(frozen=True)
class _Routes:
    """The rows of both bots on the questions that can be routed. All arrays have the shape (questions, repeats)."""

    first: Figures
    second: Figures
    sure: Figures  # confidence; -inf where the first bot gives no answer to keep
    known: Flags
    clusters: NDArray[np.intp]

    def values(self, threshold: float) -> Figures:
        """For each question the mean over its repeats of what the router would have given."""
        routed = np.where(self.sure >= threshold, self.first, self.second)
        return np.asarray(np.where(self.known, routed, 0.0).sum(axis=1) / self.known.sum(axis=1))


def route(
    tables: tuple[ScoreTable, ScoreTable, ScoreTable], metric: str, confidence: Confidence, clusters: NDArray[np.intp],
    costs: tuple[float | None, float | None, float | None] = (None, None, None), seed: int = 0,
) -> Router | None:  # fmt: skip
    """Work out a router; None where fewer than two clusters of questions can be routed either way.

    The threshold is chosen by cross-validation over clusters: that of each fold is the best on the other folds, and of
    thresholds that are equally good there the lowest. One threshold of each fold is infinite: never ask the first bot.

    Args:
        tables: of the first bot, the second, and the best bot alone.
        metric: what is to be gained.
        confidence: of the first bot.
        clusters: code of the cluster of each case.
        costs: stated costs of an answer of the three, where rows don't tell.
        seed: of the folds.

    Source: Stone 1974 (cross-validatory choice and assessment).
    """
    routes, places, alone = _routes(tables, metric, confidence, clusters)
    names, codes = np.unique(routes.clusters, return_inverse=True)
    tried = _thresholds(routes.sure)
    if len(names) < 2 or len(tried) < 2:
        return None
    by_threshold = np.column_stack([routes.values(threshold) for threshold in tried])
    fold = _folds(len(names), seed)[codes]
    chosen = np.full(len(places), np.inf)
    held_out = np.empty(len(places))
    picks = []
    for number in np.unique(fold):
        best = _best(by_threshold[fold != number], _seen(tried, routes.sure[fold != number]))
        chosen[fold == number] = tried[best]
        held_out[fold == number] = by_threshold[fold == number, best]
        picks.append(_finite(tried[best]))
    overall = _best(by_threshold, _seen(tried, routes.sure))
    kept = routes.sure >= chosen[:, None]
    first, second, single = tables
    column = first.columns[metric]
    edges = goodness_range(column)
    return Router(
        first=first.bot, second=second.bot, key=confidence.key, threshold=_finite(tried[overall]),
        thresholds=tuple(picks), floor=float(tried[0]), held_out=float(held_out.mean()),
        fitted=float(by_threshold[:, overall].mean()), single=single.bot, single_mean=float(alone.mean()),
        gain=gain_of(alone, held_out, routes.clusters, *edges, seed),
        share_first=float(((kept & routes.known).sum(axis=1) / routes.known.sum(axis=1)).mean()),
        latency_ms=_latency(first, second, places, kept), single_latency_ms=median_latency(single),
        cost=_cost(_costs(first, costs[0])[places], _costs(second, costs[1])[places], kept),
        single_cost=_finite(float(_costs(single, costs[2])[places].mean())), questions=len(places),
    )  # fmt: skip


def _routes(
    tables: tuple[ScoreTable, ScoreTable, ScoreTable], metric: str, confidence: Confidence, clusters: NDArray[np.intp]
) -> tuple[_Routes, NDArray[np.intp], Figures]:
    """The questions that have a value wherever they are sent, and the values of the best bot alone on them.

    A row counts where the second bot has a value, and the first one too if its answer could be kept.
    """
    first = tables[0]
    sign = 1.0 if first.columns[metric].better == "higher" else -1.0
    ours, theirs, alone = (sign * table.values[metric] for table in tables)
    answers = first.answered & (first.declined != 1) & np.isfinite(confidence.values)
    known = np.isfinite(theirs) & np.isfinite(alone) & (np.isfinite(ours) | ~answers)
    places = np.flatnonzero(known.any(axis=1))
    sure = np.where(answers & known, confidence.values, -np.inf)[places]
    routes = _Routes(np.nan_to_num(ours[places]), np.nan_to_num(theirs[places]), sure, known[places], clusters[places])
    totals = np.where(known, alone, 0.0)[places].sum(axis=1)
    return routes, places, totals / routes.known.sum(axis=1)


def _thresholds(sure: Figures) -> Figures:
    """From the least confidence with which the first bot answered, upwards; the last sends nothing to it."""
    told = np.unique(sure[np.isfinite(sure)])
    if len(told) > MOST_THRESHOLDS:
        told = np.unique(np.quantile(told, np.linspace(0, 1, MOST_THRESHOLDS), method="nearest"))
    return np.append(told, np.inf)


def _seen(tried: Figures, sure: Figures) -> Flags:
    """Which thresholds can be told from these questions: their own confidences, and always or never keeping an answer.

    A threshold in a gap between two of them would only be a guess.
    """
    seen = np.isin(tried, sure)
    seen[[0, -1]] = True
    return seen


def _best(by_threshold: Figures, allowed: Flags) -> int:
    """The place of the best allowed threshold, the lowest of equals: it asks the second bot the least."""
    means = np.where(allowed, by_threshold.mean(axis=0), -np.inf)
    return int(np.argmax(means >= means.max() - SAME * float(np.abs(by_threshold).max(initial=0.0))))


def _folds(clusters: int, seed: int) -> NDArray[np.intp]:
    """The fold of each cluster, as even as can be, at random but the same for a seed on every machine."""
    order = np.argsort(np.random.PCG64(seed).random_raw(clusters), kind="stable")
    folds = np.empty(clusters, np.intp)
    folds[order] = np.arange(clusters) % min(FOLDS, clusters)
    return folds


def _latency(first: ScoreTable, second: ScoreTable, places: NDArray[np.intp], kept: Flags) -> float | None:
    """Median over rows: the first bot is asked each time, the second too where its answer is not kept.

    Where the first one failed or timed out, the time until then is spent all the same.
    """
    times = first.latency_ms[places] + np.where(kept, 0.0, second.answer_ms[places])
    known = np.isfinite(times)
    return quantile(times[known], (kept | second.answered[places])[known], 0.5)


def _costs(table: ScoreTable, stated: float | None) -> Figures:
    """The cost of each row; where there is no answer, that of an answer on average, as far as it is known."""
    mean = mean_cost(table, stated)
    if mean is None:
        return np.full(table.cost.shape, np.nan)
    return np.where(table.answered & (stated is None), table.cost, mean)


def _cost(first: Figures, second: Figures, kept: Flags) -> float | None:
    return _finite(float((first + np.where(kept, 0.0, second)).mean()))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
