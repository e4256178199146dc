"""Audit: whether the questions are fit to decide by, which of them tell bots apart, and how few would do."""

from __future__ import annotations

from dataclasses import dataclass

from .finding import Finding


@dataclass(frozen=True, slots=True)
class QuestionAudit:
    """One question as a measuring instrument.

    Attributes:
        question: its key.
        values: how many bots have a value on it.
        difficulty: share of these bots that are wrong; None without any.
        spread: range of the bots' values (0: it tells no two bots apart); None with fewer than two.
        discrimination: correlation of its values with the bots' means over the other questions, from -1 to 1 (negative:
            better bots do worse); None with fewer than three bots or where nothing varies.
        telling: whether it tells bots apart.
    """

    question: str
    values: int
    difficulty: float | None = None
    spread: float | None = None
    discrimination: float | None = None
    telling: bool = False


@dataclass(frozen=True, slots=True)
class Subset:
    """The fewest questions that keep the ranking of the bots.

    Attributes:
        questions: their keys, most telling first.
        of: how many there are in all.
        agreement: Kendall's tau-b of the bots' means on it with those on all questions.
        error: greatest difference of a bot's mean on it from that on all questions.
        error_elsewhere: the same, chosen on half of the clusters and measured on the other; what to expect of new ones.
        agreement_elsewhere: likewise of tau.
        error_unseen: error of the mean of a bot that took no part in the choice, each left out in turn; what to expect
            of a bot that has changed.
        error_random: the same of as many questions drawn by chance; what choosing them is worth.
        firm_pairs: pairs of bots that all questions tell apart, whose order it keeps; the others may change places.
    """

    questions: tuple[str, ...]
    of: int
    agreement: float
    error: float
    error_elsewhere: float | None = None
    agreement_elsewhere: float | None = None
    error_unseen: float | None = None
    error_random: float | None = None
    firm_pairs: int | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """What is to be said of a question set.

    Attributes:
        findings: duplicates, leaks, contradicted answers, suspect gold.
        questions: each question as an instrument.
        subset: None with fewer than two bots, or where no subset keeps the ranking.
        metric: the metric that bots are ranked by; blank without answers.
        warnings: what could not be looked at, and why.
    """

    findings: tuple[Finding, ...] = ()
    questions: tuple[QuestionAudit, ...] = ()
    subset: Subset | None = None
    metric: str = ""
    warnings: tuple[str, ...] = ()
