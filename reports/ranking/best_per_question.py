"""Best bot per question: what choosing among the bots, question by question, could reach at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..comparing.score_table import Figures
from ..statistics.paired import Difference, difference
from .ranking import SAME


@dataclass(frozen=True, slots=True)
class BestPerQuestion:
    """The best bot of each question against the best bot of all. All figures are turned so that higher is better.

    Attributes:
        single: name of the bot with the best mean.
        single_mean: its mean.
        bound: mean of the best value on each question, which no choice among these bots can exceed. It is flattered:
            of several values with noise, the greatest is mostly one that was lucky.
        gain: from the single bot to the bound.
        chosen: names of the bots, each with the share of questions on which it is the best; those that tie share.
        honest: with repeats, the mean that is reached when the bot is chosen by all repeats of the question but one,
            and tested on that one; None without repeats.
        honest_gain: from the single bot's mean to ``honest``.
    """

    single: str
    single_mean: float
    bound: float
    gain: Difference
    chosen: dict[str, float]
    honest: float | None = None
    honest_gain: Difference | None = None


def best_per_question(
    bots: tuple[str, ...], repeated: NDArray[np.float64], clusters: NDArray[np.intp],
    low: float | None, high: float | None, seed: int = 0,
) -> BestPerQuestion:  # fmt: skip
    """Work out the bound.

    Args:
        bots: their names.
        repeated: of shape (questions, bots, repeats), higher being better; NaN where a repeat has no value. Every bot
            has a value on every question.
        clusters: code of the cluster of each question.
        low: the least value there can be.
        high: the greatest.
        seed: for the p values.
    """
    values = np.nanmean(repeated, axis=2)
    top = int(np.argmax(values.mean(axis=0)))
    tolerance = SAME * float(np.abs(values).max(initial=0.0))
    alone, best = values[:, top], values.max(axis=1)
    shares = _favour(values, tolerance).mean(axis=0)
    held_out = _held_out(repeated, alone, tolerance)
    return BestPerQuestion(
        single=bots[top],
        single_mean=float(alone.mean()),
        bound=float(best.mean()),
        gain=gain_of(alone, best, clusters, low, high, seed),
        chosen=dict(zip(bots, map(float, shares), strict=True)),
        honest=None if held_out is None else float(held_out.mean()),
        honest_gain=None if held_out is None else gain_of(alone, held_out, clusters, low, high, seed),
    )


def gain_of(
    base: Figures, head: Figures, clusters: NDArray[np.intp], low: float | None, high: float | None, seed: int
) -> Difference:
    """The paired difference; values that are all right or wrong are taken as such."""
    every: Figures = np.abs(np.concatenate([base, head]))
    binary = (low, high) in {(0, 1), (-1, 0)} and bool(np.isin(every, (0.0, 1.0)).all())
    return difference(base, head, clusters, low, high, binary, seed=seed)


def _favour(values: Figures, tolerance: float) -> Figures:
    """Weights of the bots on each question: all on the best, shared where several tie."""
    best = values >= values.max(axis=1, keepdims=True) - tolerance
    weights: Figures = best / best.sum(axis=1, keepdims=True)
    return weights


def _held_out(repeated: NDArray[np.float64], alone: Figures, tolerance: float) -> Figures | None:
    """For each question the mean, over its repeats, of the bot that all other repeats would choose.

    A repeat chooses among the bots that have a value on it and on another one. A question without any such bot has
    nothing to choose by: there it is ``alone``, the value of the single bot.
    """
    questions, _, repeats = repeated.shape
    if repeats < 2:
        return None
    totals, counts = np.zeros(questions), np.zeros(questions)
    for left_out in range(repeats):
        tested, others = repeated[:, :, left_out], np.delete(repeated, left_out, axis=2)
        known = np.isfinite(tested) & np.isfinite(others).any(axis=2)
        usable = known.any(axis=1)
        means = np.nansum(others, axis=2) / np.maximum(np.isfinite(others).sum(axis=2), 1)
        weights = _favour(np.where(known, means, -np.inf)[usable], tolerance)
        totals[usable] += (weights * np.nan_to_num(tested[usable])).sum(axis=1)
        counts[usable] += 1
    return np.divide(totals, counts, out=alone.copy(), where=counts > 0)
