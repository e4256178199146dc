"""Problem list: the problems of a run by what is to be done, those of one metric on one line, each with its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...problem import Problem, apart
from ...reported_run import ReportedRun
from ...thresholds import bound
from ..row_addresses import metric_of_rows, open_address, problem_address, rows_address

MOST_OPEN = 6  # lines of one action that are shown at once
MOST_ROWS = 3  # rows that a line names
TONES = {"high": "bad", "medium": "doubt", "low": ""}


@dataclass(frozen=True, slots=True)
class Sufferer:
    """A bot that has a problem: what was found of it, or blank, and where its rows are, or blank."""

    problem: Problem
    bot: str
    found: str
    href: str


@dataclass(frozen=True, slots=True)
class Listed:
    """One problem of one bot or several.

    Attributes:
        what: what is wrong, without the bots that have it where ``sufferers`` name them.
        sufferers: the bots, in the order of their problems; their names are blank where ``what`` names the bot.
        rows: names and addresses of the worst rows, where one bot has it.
    """

    what: str
    sufferers: tuple[Sufferer, ...]
    rows: tuple[tuple[str, str], ...]

    @property
    def severity(self) -> str:
        """How bad it is: the same for all bots of a line."""
        return self.sufferers[0].problem.severity

    @property
    def tone(self) -> str:
        """The colour of that."""
        return TONES[self.severity]

    @property
    def row_count(self) -> int:
        """How many rows of all bots are behind it."""
        return sum(each.problem.row_count for each in self.sufferers)


@dataclass(frozen=True, slots=True)
class Advised:
    """Problems for which the same is to be done; ``folded`` are those beyond the first few."""

    action: str
    shown: tuple[Listed, ...]
    folded: tuple[Listed, ...]


def problem_list(run: ReportedRun, problems: Sequence[Problem]) -> tuple[Advised, ...]:
    """The problems in their order, the worst first, but those with the same action after the first of them."""
    alike: dict[str, dict[tuple[str, str], list[Problem]]] = {}
    for problem in problems:
        lines = alike.setdefault(problem.action, {})
        lines.setdefault((problem.severity, _without_bot(run, problem)), []).append(problem)
    return tuple(
        Advised(action, *_cut([_listed(run, what, found) for (_, what), found in lines.items()]))
        for action, lines in alike.items()
    )


def _cut(found: Sequence[Listed]) -> tuple[tuple[Listed, ...], tuple[Listed, ...]]:
    """Those shown and those folded; a fold of one is not worth its place."""
    most = MOST_OPEN if len(found) > MOST_OPEN + 1 else len(found)
    return tuple(found[:most]), tuple(found[most:])


def _without_bot(run: ReportedRun, problem: Problem) -> str:
    """What is wrong, so that it reads the same for every bot that has it."""
    if _found(problem):
        return f"{problem.metric}, wanted {bound(run.columns[problem.metric or ''], problem.threshold)}"
    prefix = f"{problem.bot}: "
    return problem.what.removeprefix(prefix).rstrip(".") if _is_of_bot(problem) else problem.what


def _is_of_bot(problem: Problem) -> bool:
    return bool(problem.bot) and problem.what.startswith(f"{problem.bot}: ")


def _found(problem: Problem) -> str:
    """The figure that misses its threshold, told as the sentence of the problem does; else blank."""
    if problem.value is None or problem.threshold is None or not _is_of_bot(problem):
        return ""
    text = apart(problem.value, problem.threshold)
    return text if problem.what.startswith(f"{problem.bot}: {problem.metric} is {text},") else ""


def _listed(run: ReportedRun, what: str, problems: Sequence[Problem]) -> Listed:
    sufferers = tuple(
        Sufferer(
            problem, (problem.bot or "") if _is_of_bot(problem) else "", _found(problem),
            _address(run, problem),
        )
        for problem in problems
    )  # fmt: skip
    return Listed(what, sufferers, _rows(run, problems[0]) if len(problems) == 1 else ())


def _rows(run: ReportedRun, problem: Problem) -> tuple[tuple[str, str], ...]:
    bot, metric = problem.bot or "", metric_of_rows(run, problem)
    return tuple(
        (row.question_id + (f" (repeat {row.repeat + 1})" if row.repeat else ""), open_address(row, bot, metric))
        for row in problem.rows[:MOST_ROWS]
    )


def _address(run: ReportedRun, problem: Problem) -> str:
    """Where the rows behind a problem are: the row itself where it is one, all of the metric where none is named."""
    bot, metric = problem.bot or "", metric_of_rows(run, problem)
    if problem.row_count == 1 and problem.rows:
        return open_address(problem.rows[0], bot, metric)
    return problem_address(run, problem) or (rows_address(bot=bot, metric=metric) if metric else "")
