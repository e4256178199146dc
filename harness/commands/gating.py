"""Gating: what the commands ``gate`` and ``baseline`` do with what was typed."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast, get_args

from ... import InputError
from ...knowledge.paths import existing
from ...reports.comparing.baseline_writing import BaselineChoice, write_baseline
from ...reports.comparing.run_tables import run_tables
from ...reports.comparing.sides import find_file, split_file, unknown_bot
from ...reports.gating.gate_rule import Scope
from ...reports.leaderboard import count
from ...reports.models_in_use import named
from ...reports.printable import printable
from ...reports.run import LATEST
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.whole_files import check_file
from ..deciding.gate import GateOptions, GateResult, gate_kept
from ..showing.gate_outputs import GateOutputs, show_gate
from ..showing.streams import own_stdout
from ..suite.mistakes import nearest
from ..suite.suite_file import NAME
from .conventions import complain, say

if TYPE_CHECKING:
    from ..exams.exam import Outcome

SUITES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Asking:
    """Options of the exam; they mean nothing for a run that is only looked at."""

    limit: int | None = None
    repeat: int | None = None
    concurrency: int | None = None
    fresh: bool = False
    judge: str = ""
    judge_url: str = ""
    local_model: tuple[str, ...] = ()
    early_stop: bool = False
    attribute: bool = False
    old_knowledge: Path | None = None

    @property
    def given(self) -> list[str]:
        """The options that were typed."""
        return [f"--{each.name.replace('_', '-')}" for each in fields(self) if getattr(self, each.name)]


def read_margins(given: Sequence[str]) -> dict[str, float]:
    """Margins from ``METRIC=0.02``.

    Raises:
        InputError: one is written otherwise, or is no number above 0.
    """
    margins = {}
    for text in given:
        name, equals, number = text.partition("=")
        try:
            margin = float(number)
        except ValueError:
            margin = math.nan
        if not equals or not name.strip() or not 0 < margin < math.inf:
            raise InputError(f"--margin {text}: wanted METRIC=NUMBER with a number above 0, such as exact_match=0.02.")
        margins[name.strip()] = margin
    return margins


def read_scope(given: str) -> Scope | None:
    """The scope that was typed; None for none. Raises InputError where there is no such scope."""
    if given:
        for scope in get_args(Scope):
            if given == scope:
                return cast("Scope", scope)
        raise InputError(f"--scope {given}: wanted these (worse on these questions?) or like_these (on others, too?).")
    return None


def gate_and_show(subject: str | None, options: GateOptions, asking: Asking, outputs: GateOutputs) -> int:
    """Hold the exam or look at the run, show the verdicts, and return the exit code.

    Raises:
        InputError: something can't be used; nothing was decided.
    """
    suite = _suite(subject)
    outputs.check(_in_use(subject, suite, options))
    result: GateResult | None = None
    try:
        with own_stdout() as stdout:
            result = _looked_at(subject, options, asking) if suite is None else _held(suite, options, asking)
            show_gate(result, outputs, stdout, os.environ)
    except BrokenPipeError:  # such as of `| head`: click would end with 1, which says that a bot regressed
        if result is None:
            raise
    return result.report.exit_code


def _in_use(subject: str | None, suite: Path | None, options: GateOptions) -> dict[Path, str]:
    """Files that are read, and that no output may take the place of."""
    named = [(find_file(options.baseline)[0], "--baseline"), (suite, "the suite")]
    if suite is None and subject is not None:
        named.append((find_file(subject)[0], "the run"))
    files = {path.resolve(): what for path, what in named if path is not None}
    return files | {options.database.resolve(): "--db"}


def _looked_at(subject: str | None, options: GateOptions, asking: Asking) -> GateResult:
    if asking.given:
        what = subject or "the latest run"
        raise InputError(
            f"{', '.join(asking.given)}: nothing is asked when {what} is looked at. Give the suite instead, "
            "whose exam is held first."
        )
    return gate_kept(subject or LATEST, options)


def _suite(subject: str | None) -> Path | None:
    """The suite that is meant; None where a run is."""
    if subject is None:
        return Path(NAME) if Path(NAME).is_file() else None
    path = Path(subject)
    return path if path.suffix.lower() in SUITES or path.is_dir() else None


def _held(suite: Path, options: GateOptions, asking: Asking) -> GateResult:
    from ..deciding.gate_attribution import explained
    from ..deciding.gate_exam import gate_suite
    from ..exams.run_config import RunConfig
    from ..showing.outcome import show_warnings, watching
    from ..showing.progress import Silent
    from ..suite.suite_file import load_suite
    from ..trust.judge_check import JudgeUnfit

    run = RunConfig(
        (), asking.limit, asking.repeat, asking.concurrency, asking.fresh, False, asking.judge, asking.judge_url,
        asking.local_model,
    )  # fmt: skip
    _check_attribution(asking)
    loaded = load_suite(suite)
    with watching() as watcher:
        told = say if isinstance(watcher, Silent) else watcher.said
        try:
            held = gate_suite(loaded, run, options, os.environ, watcher, told, asking.early_stop)
        except JudgeUnfit as unfit:  # 1 would say that a bot regressed
            raise InputError(str(unfit)) from None
    show_warnings(held.outcome)
    _complain(held.outcome)
    if not asking.attribute:
        return held.result
    causes = explained(
        held.result.report, loaded, run, options.database, os.environ, watching, say, asking.old_knowledge
    )
    return replace(held.result, explained=causes)


def _check_attribution(asking: Asking) -> None:
    """See that the old documents are there, before anything is asked."""
    if asking.old_knowledge is not None:
        if not asking.attribute:
            raise InputError("--old-knowledge is for --attribute alone; give both.")
        existing(asking.old_knowledge, "the folder with the documents of the baseline")


def _complain(outcome: Outcome) -> None:
    """What went wrong in the exam; the values that it cost are counted as missing."""
    for bot, problem in outcome.problems.items():
        complain(f"{bot}: {problem}")
    if outcome.judge_problem:
        complain(outcome.judge_problem)
    if outcome.unmeasured:
        complain(f"No answer has a value of {named(outcome.unmeasured)}: the problems of the run say why.")


def keep_baseline(
    text: str | None, database: Path, out: Path, bots: Collection[str], metrics: Collection[str], answers: bool
) -> str:
    """Write a baseline file, and return a sentence about it.

    Raises:
        InputError: there is no such run, bot or metric, or the file can't be written.
    """
    path, name = split_file(text) if text else (None, "")
    if path is not None and path.suffix.lower() in (*SUITES, ".json"):
        raise InputError(f"{path} is no database. A baseline is made of a run: 'proctor run' holds one.")
    if out == Path("-"):
        raise InputError("--out wants the name of a file: 'proctor gate' reads it, and stdout says what was written.")
    database = path or database
    check_file(out, "--out", {database.resolve(): "--db"})
    with contextlib.closing(Store.open(database, create=False)) as store:
        run_id, _ = find_run(store, name or LATEST)
        _check(store, run_id, bots, metrics)
        choice = BaselineChoice(bots or None, metrics or None, answers)
        run = write_baseline(store, run_id, out, choice)
    if run.status != "finished":
        complain(f"Run {run.run} did not finish ({run.status}): questions that it did not reach are not in {out}.")
    table = next(iter(run.tables.values()))
    scored = len(metrics) or len(table.columns)
    return printable(
        f"Wrote {out}: {count(len(table.cases), 'question')}, {count(len(run.tables), 'bot')} and "
        f"{count(scored, 'metric')} of run {run.run}; {out.stat().st_size / 1000:,.0f} kB. "
        f"Commit it, and compare with it: proctor gate --baseline {out}"
    )


def _check(store: Store, run_id: int, bots: Collection[str], metrics: Collection[str]) -> None:
    run = run_tables(store, run_id)
    for bot in bots:
        if bot not in run.tables:
            raise InputError(unknown_bot(bot, f"run {run.run}", list(run.tables)))
    if not any(table.asked.any() for table in run.tables.values()):
        raise InputError(f"Run {run.run} has no answer yet; there is nothing to write.")
    columns = next(iter(run.tables.values())).columns
    for metric in metrics:
        if metric not in columns:
            raise InputError(f"Run {run.run} has no metric {metric}{nearest(metric, columns, 'it has')}.")
