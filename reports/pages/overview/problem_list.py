"""Problem list: the problems of a run by severity, those with the same action together, each with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from ...problem import Problem, Severity
from ...reported_run import ReportedRun
from ..row_addresses import metric_of_rows, open_address, problem_address, rows_address

MOST_OPEN = 5  # problems of one action that are shown at once
MOST_ROWS = 3  # rows that a problem names
TONES = {"high": "bad", "medium": "doubt", "low": ""}


@dataclass(frozen=True, slots=True)
class Listed:
    """A problem as it is shown: ``rows`` are names and addresses of its worst rows."""

    problem: Problem
    href: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Advised:
    """Problems for which the same is to be done; ``folded`` are those beyond the first few."""

    action: str
    shown: tuple[Listed, ...]
    folded: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class Severe:
    """Problems that are equally bad; ``tone`` is the colour of that."""

    severity: str
    tone: str
    number: int
    advised: tuple[Advised, ...]


def problem_list(run: ReportedRun, problems: Sequence[Problem]) -> tuple[Severe, ...]:
    """The problems, worst first; what is equally bad stays in its order."""
    made = []
    for severity in get_args(Severity):
        together: dict[str, list[Listed]] = {}
        for problem in problems:
            if problem.severity == severity:
                together.setdefault(problem.action, []).append(_listed(run, problem))
        if together:
            advised = tuple(Advised(action, *_cut(found)) for action, found in together.items())
            made.append(Severe(severity, TONES[severity], sum(map(len, together.values())), advised))
    return tuple(made)


def _cut(found: Sequence[Listed]) -> tuple[tuple[Listed, ...], tuple[Listed, ...]]:
    """Those shown and those folded; a fold of one is not worth its place."""
    most = MOST_OPEN if len(found) > MOST_OPEN + 1 else len(found)
    return tuple(found[:most]), tuple(found[most:])


def _listed(run: ReportedRun, problem: Problem) -> Listed:
    bot, metric = problem.bot or "", metric_of_rows(run, problem)
    rows = tuple(
        (row.question_id + (f" (repeat {row.repeat + 1})" if row.repeat else ""), open_address(row, bot, metric))
        for row in problem.rows[:MOST_ROWS]
    )
    href = problem_address(run, problem) or _of_metric(bot, metric)
    return Listed(problem, href, rows)


def _of_metric(bot: str, metric: str) -> str:
    return rows_address(bot=bot, metric=metric) if metric else ""
