"""Abstention: answers and refusals as right or wrong, by whether the question can be answered, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...metrics.score import passed
from ..comparing.clustered_mean import Mean, clustered_mean
from ..comparing.score_table import Figures, ScoreTable
from ..summary import MetricColumn
from ..thresholds import bound

OUTCOMES: Final = ("right", "wrong", "declined_rightly", "declined_wrongly")
RIGHT, WRONG, DECLINED_RIGHTLY, DECLINED_WRONGLY = range(4)
NONE: Final = -1  # of a row that has no outcome

Codes = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Costs:
    """What each outcome costs, in whatever unit; less is better, and a negative cost is a gain."""

    right: float = 0.0
    wrong: float = 1.0
    declined_rightly: float = 0.0
    declined_wrongly: float = 0.3

    @property
    def each(self) -> tuple[float, float, float, float]:
        """In the order of ``OUTCOMES``."""
        return self.right, self.wrong, self.declined_rightly, self.declined_wrongly


@dataclass(frozen=True, slots=True)
class Rule:
    """What makes an answer right: that a metric passes a threshold."""

    column: MetricColumn
    threshold: float

    @property
    def sentence(self) -> str:
        """As people read it."""
        return f"{self.column.name} is {bound(self.column, self.threshold)}"


@dataclass(frozen=True)
class Abstention:
    """What a bot answered and what it declined.

    Attributes:
        bot: its name.
        outcomes: of shape (questions, repeats): a place in ``OUTCOMES``, or NONE.
        counts: rows of each outcome.
        rates: share of the rows with an outcome, with a 95 % interval.
        cost: expected cost of a question, with a 95 % interval.
        rows: how many have an outcome.
        failed: rows of questions that count on which the bot gave no answer at all, which have no outcome.
        unmarked: answers to answerable questions of which the metric says nothing, which have no outcome.
        tells: whether the bot says when it declines; one that does not is counted as answering.
    """

    bot: str
    outcomes: Codes
    counts: Mapping[str, int]
    rates: Mapping[str, Mean]
    cost: Mean
    rows: int
    failed: int
    unmarked: int
    tells: bool


def outcomes_of(table: ScoreTable, rule: Rule) -> Codes:
    """The outcome of each row: a place in ``OUTCOMES``, or NONE where it is not known.

    An answer to a question that can't be answered is wrong, whatever the metric says; a bot that does not tell whether
    it declines is taken to answer.
    """
    answerable = _answerable(table)
    passes = _passes(table.values[rule.column.name], rule)
    declined = table.declined == 1
    made = np.full(table.asked.shape, NONE, np.int8)
    made[declined & (answerable == 0)] = DECLINED_RIGHTLY
    made[declined & (answerable == 1)] = DECLINED_WRONGLY
    made[~declined & (answerable == 0)] = WRONG
    made[~declined & (answerable == 1) & (passes == 1)] = RIGHT
    made[~declined & (answerable == 1) & (passes == 0)] = WRONG
    made[~table.answered] = NONE
    return made


def abstention(table: ScoreTable, rule: Rule, costs: Costs, clusters: NDArray[np.intp]) -> Abstention | None:
    """Add up the outcomes of a bot; None where no row has one.

    Args:
        table: the bot's scores.
        rule: what makes an answer right.
        costs: of the outcomes.
        clusters: code of the cluster of each case.
    """
    outcomes = outcomes_of(table, rule)
    known = outcomes != NONE
    if not known.any():
        return None
    codes, where = outcomes[known], np.broadcast_to(clusters[:, None], outcomes.shape)[known]
    counts = {name: int((codes == code).sum()) for code, name in enumerate(OUTCOMES)}
    rates = {
        name: clustered_mean((codes == code).astype(np.float64), where, 0.0, 1.0) for code, name in enumerate(OUTCOMES)
    }
    counted = table.asked & (_answerable(table) >= 0)
    return Abstention(
        bot=table.bot,
        outcomes=outcomes,
        counts=counts,
        rates=rates,
        cost=clustered_mean(costs_of(codes, costs), where, min(costs.each), max(costs.each)),
        rows=len(codes),
        failed=int((counted & ~table.answered).sum()),
        unmarked=int((counted & table.answered & ~known).sum()),
        tells=bool((table.declined[table.answered] >= 0).any()),
    )


def costs_of(outcomes: Codes, costs: Costs) -> Figures:
    """The cost of each row; NaN where it has no outcome."""
    return np.append(np.asarray(costs.each, np.float64), np.nan)[outcomes]


def _answerable(table: ScoreTable) -> NDArray[np.int8]:
    """A line a question: 1, 0, or -1 where the question set does not say."""
    told = [-1 if case.answerable is None else int(case.answerable) for case in table.cases]
    return np.broadcast_to(np.array(told, np.int8)[:, None], table.asked.shape)


def _passes(values: Figures, rule: Rule) -> NDArray[np.int8]:
    """1 or 0, and -1 where there is no value."""
    made = [
        -1 if np.isnan(value) else int(bool(passed(float(value), rule.threshold, rule.column.better)))
        for value in values.ravel()
    ]
    return np.array(made, np.int8).reshape(values.shape)
