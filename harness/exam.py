"""Exam: one pass of bots over questions, from the open database to the summary."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..reports.ledger import Ledger, OpenRun
from ..reports.run import RunHeader, RunMetric
from ..reports.shelf import VectorShelf
from ..reports.store import Store
from ..reports.summary import Summary, summarise
from ..reports.writer import RowWriter
from .engine import Engine, Watcher
from .lanes import Lane
from .scoring import Scorer

if TYPE_CHECKING:
    from ..knowledge.batching import BatchingEmbedder
    from ..metrics.plan import Plan


@dataclass(frozen=True, slots=True)
class Exam:
    """What is to be done: who is asked what, and how it is scored."""

    header: RunHeader
    plan: Plan
    lanes: Callable[[OpenRun], Sequence[Lane]]
    embedder: BatchingEmbedder
    shelf: VectorShelf
    warnings: tuple[str, ...] = ()
    redact: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    summary: Summary
    database: Path
    asked: int
    kept: int
    scored: int
    seconds: float
    problems: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    complete: bool = field(default=False)

    @property
    def unable(self) -> list[str]:
        """Names of the bots that could not run at all: stopped, or without a single answer."""
        return [bot.name for bot in self.summary.bots if bot.problem or (bot.rows > 0 and bot.failed == bot.rows)]


def run_metrics(plan: Plan, thresholds: Mapping[str, float | None]) -> tuple[RunMetric, ...]:
    """The plan's metrics as they stand in a run, with the thresholds of that run."""
    return tuple(
        RunMetric(
            name=metric.id,
            version=metric.version,
            better=metric.better,
            low=metric.low,
            high=metric.high,
            threshold=thresholds.get(metric.id, metric.threshold),
            summary=metric.summary,
            source=metric.source,
        )
        for metric in plan.metrics
    )


def hold(exam: Exam, store: Store, watcher: Watcher) -> Outcome:
    """Hold the exam. Whatever happens, all that was answered is on disk when this returns or raises."""
    began = time.monotonic()
    ledger = Ledger(store)
    after = ledger.last_reply()
    run = ledger.begin(exam.header)
    lanes = list(exam.lanes(run))
    writer = RowWriter(store.path, run.id, run.metric_ids)
    exam.shelf.bind(store.path, writer)
    scorer = Scorer(exam.plan, writer, ledger, exam.embedder)
    engine = Engine(run, ledger, writer, scorer, watcher, exam.redact, exam.header.fresh, after)
    status = "stopped"
    try:
        asyncio.run(_work(engine, lanes, exam))
        status = "failed" if any(lane.stopped for lane in lanes) else "finished"
    finally:
        problems = {lane.name: lane.problem for lane in lanes if lane.problem}
        _end(exam, ledger, run, writer, status, problems)
    return Outcome(
        summary=summarise(store, run.id),
        database=store.path,
        asked=sum(lane.asked for lane in lanes),
        kept=sum(lane.kept for lane in lanes),
        scored=sum(lane.scored for lane in lanes),
        seconds=time.monotonic() - began,
        problems=problems,
        warnings=exam.warnings + tuple(w for lane in lanes for w in getattr(lane.bot, "warnings", ())),
        complete=not any(lane.asked or lane.scored for lane in lanes),
    )


async def _work(engine: Engine, lanes: Sequence[Lane], exam: Exam) -> None:
    # Chains of LangChain that are not asynchronous wait in this pool, and that wait would count as their latency.
    threads = max([32, *(lane.concurrency for lane in lanes)])
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(threads, "proctor-chain"))
    try:
        await engine.work(lanes)
    finally:
        for lane in lanes:
            close = getattr(lane.bot, "close", None)
            if close is not None and lane.prepared:
                await close()
        await asyncio.to_thread(exam.embedder.close)


def _end(
    exam: Exam, ledger: Ledger, run: OpenRun, writer: RowWriter, status: str,
    problems: Mapping[str, str],
) -> None:  # fmt: skip
    try:
        writer.close()
    finally:
        exam.shelf.close()
        ledger.end(run, status, problems, exam.header.manifest)
