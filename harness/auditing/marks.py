"""Marks: what each bot scored on each question, side by side, as an audit reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...knowledge.questions import Question
from ...reports.statistics.chance import Figures
from ...reports.summary import MetricColumn
from ..ground.answers import Answers
from ..ground.question_clusters import question_clusters

if TYPE_CHECKING:
    from ..ground.ground import QuestionGold


@dataclass(frozen=True)
class Marks:
    """The marks of some bots; a line for each question, a column for each bot.

    Attributes:
        column: the metric.
        keys: of the questions, in the order of their file.
        bots: in the order of the run.
        values: of the metric; NaN where a bot has none.
        right: 1 for a right answer, 0 for a wrong one; NaN where that can't be told.
        clusters: code of each question's cluster; see ``question_clusters``.
    """

    column: MetricColumn
    keys: tuple[str, ...]
    bots: tuple[str, ...]
    values: Figures
    right: Figures
    clusters: NDArray[np.intp]

    @cached_property
    def goodness(self) -> Figures:
        """The values turned so that higher is better.

        Where no bot has any, as on an unanswerable question without an expected answer, right and wrong stand for them
        if the metric goes from 0 to 1.
        """
        turned = self.values if self.column.better == "higher" else -self.values
        bare = np.asarray(~np.isfinite(turned).any(axis=1))
        if not self._is_share:
            return turned
        return np.where(bare[:, None], self.right if self.column.better == "higher" else self.right - 1, turned)

    @property
    def _is_share(self) -> bool:
        return (self.column.low, self.column.high) == (0, 1)

    @cached_property
    def reach(self) -> float:
        """How far two values can be apart: the metric's range, else that of what was seen; never 0."""
        seen = self.values[np.isfinite(self.values)]
        span = float(seen.max() - seen.min()) if len(seen) else 0.0
        if self.column.low is not None and self.column.high is not None:
            span = max(span, float(self.column.high - self.column.low))
        return span or 1.0

    @cached_property
    def complete(self) -> NDArray[np.intp]:
        """Lines of the questions on which the metric has a value for every bot: those that bots are ranked by."""
        return np.flatnonzero(np.isfinite(self.values).all(axis=1)) if self.bots else np.empty(0, np.intp)


def marks_of(
    questions: Sequence[Question], answers: Answers, gold: Mapping[str, QuestionGold] | None = None
) -> Marks:  # fmt: skip
    """Put the answers of all bots side by side; bots without any value are left out.

    Args:
        questions: in the order of the lines.
        answers: of all bots.
        gold: where the answers stand, by key, which decides on clusters; None where that is not known.
    """
    keys = tuple(question.id for question in questions)
    lines = {key: line for line, key in enumerate(keys)}
    columns = {bot: column for column, bot in enumerate(answers.bots)}
    values = np.full((len(keys), len(columns)), np.nan)
    right = np.full_like(values, np.nan)
    for row in answers.rows:
        if row.question not in lines:
            continue
        place = lines[row.question], columns[row.bot]
        values[place] = np.nan if row.value is None else row.value
        right[place] = np.nan if row.right is None else float(row.right)
    there = np.isfinite(values).any(axis=0)
    bots = tuple(bot for bot, has in zip(answers.bots, there.tolist(), strict=True) if has)
    clusters = question_clusters(questions, gold or {})
    return Marks(answers.metric, keys, bots, values[:, there], right[:, there], clusters)


def shares_of_tags(questions: Mapping[str, Question], keys: Sequence[str], least: float, most: int) -> Figures:
    """Which question has which of the commonest tags: of shape (questions, tags), 0 or 1.

    Args:
        questions: by key.
        keys: those to look at.
        least: share of the questions that a tag must stand on.
        most: tags at most.
    """
    tagged = [frozenset(questions[key].tags) for key in keys]
    counts: dict[str, int] = {}
    for tags in tagged:
        for tag in tags:
            counts[tag] = counts.get(tag, 0) + 1
    common = sorted((tag for tag in counts if counts[tag] >= least * len(keys)), key=lambda tag: (-counts[tag], tag))
    return np.array([[float(tag in tags) for tag in common[:most]] for tags in tagged]).reshape(len(keys), -1)
