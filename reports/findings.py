"""Findings: the problems and insights of a run, worked out once, kept in the database and read from there."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from .encoding import to_json
from .insights import Insight, insights_of
from .problem import Problem
from .problems import problems_of
from .reported_run import ReportedRun, open_reported
from .robustness.reworded_runs import source_run
from .row_keys import RowKey
from .store import Store, explain, marks
from .summary import Summary


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong in a run, worst first, and what else is worth knowing of it."""

    problems: tuple[Problem, ...] = ()
    insights: tuple[Insight, ...] = ()


def findings_of(run: ReportedRun) -> Findings:
    """Those that are kept; worked out anew where rows came since, without keeping them."""
    return _load(run) if _are_current(run) else _work_out(run)


def keep_findings(store: Store, run_id: int, summary: Summary | None = None) -> Findings:
    """Work the findings out and keep them in place of older ones; those that still hold are only read.

    Raises:
        StoreError: they can't be written.
    """
    run = open_reported(store, run_id, summary)
    if _are_current(run):
        return _load(run)
    found = _work_out(run)
    try:
        _keep(run, found)
    except sqlite3.Error as error:
        if store.connection.in_transaction:
            store.connection.execute("ROLLBACK")
        raise explain(store.path, error) from error
    return found


def problem_object(problem: Problem) -> dict[str, object]:
    """A problem for machines."""
    return {
        "id": problem.id,
        "severity": problem.severity,
        "type": problem.type,
        "evaluator": problem.evaluator,
        "metric": problem.metric,
        "bot": problem.bot,
        "threshold": problem.threshold,
        "value": problem.value,
        "rows": [row._asdict() for row in problem.rows],
        "row_count": problem.row_count,
        "what": problem.what,
        "action": problem.action,
    }


def insight_object(insight: Insight) -> dict[str, object]:
    """An insight for machines."""
    return {
        "id": insight.id,
        "type": insight.type,
        "evaluator": insight.evaluator,
        "metric": insight.metric,
        "bot": insight.bot,
        "text": insight.text,
        "details": dict(insight.details),
    }


def _work_out(run: ReportedRun) -> Findings:
    return Findings(problems_of(run), insights_of(run))


RULES = "5"  # changed with the rules of problems and insights, so that kept ones are worked out again


def _key(run: ReportedRun) -> str:
    """Hash of all that findings rest on apart from rows and scores, which clear the column when they are written."""
    evaluators = [asdict(evaluator) for evaluator in run.evaluators]
    problems = [bot.problem for bot in run.bots]
    defaults = [name for name, column in run.columns.items() if column.threshold_is_default]
    return hashlib.sha256(to_json([RULES, evaluators, problems, defaults, *_source(run)]).encode()).hexdigest()


def _source(run: ReportedRun) -> list[object]:
    """The run that rewordings of this one are held against, and when it ended last, which changes with its rows."""
    source = source_run(run.store, run.id)
    if source in (None, run.id):
        return []
    return list(run.store.query("SELECT id, finished_at FROM runs WHERE id = ?", [source])[0])


def _are_current(run: ReportedRun) -> bool:
    return bool(run.store.query("SELECT findings_of = ? FROM runs WHERE id = ?", [_key(run), run.id])[0][0])


def _keep(run: ReportedRun, found: Findings) -> None:
    connection = run.store.connection
    connection.execute("BEGIN IMMEDIATE")
    for table in ("problems", "insights"):
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run.id])
    _insert(connection, "problems", PROBLEM_COLUMNS, [_problem_columns(run, each) for each in found.problems])
    _insert(connection, "insights", INSIGHT_COLUMNS, [_insight_columns(run, each) for each in found.insights])
    connection.execute("UPDATE runs SET findings_of = ? WHERE id = ?", [_key(run), run.id])
    connection.execute("COMMIT")


PROBLEM_COLUMNS = (
    "run_id, position, severity, type, evaluator, metric, bot_id, threshold, value, rows, row_count, what, action"
)
INSIGHT_COLUMNS = "run_id, position, type, evaluator, metric, bot_id, text, details"


def _insert(connection: sqlite3.Connection, table: str, names: str, lines: Sequence[Sequence[object]]) -> None:
    if lines:
        connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks(lines[0])})", lines)


def _problem_columns(run: ReportedRun, problem: Problem) -> tuple[object, ...]:
    rows = to_json([row._asdict() for row in problem.rows])
    bot_id = run.bot_ids.get(problem.bot or "")
    return (
        run.id, problem.id, problem.severity, problem.type, problem.evaluator, problem.metric, bot_id,
        problem.threshold, problem.value, rows, problem.row_count, problem.what, problem.action,
    )  # fmt: skip


def _insight_columns(run: ReportedRun, insight: Insight) -> tuple[object, ...]:
    bot_id = run.bot_ids.get(insight.bot or "")
    return (
        run.id, insight.id, insight.type, insight.evaluator, insight.metric, bot_id, insight.text,
        to_json(insight.details),
    )  # fmt: skip


def _load(run: ReportedRun) -> Findings:
    problems = run.store.query(
        "SELECT severity, type, evaluator, metric, bots.name, threshold, value, rows, row_count, what, action, position"
        " FROM problems LEFT JOIN bots ON bots.id = bot_id WHERE run_id = ? ORDER BY position",
        [run.id],
    )
    insights = run.store.query(
        "SELECT type, evaluator, metric, bots.name, text, details, position"
        " FROM insights LEFT JOIN bots ON bots.id = bot_id WHERE run_id = ? ORDER BY position",
        [run.id],
    )
    return Findings(tuple(map(_problem, problems)), tuple(map(_insight, insights)))


def _problem(line: Sequence[Any]) -> Problem:
    severity, type, evaluator, metric, bot, threshold, value, rows, row_count, what, action, position = line
    keys = tuple(RowKey(**row) for row in orjson.loads(rows))
    return Problem(
        severity, type, evaluator, metric, bot, threshold, value, keys, row_count, what, action, position
    )  # fmt: skip


def _insight(line: Sequence[Any]) -> Insight:
    type, evaluator, metric, bot, text, details, position = line
    return Insight(type, evaluator, metric, bot, text, orjson.loads(details), position)
