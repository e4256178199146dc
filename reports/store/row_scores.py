"""Row scores: the scores of a bot in a run as arrays, one line for each row and one column for each metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .database import Store

# What ``RowScores.codes`` contains: a place in this list, or ABSENT where the row has no score of the metric.
STATUSES: Final = ("ok", "not_applicable", "parse_failure", "bot_error", "error")
ABSENT: Final = -1
CODES: Final = {status: code for code, status in enumerate(STATUSES)}

LINES: Final = 10_000  # of rows that are read at a time: all at once would be the whole run as Python's own numbers
WIDTH: Final = 16  # metrics that are read at a time: SQLite joins 64 tables at most

# A line of a table costs more to hand over than to find, so all scores of a row come in one. Where there is no value,
# a number that no metric reaches says why.
_REASONS: Final = {code * 1e307: code for code in CODES.values() if code}
_ENCODED: Final = " ".join(f"WHEN '{STATUSES[code]}' THEN {number!r}" for number, code in _REASONS.items())
_VALUE: Final = f"IFNULL(s{{0}}.value, CASE s{{0}}.status {_ENCODED} END)"
_JOIN: Final = """
LEFT JOIN scores AS s{0} ON s{0}.reply_id = run_rows.reply_id AND s{0}.question_id = run_rows.question_id
    AND s{0}.metric_id = {0:d}"""
_ROWS: Final = """
SELECT run_rows.question_id, run_rows.repeat, {values} FROM run_rows {joins}
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""


class RowScores(NamedTuple):
    """Scores of some rows; arrays of one line for each row, ``values`` and ``codes`` with a column for each metric.

    Attributes:
        metrics: keys of the metrics.
        questions: keys of the questions in the database.
        repeats: from 0.
        values: NaN where there is none.
        codes: see ``STATUSES``.
    """

    metrics: Sequence[int]
    questions: NDArray[np.int64]
    repeats: NDArray[np.int64]
    values: NDArray[np.float64]
    codes: NDArray[np.int8]


def row_scores(store: Store, run_id: int, bot_id: int, metrics: Sequence[int]) -> Iterator[RowScores]:
    """The scores of a bot by some metrics: some metrics at a time, and of these some rows, in the order of questions.

    Args:
        store: with the run.
        run_id: key of the run.
        bot_id: key of the bot.
        metrics: their keys.
    """
    for start in range(0, len(metrics), WIDTH):
        some = metrics[start : start + WIDTH]
        sql = _ROWS.format(values=", ".join(map(_VALUE.format, some)), joins="".join(map(_JOIN.format, some)))
        lines = store.connection.execute(sql, [run_id, bot_id])
        while found := lines.fetchmany(LINES):
            read = np.array(found, np.float64)  # None is NaN, and keys are far below 2 ** 53
            figures = read[:, 2:]
            codes = np.zeros(figures.shape, np.int8)
            codes[np.isnan(figures)] = ABSENT
            for number, code in _REASONS.items():
                codes[figures == number] = code
            figures[codes > 0] = np.nan
            yield RowScores(some, read[:, 0].astype(np.int64), read[:, 1].astype(np.int64), figures, codes)
