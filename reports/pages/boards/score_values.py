"""Score values: what the metrics say of each row of a run, as arrays, read in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...reported_run import ReportedRun

SCORES: Final = """
SELECT scores.metric_id, run_rows.question_id, value, scores.status = 'parse_failure' FROM run_rows
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""
LINE: Final = np.dtype([("metric", "i8"), ("question", "i8"), ("value", "f8"), ("is_unreadable", "?")])


@dataclass(frozen=True, slots=True)
class RowScores:
    """One metric of one bot, a place for each row of which it says anything.

    Attributes:
        questions: keys of the questions in the database; a question stands there once for each repeat.
        values: NaN where there is none.
        is_unreadable: whether that is because the judge could not be read.
    """

    questions: NDArray[np.int64]
    values: NDArray[np.float64]
    is_unreadable: NDArray[np.bool_]

    @property
    def known(self) -> NDArray[np.float64]:
        """The values that there are."""
        return self.values[np.isfinite(self.values)]

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return len(self.values) - len(self.known)


ScoreValues = dict[tuple[str, str], RowScores]


def score_values(run: ReportedRun) -> ScoreValues:
    """By bot and metric, for the metrics of the run that have a value for each row."""
    return {key: scores for bot in run.bot_ids for key, scores in _of_bot(run, bot)}


def _of_bot(run: ReportedRun, bot: str) -> Iterator[tuple[tuple[str, str], RowScores]]:
    # 25 bytes a score: a million of them are never in memory as Python's own numbers.
    lines = run.store.connection.execute(SCORES, [run.id, run.bot_ids[bot]])
    read = np.fromiter(lines, dtype=LINE)
    read = read[np.argsort(read["metric"], kind="stable")]
    for name, metric in run.metric_ids.items():
        first, end = np.searchsorted(read["metric"], [metric, metric + 1])
        if first < end:
            own = read[first:end]
            yield (bot, name), RowScores(own["question"], own["value"], own["is_unreadable"])
