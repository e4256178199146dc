"""Run tables: the scores of a run, read from its database."""

from __future__ import annotations

import contextlib
import hashlib
import math
import sqlite3
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from ...knowledge.questions import Question
from ..encoding import question_columns, to_json
from ..store import Store, explain
from ..summary import MetricColumn, metric_columns
from .score_table import ABSENT, CODES, Case, Figures, RunFigure, RunTables, ScoreTable, said_hash

CASES: Final = """
SELECT questions.id, key, text, expected, constraints, evidence, tags, source_document, answerable, extra
FROM questions JOIN (
    SELECT question_id, MIN(position) AS place FROM run_rows WHERE run_id = ? GROUP BY question_id
) ON question_id = questions.id ORDER BY place, questions.id"""

ROWS: Final = """
SELECT question_id, run_rows.repeat, status, latency_ms, cost, declined, answer FROM run_rows
JOIN replies ON replies.id = reply_id WHERE run_id = ? AND run_rows.bot_id = ?"""

SCORES: Final = """
SELECT run_rows.question_id, run_rows.repeat, scores.metric_id, value, scores.status FROM run_rows
JOIN run_metrics ON run_metrics.run_id = run_rows.run_id
JOIN scores ON scores.reply_id = run_rows.reply_id AND scores.question_id = run_rows.question_id
    AND scores.metric_id = run_metrics.metric_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND run_metrics.metric_id IN (SELECT value FROM json_each(?))"""

OF_RUN: Final = """
SELECT value, name, version, better, low, high, threshold, level, aggregate, is_default FROM run_scores
JOIN run_metrics ON run_metrics.run_id = run_scores.run_id AND run_metrics.metric_id = run_scores.metric_id
JOIN metrics ON metrics.id = run_scores.metric_id WHERE run_scores.run_id = ? AND bot_id = ?"""

ANSWER: Final = """
SELECT answer FROM run_rows JOIN replies ON replies.id = reply_id
WHERE run_id = ? AND run_rows.bot_id = ? AND question_id = ? AND run_rows.repeat = ?"""


def run_tables(
    store: Store, run_id: int, bots: Collection[str] | None = None, metrics: Collection[str] | None = None
) -> RunTables:
    """Read a run; ``bots`` and ``metrics`` name those that are wanted, None means all.

    The store stays open for its answers.

    Raises:
        StoreError: the database is damaged.
    """
    with _one_moment(store):
        return _read(store, run_id, bots, metrics)


@contextlib.contextmanager
def _one_moment(store: Store) -> Iterator[None]:
    """Everything is read as it stood at the first look, even while a run goes on and adds questions."""
    store.query("SAVEPOINT one_moment")
    try:
        yield
    except sqlite3.Error as error:
        raise explain(store.path, error) from error
    finally:
        store.query("RELEASE one_moment")


def _read(store: Store, run_id: int, bots: Collection[str] | None, metrics: Collection[str] | None) -> RunTables:
    name, suite, status, manifest = store.query(
        "SELECT name, suite, status, manifest FROM runs WHERE id = ?", [run_id]
    )[0]
    lines = store.query(CASES, [run_id])
    places = {line[0]: place for place, line in enumerate(lines)}
    cases = tuple(_case(*line[1:]) for line in lines)
    ((most,),) = store.query("SELECT MAX(repeat) FROM run_rows WHERE run_id = ?", [run_id])
    frame = _Frame(
        store, run_id, str(name), cases, places, 1 if most is None else int(most) + 1, _columns(store, run_id, metrics),
        {case.key: line[0] for case, line in zip(cases, lines, strict=True)},
    )  # fmt: skip
    bots_of_run = store.query(
        "SELECT bot_id, name, fingerprint, kind, model, embedded FROM run_bots JOIN bots ON bots.id = bot_id"
        " WHERE run_id = ? ORDER BY position",
        [run_id],
    )
    tables = {str(line[1]): frame.table(*line) for line in bots_of_run if bots is None or line[1] in bots}
    return RunTables(str(store.path), str(name), str(suite), str(status), orjson.loads(manifest), tables)


def _columns(store: Store, run_id: int, wanted: Collection[str] | None) -> dict[int, MetricColumn]:
    """The metrics of rows by their ids; figures of a whole run have nothing to pair."""
    return {
        metric_id: column
        for metric_id, column in metric_columns(store, run_id).items()
        if column.level == "row" and (wanted is None or column.name in wanted)
    }


def case_of(question: Question) -> Case:
    """A question as comparisons see it, before it stands in any run."""
    columns: tuple[Any, ...] = question_columns(question)[1:]
    return _case(*columns)


def _case(
    key: str, text: str, expected: str, constraints: str, evidence: str, tags: str, source_document: str,
    answerable: int | None, extra: str | None,
) -> Case:  # fmt: skip
    # A quote has as many members as places; how many these are today, or whether any, is no matter of the question.
    groups = [[(one.get("document"), one.get("quote")) for one in group] for group in orjson.loads(evidence or "[]")]
    quotes = [list(dict.fromkeys(group)) for group in groups]
    marked_by = to_json([text, orjson.loads(expected or "[]"), orjson.loads(constraints or "[]"), quotes, answerable])
    return Case(
        key=str(key),
        text=str(text),
        yardstick=hashlib.blake2b(marked_by.encode("utf-8", "replace"), digest_size=16).hexdigest(),
        source_document=source_document or "",
        tags=tuple(orjson.loads(tags or "[]")),
        answerable=None if answerable is None else bool(answerable),
        extra=orjson.loads(extra) if extra else {},
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the tables of one run share."""

    store: Store
    run_id: int
    run: str
    cases: tuple[Case, ...]
    places: Mapping[int, int]
    repeats: int
    columns: Mapping[int, MetricColumn]
    ids: Mapping[str, int]  # of the questions, by their keys

    def table(self, bot_id: int, bot: str, fingerprint: str, kind: str, model: str | None, embedded: int) -> ScoreTable:
        """The table of one bot."""
        lines = self.store.connection.execute(ROWS, [self.run_id, bot_id])
        rows = [(*line[:6], said_hash(line[6])) for line in lines]  # the texts stay on disk
        at = self._at(rows)
        status = [row[2] for row in rows]
        values, statuses = self._scores(bot_id)
        return ScoreTable(
            run=self.run, bot=bot, fingerprint=fingerprint, kind=kind, model=model, embedded=bool(embedded),
            cases=self.cases, columns={column.name: column for column in self.columns.values()}, values=values,
            statuses=statuses, asked=self._filled(at, [True] * len(rows), False, np.bool_),
            answered=self._filled(at, [each == "answered" for each in status], False, np.bool_),
            timed_out=self._filled(at, [each == "timed_out" for each in status], False, np.bool_),
            latency_ms=self._filled(at, [_figure(row[3]) for row in rows], np.nan, np.float64),
            cost=self._filled(at, [_figure(row[4]) for row in rows], np.nan, np.float64),
            declined=self._filled(at, [-1 if row[5] is None else row[5] for row in rows], -1, np.int8),
            said=self._filled(at, [row[6] for row in rows], 0, np.uint64),
            answers=partial(_answer, self.store, self.run_id, bot_id, self.ids),
            of_run={
                str(column[0]): RunFigure(replace(MetricColumn(*column), threshold_is_default=bool(is_default)), value)
                for value, *column, is_default in self.store.query(OF_RUN, [self.run_id, bot_id])
            },
        )  # fmt: skip

    def _scores(self, bot_id: int) -> tuple[dict[str, Figures], dict[str, NDArray[np.int8]]]:
        """Values and statuses by metric; plain arrays take single figures three times as fast as numpy's."""
        size = len(self.cases) * self.repeats
        values = {metric: array("d", [math.nan]) * size for metric in self.columns}
        statuses = {metric: array("b", [ABSENT]) * size for metric in self.columns}
        found = self.store.connection.execute(SCORES, [self.run_id, bot_id, to_json(list(self.columns))])
        for question, repeat, metric, value, how in found:
            place = self.places[question] * self.repeats + repeat
            statuses[metric][place] = CODES[how]
            if value is not None:
                values[metric][place] = value
            elif how == "parse_failure" and self.columns[metric].aggregate == "rate":
                values[metric][place] = 0.0
        names = {metric: column.name for metric, column in self.columns.items()}
        return (
            {names[metric]: np.array(each).reshape(self._shape) for metric, each in values.items()},
            {names[metric]: np.array(each, np.int8).reshape(self._shape) for metric, each in statuses.items()},
        )

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.cases), self.repeats

    def _at(self, rows: Iterable[tuple[Any, ...]]) -> tuple[list[int], list[int]]:
        return [self.places[row[0]] for row in rows], [row[1] for row in rows]

    def _filled(self, at: tuple[list[int], list[int]], given: list[Any], blank: object, kind: type[Any]) -> Any:  # noqa: ANN401 - an array of that kind
        made = np.full(self._shape, blank, kind)
        made[at] = given
        return made


def _figure(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _answer(store: Store, run_id: int, bot_id: int, ids: Mapping[str, int], key: str, repeat: int) -> str | None:
    """By the id of the question: looking for its key would read the whole run for every answer."""
    found = store.query(ANSWER, [run_id, bot_id, ids.get(key), repeat])
    return None if not found or found[0][0] is None else str(found[0][0])
