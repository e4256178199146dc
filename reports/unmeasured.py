"""Unmeasured: problems of rows without a value, because a judge, a model or a metric failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .problem import Problem, listed, number_of_rows, problem_in
from .reported_run import ReportedRun, metrics_once
from .row_keys import first_error, rows_without_value, unreadable_rows
from .run import RunEvaluator
from .summary import PARSE_FAILURE_TOLERANCE, BotSummary

NO_MODEL: Final = ("model_unavailable", "judge_unavailable")
RAISED: Final = "metric_raised"
UNREADABLE: Final = "Read the judge's replies in the details of these rows; take a stronger judge, or a simpler prompt."
UNAVAILABLE: Final = "See the message in the details of these rows, mend the set-up, and run the same command again."
FETCH: Final = (
    "Run 'proctor models fetch {role}' once with a network (with --suite FILE where the suite names another model),"
    " and the same command again: only what has no value is worked out."
)
BROKEN: Final = "Mend the option or the metric's own code that the message names, and run the same command again."
_MOST_SAID: Final = 300  # characters of an error that a problem repeats
_FETCHED_BY: Final = re.compile(r"proctor models fetch (\w+)")


def unmeasured(run: ReportedRun) -> Iterator[Problem]:
    """Judges that can't be read and metrics that fail, each once an evaluator and bot; models that can't be had."""
    for evaluator in run.evaluators:
        for bot in run.bots:
            failed = [name for name in evaluator.metrics if name in bot.metrics and bot.metrics[name].n_failed]
            yield from _unreadable(run, evaluator, bot, failed)
            yield from _raised(run, evaluator, bot, failed)
    for bot in run.bots:
        for lack in _lacking(run, bot):
            yield _unavailable(run, bot, lack)


def _unreadable(
    run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metrics: Sequence[str]
) -> Iterator[Problem]:
    for metric in metrics:
        unreadable, readable = bot.metrics[metric].n_parse_failure, bot.metrics[metric].n_ok
        if unreadable and (share := unreadable / (unreadable + readable)) > PARSE_FAILURE_TOLERANCE:
            rows = unreadable_rows(run, bot.name, metric)
            yield problem_in(
                "high", "evaluation", f"{bot.name}: the judge could not be read on {number_of_rows(rows.total)}"
                f" ({share:.0%}) of {metric}.", UNREADABLE, rows, bot=bot.name, evaluator=evaluator.id,
                metric=metric, threshold=PARSE_FAILURE_TOLERANCE, value=share,
            )  # fmt: skip
            return


def _raised(run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metrics: Sequence[str]) -> Iterator[Problem]:
    for metric in metrics:
        if RAISED in bot.metrics[metric].reasons:
            rows = rows_without_value(run, bot.name, [metric], [RAISED])
            where = f" on {number_of_rows(rows.total)}" if rows.total else ""
            yield problem_in(
                "high", "evaluation", f"{bot.name}: {metric} could not be worked out{where}"
                f"{_quoted(first_error(run, bot.name, metric))}.", BROKEN, rows, bot=bot.name, evaluator=evaluator.id,
                metric=metric,
            )  # fmt: skip
            return


class _Lack(NamedTuple):
    """A model or judge that could not be had, or some that one evaluator lacks.

    Attributes:
        role: of the local model that is not on the machine; empty for any other trouble.
        said: what the first of its metrics said.
        evaluator: the first evaluator that lacks it.
        metrics: all metrics that lack it, of whatever evaluator.
    """

    role: str
    said: str
    evaluator: str
    metrics: list[str]


def _lacking(run: ReportedRun, bot: BotSummary) -> Sequence[_Lack]:
    """What a bot's metrics lack, each once: a model that several evaluators want is told as one.

    Messages of a judge or server may differ from row to row, so of these an evaluator has one at most.
    """
    lacks: dict[str, _Lack] = {}
    troubles: dict[str, str] = {}  # by evaluator the message of the first metric that lacks something else
    for evaluator, metric in metrics_once(run):
        if metric not in bot.metrics or not set(NO_MODEL) & set(bot.metrics[metric].reasons):
            continue
        said = first_error(run, bot.name, metric)
        found = _FETCHED_BY.search(said)
        role = found[1] if found else ""
        key = role or troubles.setdefault(evaluator.id, said or evaluator.id)
        lacks.setdefault(key, _Lack(role, said, evaluator.id, [])).metrics.append(metric)
    return list(lacks.values())


def _unavailable(run: ReportedRun, bot: BotSummary, lack: _Lack) -> Problem:
    rows = rows_without_value(run, bot.name, lack.metrics, NO_MODEL)
    return problem_in(
        "high", "evaluation", f"{bot.name}: no model or judge for {listed(lack.metrics)} on"
        f" {number_of_rows(rows.total)}{_quoted(lack.said)}.",
        FETCH.format(role=lack.role) if lack.role else UNAVAILABLE, rows, bot=bot.name, evaluator=lack.evaluator,
        metric=lack.metrics[0],
    )  # fmt: skip


def _quoted(said: str) -> str:
    """What a metric said, behind a colon; the sentence goes on to its full stop."""
    return f": {said[:_MOST_SAID].rstrip('.')}" if said else ""
