"""Row scores: the scores of a bot in a run as arrays, one line for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .database import Store
from .figures import changes_of

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
SELECT run_rows.question_id, run_rows.repeat, run_rows.position, {values} FROM run_rows {joins}
WHERE run_rows.run_id = ? AND run_rows.bot_id = ?"""


class Rows(NamedTuple):
    """The rows of a bot, in the order of questions and repeats.

    Attributes:
        questions: keys of the questions in the database.
        repeats: from 0.
        positions: places among all that the bot is asked; -1 where that is not known.
    """

    questions: NDArray[np.int64]
    repeats: NDArray[np.int64]
    positions: NDArray[np.int64]


class RowScores(NamedTuple):
    """The scores of a bot's rows by one metric.

    Attributes:
        rows: all rows of the bot, those included that have no score.
        values: NaN where there is none.
        codes: see ``STATUSES``.
    """

    rows: Rows
    values: NDArray[np.float64]
    codes: NDArray[np.int8]


class RunScores:
    """Reads the scores of a run.

    Args:
        store: with the run.
        run_id: key of the run.
        keep: hold all that was read until rows or scores of the run are written; nine bytes a score.
    """

    def __init__(self, store: Store, run_id: int, keep: bool = False) -> None:
        self._store = store
        self._run_id = run_id
        self._keep = keep
        self._kept: dict[tuple[int, int], RowScores] = {}
        self._changes = -1

    def of(self, bot_id: int, metrics: Sequence[int]) -> Iterator[tuple[int, RowScores]]:
        """The scores of a bot by each of these metrics, by their keys; of one without any, no row has a code."""
        if self._keep and (changes := changes_of(self._store, self._run_id)) != self._changes:
            self._kept.clear()
            self._changes = changes
        missing = [metric for metric in metrics if (bot_id, metric) not in self._kept]
        yield from ((metric, self._kept[bot_id, metric]) for metric in metrics if metric not in missing)
        for start in range(0, len(missing), WIDTH):
            for metric, found in self._read(bot_id, missing[start : start + WIDTH]):
                if self._keep:
                    self._kept[bot_id, metric] = found
                yield metric, found

    def _read(self, bot_id: int, metrics: Sequence[int]) -> Iterator[tuple[int, RowScores]]:
        sql = _ROWS.format(values=", ".join(map(_VALUE.format, metrics)), joins="".join(map(_JOIN.format, metrics)))
        lines = self._store.connection.execute(sql, [self._run_id, bot_id])
        keys: list[NDArray[np.int64]] = []
        parts: list[NDArray[np.float64]] = []
        while found := lines.fetchmany(LINES):
            read = np.array(found, np.float64).T  # None is NaN, and keys are far below 2 ** 53
            keys.append(np.nan_to_num(read[:3], nan=-1).astype(np.int64))
            parts.append(read[3:].copy())
        if not parts:
            return
        rows = Rows(*np.concatenate(keys, axis=1))
        for place, metric in enumerate(metrics):
            values = np.concatenate([part[place] for part in parts])
            codes = np.zeros(len(values), np.int8)
            codes[np.isnan(values)] = ABSENT
            for number, code in _REASONS.items():
                codes[values == number] = code
            values[codes > 0] = np.nan
            yield metric, RowScores(rows, values, codes)
