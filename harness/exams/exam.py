"""Exam: one pass of bots over questions, from the open database to the summary."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ...bots.base import Reply
from ...metrics.score import Reason
from ...reports.claims import Claims
from ...reports.findings import Findings, keep_findings
from ...reports.judging.judge_calls import link_kept_calls
from ...reports.ledger import Ledger, OpenRun
from ...reports.run import EARLY_STOP, RunHeader, RunMetric
from ...reports.run_scores import keep_run_scores
from ...reports.shelf import VectorShelf
from ...reports.store import Store
from ...reports.summary import Summary, summarise
from ...reports.writer import RowWriter
from ..engine.daemon_threads import DaemonThreads
from ..engine.engine import Engine, Watcher
from ..engine.interrupts import Interrupts
from ..engine.judged_metrics import asked_calls
from ..engine.judging import Judging
from ..engine.lanes import Lane, close
from ..engine.run_models import RunModels
from ..engine.scoring import Scorer
from ..engine.stopping import Stopper, kept_scores
from ..engine.undisturbed import undisturbed
from .silent_metrics import silent_metrics
from .sketches import Sketch

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder
    from ...metrics.plan import Plan
    from ..engine.places import Places


@dataclass(frozen=True, slots=True)
class Exam:
    """What is to be done: who is asked what, and how it is scored.

    ``lanes_at_once`` bounds how many lanes that wait for endpoints run side by side; None for all.
    """

    header: RunHeader
    plan: Plan
    lanes: Callable[[OpenRun], Sequence[Lane]]
    embedder: BatchingEmbedder
    shelf: VectorShelf
    warnings: tuple[str, ...] = ()
    redact: Callable[[str], str] = str
    places: Places | None = None
    judging: Judging = field(default_factory=Judging)
    models: RunModels = field(default_factory=RunModels)
    sketch: Sketch = field(default=lambda _, __: Reply(None))
    stopper: Stopper | None = None
    lanes_at_once: int | None = None


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
    findings: Findings = field(default_factory=Findings)
    judge: Judging = field(default_factory=Judging)

    @property
    def unable(self) -> list[str]:
        """Names of the bots that could not run at all: stopped, without a single answer, or without any row."""
        return [bot.name for bot in self.summary.bots if bot.problem or bot.failed == bot.rows]

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Metrics that have no value for any answer, because the model that they ask can't be used."""
        bots = [bot.metrics for bot in self.summary.bots]
        cells = {name: [metrics[name] for metrics in bots if name in metrics] for metrics in bots for name in metrics}
        return tuple(
            name
            for name, found in cells.items()
            if not any(cell.n_ok for cell in found) and any(Reason.MODEL_UNAVAILABLE in cell.reasons for cell in found)
        )

    @property
    def judge_problem(self) -> str:
        """A sentence when the judge was stopped, or when of all that it was asked nothing came of a single row."""
        if self.judge.problem or self.summary.judge is None:
            return self.judge.problem
        asked = self.summary.judge.metrics
        cells = [bot.metrics[name] for bot in self.summary.bots for name in asked if name in bot.metrics]
        if any(cell.n_ok for cell in cells) or not any(Reason.JUDGE_UNAVAILABLE in cell.reasons for cell in cells):
            return ""
        return (
            f"The judge {self.judge.name} gave no answer for any row; the problems of the run say why. "
            "Run the same command again to go on."
        )


def run_metrics(
    plan: Plan, thresholds: Mapping[str, float | None], defaults: Collection[str] = ()
) -> tuple[RunMetric, ...]:
    """The plan's metrics as they stand in a run, with the thresholds of that run; those of the whole run last.

    ``defaults`` names those whose threshold nobody set.
    """
    return tuple(
        RunMetric(
            name=metric.id,
            version=metric.version,
            better=metric.better,
            low=metric.low,
            high=metric.high,
            threshold=metric.on_scale(thresholds[metric.id]) if metric.id in thresholds else metric.threshold,
            summary=metric.summary,
            source=metric.source,
            aggregate=metric.aggregate,
            level=metric.level,
            threshold_is_default=metric.id in defaults and metric.threshold is not None,
        )
        for metric in (*plan.metrics, *plan.run_metrics)
    )


def hold(exam: Exam, store: Store, watcher: Watcher) -> Outcome:
    """Hold the exam. Whatever happens, all that was answered is on disk when this returns or raises.

    Raises:
        JudgeUnfit: the judge failed the check that its settings want; then no run was begun.
    """
    began = time.monotonic()
    sitting = _Sitting(exam, store, watcher)
    with Interrupts() as interrupts, undisturbed():
        try:
            interrupts.run(sitting.work())
        finally:
            sitting.end()
    run, lanes, problems = sitting.run, sitting.lanes, sitting.problems
    summary = summarise(store, run.id)
    warned = tuple(warning for lane in lanes for warning in getattr(lane.bot, "warnings", ()))
    findings = keep_findings(store, run.id, summary)
    hidden = tuple(insight.text for insight in findings.insights if insight.type == "allow_list")
    return Outcome(
        summary=summary,
        database=store.path,
        asked=sum(lane.asked for lane in lanes),
        kept=sum(lane.kept for lane in lanes),
        scored=sum(lane.scored for lane in lanes),
        seconds=time.monotonic() - began,
        problems=problems,
        warnings=(*exam.warnings, *warned, *silent_metrics(summary), *hidden),
        complete=not any(lane.asked or lane.scored or lane.problem for lane in lanes),
        findings=findings,
        judge=exam.judging,
    )


class _Sitting:
    """An exam while it is held. The run is begun once the judge is known to be fit."""

    run: OpenRun

    def __init__(self, exam: Exam, store: Store, watcher: Watcher) -> None:
        self.lanes: list[Lane] = []
        self._exam, self._store, self._watcher = exam, store, watcher
        self._ledger = Ledger(store)
        self._writer: RowWriter | None = None
        self._claims: Claims | None = None
        self._status = "stopped"
        self._left_out: Mapping[str, object] | None = None

    @property
    def problems(self) -> dict[str, str]:
        """Why lanes were stopped, by the names of their bots."""
        return {lane.name: lane.problem for lane in self.lanes if lane.problem}

    async def work(self) -> None:
        """See to the judge, then ask and score; models and bots are closed at the end, come what may."""
        exam = self._exam
        asyncio.get_running_loop().set_default_executor(DaemonThreads())
        try:
            if exam.judging.settings.check is not None:
                from ..trust.judge_check import require_check  # its cases are a tenth of a second of start

                if passed := await require_check(self._store, exam.judging, exam.plan):
                    self._watcher.said(passed)
            exam.models.step_back()
            for lack in exam.models.warnings(exam.plan):
                self._watcher.said(lack)
            if exam.judging.is_language_model:
                exam.embedder.step_back()
                if "embedder" in exam.plan.needs:
                    exam.judging.prepare_beside(exam.embedder.load)
            await self._begun().work(self.lanes)
            self._left_out = None if exam.stopper is None else exam.stopper.end()
            ended = "finished" if self._left_out is None else "stopped"
            self._status = "failed" if exam.judging.problem or self.problems else ended
        finally:
            for lane in self.lanes:  # one that nobody was asked of, too: it may share connections with another
                await close(lane)
            await exam.judging.close()
            await exam.models.close()
            await asyncio.to_thread(exam.embedder.close)

    def _begun(self) -> Engine:
        """Begin the run, or go on with it."""
        exam, store = self._exam, self._store
        store.hide(exam.redact)
        self.run = run = self._ledger.begin(exam.header)
        self._writer = writer = RowWriter(store.path, run.id, run.metric_ids, exam.redact)
        writer.find_left_calls()
        self.lanes += exam.lanes(run)
        exam.shelf.bind(store.path, writer)
        exam.judging.bind(store.path, writer, fresh=exam.header.fresh)
        own_only, stopper = exam.header.fresh or exam.header.alone, exam.stopper
        if stopper is not None:
            stopper.begin(self.lanes, lambda lane: kept_scores(lane, self._ledger, run, own_only))
        heard = None if stopper is None else stopper.heard
        scorer = Scorer(exam.plan, writer, self._ledger, exam.embedder, exam.places, exam.judging, exam.models, heard)
        self._claims = claims = Claims(store, run.id, own_only)
        writer.claims_of(claims.owner)
        return Engine(
            run, self._ledger, writer, scorer, self._watcher, exam.redact, own_only, stopper, exam.lanes_at_once, claims
        )

    def end(self) -> None:
        """Write how the run ended; nothing where none was begun."""
        exam, writer = self._exam, self._writer
        if writer is None:
            return
        try:
            writer.close()
            if exam.judging.is_language_model:
                asked = [(self.run.metric_ids[metric], call) for metric, call in asked_calls(exam.plan)]
                link_kept_calls(self._store, self.run.id, asked)
            keep_run_scores(self._store, self.run, exam.plan.score_run)
        finally:
            exam.shelf.close()
            exam.judging.shelf.close()
            if self._claims is not None:
                self._claims.leave()
            self._ledger.end(self.run, self._status, self.problems, self._new_manifest())

    def _new_manifest(self) -> Mapping[str, object] | None:
        """None for the earlier one: a pass that asked nothing says nothing of how the answers came about.

        What it says of local models is changed where answers were scored, perhaps by one that was not here before; and
        what it says of an early stop is always that of this pass.
        """
        left_out = {} if self._left_out is None else {EARLY_STOP: self._left_out}
        if any(lane.asked for lane in self.lanes):
            return {**self._exam.header.manifest, **left_out}
        ((kept,),) = self._store.query("SELECT manifest FROM runs WHERE id = ?", [self.run.id])
        earlier: dict[str, dict[str, object]] = orjson.loads(kept)
        made = {**{name: said for name, said in earlier.items() if name != EARLY_STOP}, **left_out}
        models = self._exam.models.described(self._exam.plan)
        if models and any(lane.scored for lane in self.lanes):
            made["settings"] = {**earlier.get("settings", {}), "local_models": models}
        return None if made == earlier else made
