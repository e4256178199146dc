"""Row addresses: links from a figure or a problem to the rows behind it, in the Questions part of a page."""

from __future__ import annotations

from urllib.parse import urlencode

from ..failures import ERROR_RATE
from ..problem import Problem
from ..reported_run import ReportedRun, row_metric
from ..row_keys import RowKey


def rows_address(**wanted: str) -> str:
    """The address of some rows; its parameters are those of ``list/filter.js``, blank ones are left out.

    >>> rows_address(bot="a b", metric="f1", show="")
    '#questions?bot=a+b&metric=f1'
    """
    return "#questions?" + urlencode({name: value for name, value in wanted.items() if value}, errors="replace")


def open_address(key: RowKey, bot: str = "", metric: str = "") -> str:
    """The address of one row, which is open then."""
    repeat = f"~{key.repeat}" if key.repeat else ""
    return rows_address(bot=bot, metric=metric, open=f"{key.question_id}{repeat}")


def problem_address(run: ReportedRun, problem: Problem) -> str:
    """The address of the rows behind a problem, the worst first; blank where it has none."""
    if not problem.row_count:
        return ""
    bot = problem.bot or ""
    if problem.metric == ERROR_RATE:
        return rows_address(bot=bot, show="errors")
    metric = metric_of_rows(run, problem)
    if problem.type == "evaluation":
        return rows_address(bot=bot, metric=metric, show="missing")
    failed = metric and problem.threshold is not None and run.columns[metric].of_suite.threshold is not None
    return rows_address(bot=bot, metric=metric, show="failed" if failed else "", sort="value" if metric else "")


def metric_of_rows(run: ReportedRun, problem: Problem) -> str:
    """The metric of a problem; of a figure of a whole run the one that tells of its rows; blank where none does."""
    evaluators = (each for each in run.evaluators if each.id == problem.evaluator)
    names = [problem.metric or "", *(row_metric(each) for each in evaluators)]
    return next((name for name in names if has_rows(run, name)), "")


def has_rows(run: ReportedRun, metric: str) -> bool:
    """Whether single rows have a value of it."""
    return metric in run.columns and run.columns[metric].level == "row"
