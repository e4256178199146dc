"""Report: all that is told of a run: its boards, its findings and how it came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import orjson

from .boards import Board, board_of, boards_of
from .findings import Findings, findings_of
from .insights import Insight
from .problem import Problem
from .reported_run import ReportedRun, open_reported
from .run import RunEvaluator
from .store import Store

Found = TypeVar("Found", Problem, Insight)
# Figures that a clock gave: they differ between two runs that are equal in all else.
TIMED_METRICS = frozenset({"latency_ms", "judge_latency_ms"})


@dataclass(frozen=True, slots=True)
class BotRecord:
    """What a bot was made of."""

    name: str
    kind: str
    model: str | None
    embedded: bool
    settings: Mapping[str, Any]
    prompts: Mapping[str, str]
    parts: Mapping[str, str]
    models: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Report:
    """A run as it is written to files. ``timed`` tells whether names, dates and measured times are part of it."""

    run: ReportedRun
    boards: tuple[Board, ...]
    findings: Findings
    bots: tuple[BotRecord, ...]
    manifest: Mapping[str, Any]
    started_at: str
    finished_at: str | None
    timed: bool = True

    @property
    def metrics(self) -> list[str]:
        """The metrics of the report, in the order of the suite."""
        return [name for name in self.run.columns if self.timed or name not in TIMED_METRICS]


def make_report(store: Store, run_id: int) -> Report:
    """Read a run; its rows stay in the database until they are written."""
    run = open_reported(store, run_id)
    manifest, started_at, finished_at = store.query(
        "SELECT manifest, started_at, finished_at FROM runs WHERE id = ?", [run_id]
    )[0]
    boards = boards_of(run)
    bots = store.query(
        "SELECT name, kind, model, embedded, settings, prompts, parts, models FROM run_bots"
        " JOIN bots ON bots.id = bot_id WHERE run_id = ? ORDER BY position",
        [run_id],
    )
    records = tuple(_bot_record(line) for line in bots)
    return Report(run, boards, findings_of(run), records, orjson.loads(manifest), started_at, finished_at)


def _bot_record(line: Sequence[Any]) -> BotRecord:
    name, kind, model, embedded, *written = line
    settings, prompts, parts, models = map(orjson.loads, written)
    return BotRecord(name, kind, model, bool(embedded), settings, prompts, parts, models)


def without_times(report: Report) -> Report:
    """The report without run name, dates and measured times: equal for equal runs."""
    run = report.run
    evaluators = tuple(kept for evaluator in run.evaluators if (kept := _untimed(evaluator)) is not None)
    boards = {board.evaluator.id: board for board in report.boards}
    return replace(
        report,
        run=replace(run, evaluators=evaluators),
        boards=tuple(
            board if (board := boards[each.id]).evaluator == each else board_of(run, each) for each in evaluators
        ),
        findings=Findings(_numbered(report.findings.problems), _numbered(report.findings.insights)),
        timed=False,
    )


def _untimed(evaluator: RunEvaluator) -> RunEvaluator | None:
    """The evaluator without its timed metrics; None when nothing is left, or nothing to rank by."""
    metrics = tuple(metric for metric in evaluator.metrics if metric not in TIMED_METRICS)
    if not metrics:
        return None
    primary = evaluator.primary if evaluator.primary not in TIMED_METRICS else metrics[0]
    return replace(evaluator, metrics=metrics, primary=primary)


def _numbered(found: tuple[Found, ...]) -> tuple[Found, ...]:
    kept = [each for each in found if each.metric not in TIMED_METRICS]
    return tuple(replace(each, id=number) for number, each in enumerate(kept, 1))
