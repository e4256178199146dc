"""Showing: what a run prints, for people and for machines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.text import Text

from ...reports.failures import ERROR_RATE
from ...reports.findings import insight_object, problem_object
from ...reports.leaderboard import count, leaderboard
from ...reports.printable import printable
from ...reports.problem import counted
from ...reports.summary_object import as_object
from ..engine.engine import Watcher
from ..engine.judging import Judging
from ..exams.exam import Outcome
from .next_steps import next_steps
from .progress import ProgressBars, ProgressLines
from .streams import write_json


@contextlib.contextmanager
def watching() -> Iterator[Watcher]:
    """Progress bars on stderr where somebody watches, else a line every ten seconds."""
    console = Console(emoji=False, stderr=True)
    if not console.is_terminal:
        with ProgressLines(sys.stderr) as lines:
            yield lines
        return
    with ProgressBars(console) as bars:
        yield bars


def show_warnings(outcome: Outcome) -> None:
    """Warnings on stderr, each once."""
    for warning in dict.fromkeys(outcome.warnings):
        sys.stderr.write(f"proctor: {printable(warning)}\n")


def show_json(outcome: Outcome, stdout: TextIO, more: Mapping[str, object] | None = None) -> None:
    """One object on stdout, in UTF-8 whatever the locale; ``more`` stands beside what the run came to."""
    write_json({**outcome_object(outcome), **(more or {})}, stdout)


def outcome_object(outcome: Outcome) -> dict[str, object]:
    """What a run came to, for machines."""
    made: dict[str, object] = as_object(outcome.summary)
    return made | {
        "database": str(outcome.database),
        "asked": outcome.asked,
        "kept": outcome.kept,
        "seconds": round(outcome.seconds, 3),
        "judge": (outcome.summary.judge.as_object if outcome.summary.judge else {}) | judge_object(outcome),
        "warnings": list(dict.fromkeys(outcome.warnings)),
        "problems": [problem_object(problem) for problem in outcome.findings.problems],
        "insights": [insight_object(insight) for insight in outcome.findings.insights],
    }


def show_outcome(outcome: Outcome, suite: Path | None, rows: Path | None, stdout: TextIO) -> None:
    """The leaderboard, where everything is kept, and what to type next."""
    console = Console(emoji=False, highlight=False, file=stdout)
    width = console.width if console.is_terminal else 80
    console.print(leaderboard(outcome.summary, width), width=width)
    console.print()
    for part in _why_rows_failed(outcome):
        console.print(part, width=width)
    for line in (*_what_is_wrong(outcome), *_what_happened(outcome), *_what_was_judged(outcome.judge)):
        console.print(line, markup=False, soft_wrap=True)
    if rows:
        console.print(f"Every score is a line of {rows}.", markup=False, soft_wrap=True)
    console.print("\nNext:", markup=False)
    for command, purpose in next_steps(outcome, suite):
        console.print(f"  {command}\n      {purpose}", markup=False, soft_wrap=True)


def _why_rows_failed(outcome: Outcome) -> Iterator[RenderableType]:
    """What the problems say of rows without an answer: each cause, with an example and what to do."""
    failures = [problem for problem in outcome.findings.problems if problem.metric == ERROR_RATE]
    if not failures:
        return
    yield Text("Why rows failed:", style="red")
    for problem in failures:
        yield Padding(Text(printable(problem.what), overflow="fold"), (0, 0, 0, 2))
        yield Padding(Text(printable(problem.action), style="dim", overflow="fold"), (0, 0, 0, 6))
    yield ""


def _what_is_wrong(outcome: Outcome) -> Iterator[str]:
    problems = outcome.findings.problems
    others = [problem for problem in problems if problem.metric != ERROR_RATE]  # those are told above
    if not others:
        return
    which = "the first: " if len(problems) == len(others) else "the first of the others: "
    yield f"{counted(problems)}; {which if len(problems) > 1 else ''}{printable(others[0].what)}"


def _what_happened(outcome: Outcome) -> Iterator[str]:
    database = outcome.database
    if outcome.complete:
        yield f"Everything was kept already: {count(outcome.kept, 'answer')} in {database}. Nothing was asked."
        return
    if outcome.scored and not outcome.asked:
        scored = count(outcome.scored, "answer")
        yield f"Scored {scored} in {outcome.seconds:.1f} s; nothing was asked. Everything is in {database}."
        return
    kept = f", {outcome.kept:,} kept from before" if outcome.kept else ""
    yield f"Asked {count(outcome.asked, 'question')}{kept}, in {outcome.seconds:.1f} s. Everything is in {database}."


def _what_was_judged(judge: Judging) -> Iterator[str]:
    calls = judge.shelf
    if not calls.paid and not calls.kept:
        return
    kept = f", {calls.kept:,} kept from before or shared" if calls.kept else ""
    cost = "" if calls.cost is None else f"; cost {calls.cost:.4f}"
    failed = f", {calls.failed:,} of them failed" if calls.failed else ""
    yield f"The judge {printable(judge.name)} was sent {count(calls.paid, 'request')}{failed}{kept}{cost}."


def judge_object(outcome: Outcome) -> dict[str, object]:
    """The judge for machines: who it was, and what this pass asked of it."""
    judge, calls = outcome.judge, outcome.judge.shelf
    return {
        "name": judge.name,
        "embedded": not judge.is_language_model,
        "problem": outcome.judge_problem or None,
        "calls": calls.paid,
        "calls_kept": calls.kept,
        "calls_failed": calls.failed,
        "cost": calls.cost,
    }
