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
            and has its value on that one; None without repeats.
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
    best = values.max(axis=1)
    shares = _favour(values, tolerance).mean(axis=0)
    held_out = _held_out(repeated, tolerance)
    found = BestPerQuestion(
        single=bots[top],
        single_mean=float(values[:, top].mean()),
        bound=float(best.mean()),
        gain=gain_of(values[:, top], best, clusters, low, high, seed),
        chosen=dict(zip(bots, map(float, shares), strict=True)),
    )
    if held_out is None:
        return found
    gain = gain_of(values[:, top], held_out, clusters, low, high, seed)
    return BestPerQuestion(
        found.single, found.single_mean, found.bound, found.gain, found.chosen, float(held_out.mean()), gain
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


def _held_out(repeated: NDArray[np.float64], tolerance: float) -> Figures | None:
    """For each question the mean, over its repeats, of the bot that all other repeats would choose.

    A question of which some bot has a single value has nothing to choose by: there it is the mean over the bots.
    """
    questions, _, repeats = repeated.shape
    if repeats < 2:
        return None
    totals, counts = np.zeros(questions), np.zeros(questions)
    for left_out in range(repeats):
        others = np.delete(repeated, left_out, axis=2)
        known = (np.isfinite(others).sum(axis=2) > 0).all(axis=1)
        tested = repeated[:, :, left_out]
        usable = known & np.isfinite(tested).all(axis=1)
        weights = _favour(np.nanmean(others[usable], axis=2), tolerance)
        totals[usable] += (weights * tested[usable]).sum(axis=1)
        counts[usable] += 1
    blind = np.nanmean(repeated, axis=(1, 2))
    return np.divide(totals, counts, out=blind, where=counts > 0)
