"""Risk and coverage: how wrong the answers are when only the most confident ones are given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparing.score_table import Figures, Flags


@dataclass(frozen=True)
class RiskCoverage:
    """The curve over k = 1, 2, ... of the most confident answers.

    Attributes:
        coverage: share of all questions that are answered, of shape (answers,).
        risk: share of those answers that are wrong. Among equal confidences it is the mean over all orders.
        thresholds: the least confidence among them.
        aurc: area under the curve: the mean risk over k.
        best_aurc: that of the best possible order, all right answers first.
        random_aurc: that of answers in random order: the share that is wrong.
        answers: how many there are.
        questions: how many there could have been.
    """

    coverage: Figures
    risk: Figures
    thresholds: Figures
    aurc: float
    best_aurc: float
    random_aurc: float
    answers: int
    questions: int

    def at(self, coverage: float) -> float | None:
        """Risk when that share of all questions is answered; None beyond what the bot answers."""
        answers = round(coverage * self.questions)
        return float(self.risk[answers - 1]) if 1 <= answers <= self.answers else None


def risk_coverage(wrong: Flags, confidence: Figures, questions: int) -> RiskCoverage | None:
    """The curve of some answers; None without any.

    Answers that the bot kept to itself are not among them: what it would have said is not on record, so the curve ends
    at the share that it answered, and the area is the mean over the answers that there are.

    Args:
        wrong: of each answer.
        confidence: of each answer, without NaN.
        questions: all that were asked, answered or not.

    Source: El-Yaniv and Wiener 2010 (risk and coverage); Geifman, Uziel and El-Yaniv 2019 (AURC and its least value).
    """
    if not len(wrong):
        return None
    levels, codes = np.unique(-confidence, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    rates = np.bincount(codes, weights=wrong) / sizes
    order = np.sort(codes)  # the answers, most confident first, each with the share that is wrong at its confidence
    number = np.arange(1, len(wrong) + 1)
    risk = np.cumsum(rates[order]) / number
    ideal = np.cumsum(np.sort(wrong.astype(np.float64))) / number
    return RiskCoverage(
        coverage=number / questions,
        risk=risk,
        thresholds=-levels[order],
        aurc=float(risk.mean()),
        best_aurc=float(ideal.mean()),
        random_aurc=float(wrong.mean()),
        answers=len(wrong),
        questions=questions,
    )
