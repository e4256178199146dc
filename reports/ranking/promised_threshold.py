"""Promised threshold: the least confidence at which a bot should answer for a promised risk of wrong answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..comparing.score_table import Figures, Flags
from ..statistics.conformal import controlled_threshold

MOST_THRESHOLDS = 2000  # that are tried; more differ by next to nothing


@dataclass(frozen=True, slots=True)
class Promise:
    """What can be promised of new questions.

    Attributes:
        threshold: the lowest that keeps the promise; None where none that still answers anything does.
        answered: share of the questions on record that are answered at it.
        wrong: share of the questions on record that are answered wrongly at it.
        smallest_risk: the smallest that any threshold could promise which still answers something.
        at: that threshold.
        at_answered: share of the questions on record that are answered at it.
        lowest: the lowest threshold that could be tried.
        questions: how many it rests on.
    """

    threshold: float | None
    answered: float | None
    wrong: float | None
    smallest_risk: float
    at: float
    at_answered: float
    lowest: float
    questions: int


def promise(wrong: Flags, confidence: Figures, risk: float, clusters: NDArray[np.intp] | None = None) -> Promise | None:
    """Find the threshold at which the share of all questions that are answered wrongly stays within ``risk``.

    The loss of a question is the share of its repeats that are answered, at the threshold, and wrong; declining costs
    nothing, so the loss falls as the threshold rises.

    Args:
        wrong: of shape (questions, repeats).
        confidence: likewise; -inf where no answer was given.
        risk: the share that is accepted.
        clusters: code of the cluster of each question, for a promise of questions of other clusters; None for more
            questions like these.

    Returns:
        None where nothing was answered.

    Source: Angelopoulos, Bates, Fisch, Lei and Schuster 2024 (conformal risk control).
    """
    told = np.unique(confidence[np.isfinite(confidence)])
    if not len(told):
        return None
    if len(told) > MOST_THRESHOLDS:
        told = np.unique(np.quantile(told, np.linspace(0, 1, MOST_THRESHOLDS), method="nearest"))
    losses = np.column_stack([(wrong & (confidence >= threshold)).mean(axis=1) for threshold in told])
    threshold = controlled_threshold(losses, told, risk, clusters=clusters)
    worst = 1 if clusters is None else int(np.bincount(clusters).max())
    promised = (losses.sum(axis=0) + worst) / (len(losses) + worst)
    best = int(np.argmin(promised))
    given = None if threshold is None else confidence >= threshold
    return Promise(
        threshold=threshold,
        answered=None if given is None else float(given.mean()),
        wrong=None if given is None else float((given & wrong).mean()),
        smallest_risk=float(promised[best]),
        at=float(told[best]),
        at_answered=float((confidence >= told[best]).mean()),
        lowest=float(told[0]),
        questions=len(losses),
    )
