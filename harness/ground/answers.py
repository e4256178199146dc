"""Answers: what the bots of a run said, what they read for it, and whether it is right."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from ... import InputError
from ...bots.base import Context
from ...metrics.judge.embedded.matching import refuses
from ...reports.comparing.run_tables import run_tables
from ...reports.comparing.score_table import ScoreTable
from ...reports.ledger import Ledger
from ...reports.reported_run import misses
from ...reports.run import RunMetric
from ...reports.store import Store
from ...reports.summary import MetricColumn, Summary, bot_keys, summarise
from ..suite.mistakes import nearest

Marking = TypeVar("Marking", MetricColumn, RunMetric)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one bot said to one question; of repeats the first, with the mean of their values.

    Attributes:
        bot: its name.
        question: key of the question.
        text: the answer; blank where there is none.
        contexts: what it was made from; None where the bot does not tell.
        value: of the metric; None where it has none.
        right: whether it is right; None where that can't be told. An unanswerable question is answered rightly by
            saying so.
        declined: whether the bot says that it does not know.
    """

    bot: str
    question: str
    text: str
    contexts: tuple[Context, ...] | None
    value: float | None
    right: bool | None
    declined: bool

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the documents that it was made from, each once, best first."""
        return tuple(dict.fromkeys(context.document for context in self.contexts or () if context.document))


@dataclass(frozen=True)
class Answers:
    """All answers of a run, and the metric that marks them; its threshold is never None."""

    run: str
    run_id: int
    metric: MetricColumn
    rows: tuple[Answer, ...]

    @cached_property
    def by_place(self) -> Mapping[tuple[str, str], Answer]:
        """By bot and key of the question."""
        return {(row.bot, row.question): row for row in self.rows}

    @cached_property
    def bots(self) -> tuple[str, ...]:
        """Names of the bots, in the order of the run."""
        return tuple(dict.fromkeys(row.bot for row in self.rows))

    def is_right(self, value: float | None) -> bool | None:
        """Whether a value of the metric is that of a right answer; None where there is none."""
        return None if value is None else not misses(value, self.metric)


def read_answers(store: Store, run_id: int, metric: str | None = None) -> Answers | None:
    """The answers of a run; None where no metric says by itself whether any of them is right.

    Args:
        store: the database.
        run_id: the run.
        metric: the metric that says so; None for the one that says it most directly.

    Raises:
        InputError: the run has no such metric, or the metric has no threshold and none can be assumed.
    """
    summary = summarise(store, run_id)
    marked = _leading(summary) if metric is None else marking_metric(metric, summary.metrics, f"Run {summary.run}")
    if marked is None:
        return None
    tables = run_tables(store, run_id, metrics=[marked.name])
    ids = bot_keys(store, run_id)
    ledger = Ledger(store)
    rows = [
        row for bot, table in tables.tables.items() for row in _rows(store, ledger, run_id, ids[bot], table, marked)
    ]
    return Answers(summary.run, run_id, marked, tuple(rows))


def _rows(
    store: Store, ledger: Ledger, run_id: int, bot_id: int, table: ScoreTable, column: MetricColumn
) -> Iterator[Answer]:
    replies = dict(
        store.query(
            "SELECT questions.key, reply_id FROM run_rows JOIN questions ON questions.id = question_id"
            " WHERE run_id = ? AND run_rows.bot_id = ? AND repeat = 0",
            [run_id, bot_id],
        )
    )
    for place, case in enumerate(table.cases):
        if case.key not in replies or not table.answered[place].any():
            continue
        reply = ledger.load_reply(replies[case.key])
        values = [value for value in table.values[column.name][place].tolist() if not math.isnan(value)]
        value = math.fsum(values) / len(values) if values else None
        text = reply.answer or ""
        declined = refuses(text) if reply.declined is None else reply.declined
        right = None if value is None else not misses(value, column)
        if case.answerable is False:
            right = declined
        yield Answer(table.bot, case.key, text, reply.contexts, value, right, declined)


def marking_metric(metric: str, columns: Iterable[Marking], whose: str) -> Marking:
    """The metric of that name, with what an answer must reach to be right.

    Args:
        metric: its name.
        columns: all metrics of a run.
        whose: they are, to begin a sentence with.

    Raises:
        InputError: there is no such metric, or it has no threshold and none can be assumed.
    """
    known = {column.name: column for column in columns if column.level == "row" and column.better != "neither"}
    if metric not in known:
        raise InputError(
            f"{whose} has no metric {metric!r} that says whether an answer is right{nearest(metric, known)}"
        )
    found = _with_threshold(known[metric])
    if found is None:
        raise InputError(
            f"{metric} has no threshold, so nothing tells a right answer from a wrong one. Add to the suite: "
            f"thresholds: {{{metric}: 0.5}}, or name another metric with --metric."
        )
    return found


def _leading(summary: Summary) -> MetricColumn | None:
    return None if summary.primary is None else _with_threshold(summary.primary.column)


def _with_threshold(column: Marking) -> Marking | None:
    """The metric with what an answer must reach: its threshold, else the middle of its range; None without either."""
    if column.threshold is not None:
        return column
    if column.low is None or column.high is None:
        return None
    return replace(column, threshold=(column.low + column.high) / 2)
