"""Problems: what is wrong in a run, how bad it is, in which rows it shows and what to do about it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from .reported_run import ReportedRun, family_of, misses
from .row_keys import (
    FoundRows,
    RowKey,
    failed_rows,
    failing_rows,
    first_error,
    rows_too_short,
    rows_with_failing_contexts,
    rows_with_negative_cost,
    rows_without_value,
    truncated_rows,
    unreadable_rows,
)
from .run import RunEvaluator
from .summary import PARSE_FAILURE_TOLERANCE, BotSummary, MetricColumn, MetricSummary

Severity = Literal["high", "medium", "low"]
# Causes before effects: a bot that fails, or a judge that can't be read, also spoils the figures below.
ProblemType = Literal[
    "operations", "evaluation", "data", "privacy", "fairness", "accuracy", "retrieval", "summarization", "robustness"
]
NO_MODEL = ("model_unavailable", "judge_unavailable")
RAISED = "metric_raised"
SPLIT_INTO_SENTENCES = ("groundedness", "summary_completeness")

ACTIONS: dict[ProblemType, str] = {
    "accuracy": "Read these rows, worst first: mend expected answers that are wrong, then the bot's prompt, its"
    " knowledge or its model.",
    "retrieval": "Look at the contexts of these rows: change chunk size, overlap or top_k, or add the document that is"
    " missing.",
    "privacy": "See in these rows what leaked, and take it out of the knowledge or filter it from the answers.",
    "fairness": "Read these rows first: what looks for bias and toxicity is often wrong (fairness_bias on 38 texts of"
    " 100). Then tell the bot in its prompt what not to say, or take another model.",
    "summarization": "Compare these answers with their sources, and ask in the prompt for what they leave out.",
    "robustness": "Compare the two answers; a prompt or retriever that depends on the spelling needs mending.",
    "operations": "Look at the time and the money that these rows took: a smaller model, fewer contexts or a shorter"
    " prompt takes less.",
}
TOO_SHORT = "Nothing need be done for short answers that are right; otherwise ask the bot for whole sentences."
TRUNCATED = "Take a model with a longer window, or give it less to read at once, such as smaller chunks."
UNREADABLE = "Read the judge's replies in the details of these rows; take a stronger judge, or a simpler prompt."
UNAVAILABLE = "See the message in the details of these rows, mend the set-up, and run the same command again."
BROKEN = "Mend the option or the metric's own code that the message names, and run the same command again."
FEW_CASES = "Add questions that this evaluator can score, or lower its min_test_cases."
BOT_ERRORS = "Read the errors of these rows, mend the bot or its endpoint, and run again: only they are asked."
NEGATIVE = "Correct the prices in the suite, or the bot that reports the cost; these rows have no cost until then."


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a run.

    Attributes:
        severity: how bad it is.
        type: what it is about.
        evaluator: id of the evaluator that found it, or None.
        metric: the metric that shows it, or None.
        bot: the bot that has it, or None.
        threshold: what was wanted, or None.
        value: what was found, or None.
        rows: the first rows behind it, worst first.
        row_count: how many rows are behind it in all.
        what: a sentence that says it.
        action: a sentence that says what to do.
        id: its number in the run, from 1, worst first.
    """

    severity: Severity
    type: ProblemType
    evaluator: str | None
    metric: str | None
    bot: str | None
    threshold: float | None
    value: float | None
    rows: tuple[RowKey, ...]
    row_count: int
    what: str
    action: str
    id: int = 0


def problems_of(run: ReportedRun) -> tuple[Problem, ...]:
    """All problems of a run, worst first."""
    found = [
        *_missed_thresholds(run), *_failing_contexts(run), *_bad_data(run), *_failed_evaluation(run),
        *_few_cases(run), *_bad_operations(run),
    ]  # fmt: skip
    found.sort(key=_rank)
    return tuple(replace(problem, id=number) for number, problem in enumerate(found, 1))


def _rank(problem: Problem) -> tuple[int, int, float]:
    """Severity, then type, then how far the threshold is missed; what is equal stays in the order of the suite."""
    gap = 0.0
    if problem.threshold and problem.value is not None:
        gap = abs(problem.value - problem.threshold) / abs(problem.threshold)
    return get_args(Severity).index(problem.severity), get_args(ProblemType).index(problem.type), -gap


def counted(problems: Sequence[Problem]) -> str:
    """How many problems there are, by severity, in words.

    >>> counted([])
    'No problems'
    """
    if not problems:
        return "No problems"
    severities = [problem.severity for problem in problems]
    parts = [f"{severities.count(name)} {name}" for name in get_args(Severity) if name in severities]
    return f"{len(problems):,} problem{'' if len(problems) == 1 else 's'} ({', '.join(parts)})"


def severity_of(value: float, column: MetricColumn) -> Severity:
    """How badly an aggregate misses its threshold: half-way from there to the worst value is high."""
    threshold = column.threshold or 0.0
    if column.better == "higher":
        return "high" if value <= threshold / 2 else "medium"
    bounded = column.low == 0 and column.high == 1
    return "high" if bounded and value >= (threshold + 1) / 2 else "medium"


def _missed_thresholds(run: ReportedRun) -> Iterator[Problem]:
    for evaluator in run.evaluators:
        wanted = evaluator.metrics if evaluator.parameters.get("all_metrics") else (evaluator.primary,)
        for metric in wanted:
            column = run.columns.get(metric)
            for bot in run.bots if column else ():
                value = None if _is_unread(bot.metrics.get(metric)) else run.mean(bot, metric)
                if column and value is not None and misses(value, column):
                    yield _missed(run, evaluator, column, bot, value)


def _is_unread(cell: MetricSummary | None) -> bool:
    """Whether nothing that the judge said could be read: a rate over such rows says nothing of the bot."""
    return cell is not None and not cell.n_ok and cell.n_parse_failure > 0


def _missed(run: ReportedRun, evaluator: RunEvaluator, column: MetricColumn, bot: BotSummary, value: float) -> Problem:
    bound = "at least" if column.better == "higher" else "at most"
    type: ProblemType = evaluator.problem_type  # type: ignore[assignment] # from the table of evaluators
    return _problem(
        severity_of(value, column), type, f"{bot.name}: {column.name} is {_apart(value, column.threshold)},"
        f" wanted {bound} {column.threshold:g}.", ACTIONS[type], failing_rows(run, evaluator, column.name, bot.name),
        bot=bot.name, evaluator=evaluator.id, metric=column.name, threshold=column.threshold, value=value,
    )  # fmt: skip


def _apart(value: float, threshold: float | None) -> str:
    """The value in as few digits as keep it apart from the threshold."""
    texts = (f"{value:.{digits}g}" for digits in (2, 3, 4, 6, 9))
    return next((text for text in texts if float(text) != threshold), str(value))


def _failing_contexts(run: ReportedRun) -> Iterator[Problem]:
    """Contexts that fail a check that the answer passes: the bot was right in spite of its retriever."""
    for evaluator in run.evaluators:
        family = family_of(evaluator)
        metric = f"{family}.retrieval_failures"
        if evaluator.board != "bool" or not {metric, f"{family}.generation_failures"} <= run.columns.keys():
            continue
        for bot in run.bots:
            rows = rows_with_failing_contexts(run, bot.name, family)
            if rows.total:
                yield _problem(
                    "medium", "retrieval", f"{bot.name}: the contexts fail {family} on {_rows(rows.total)} whose answer"
                    " passes it.", ACTIONS["retrieval"], rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
                )  # fmt: skip


def _bad_data(run: ReportedRun) -> Iterator[Problem]:
    for evaluator, metric in _each_metric_once(run):
        for bot in run.bots:
            summary = bot.metrics[metric]
            if metric in SPLIT_INTO_SENTENCES and summary.reasons:
                rows = rows_too_short(run, bot.name, metric)
                if rows.total:
                    yield _problem(
                        "low", "data", f"{bot.name}: the texts of {_rows(rows.total)} are too short for {metric}.",
                        TOO_SHORT, rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
                    )  # fmt: skip
            rows = truncated_rows(run, bot.name, metric) if summary.n_ok else FoundRows((), 0)
            if rows.total:
                yield _problem(
                    "low", "data", f"{bot.name}: {metric} saw only part of a text on {_rows(rows.total)}.",
                    TRUNCATED, rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
                )  # fmt: skip


def _failed_evaluation(run: ReportedRun) -> Iterator[Problem]:
    """Judges that can't be read, models that can't be had, metrics that fail; each once an evaluator and bot."""
    for evaluator in run.evaluators:
        for bot in run.bots:
            failed = [name for name in evaluator.metrics if name in bot.metrics and bot.metrics[name].n_failed]
            yield from itertools.islice(_unreadable(run, evaluator, bot, failed), 1)
            yield from itertools.islice(_unavailable(run, evaluator, bot, failed), 1)
            yield from itertools.islice(_raised(run, evaluator, bot, failed), 1)


def _unreadable(
    run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metrics: Sequence[str]
) -> Iterator[Problem]:
    for metric in metrics:
        unreadable, readable = bot.metrics[metric].n_parse_failure, bot.metrics[metric].n_ok
        if unreadable and (share := unreadable / (unreadable + readable)) > PARSE_FAILURE_TOLERANCE:
            rows = unreadable_rows(run, bot.name, metric)
            yield _problem(
                "high", "evaluation", f"{bot.name}: the judge could not be read on {_rows(rows.total)}"
                f" ({share:.0%}) of {metric}.", UNREADABLE, rows, bot=bot.name, evaluator=evaluator.id,
                metric=metric, threshold=PARSE_FAILURE_TOLERANCE, value=share,
            )  # fmt: skip


def _unavailable(
    run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metrics: Sequence[str]
) -> Iterator[Problem]:
    for metric in metrics:
        if any(reason in NO_MODEL for reason in bot.metrics[metric].reasons):
            rows = rows_without_value(run, bot.name, metric, NO_MODEL)
            said = first_error(run, bot.name, metric).rstrip(".")
            yield _problem(
                "high", "evaluation",
                f"{bot.name}: no model or judge for {metric} on {_rows(rows.total)}{said and f': {said}'}.",
                UNAVAILABLE, rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
            )  # fmt: skip


def _raised(run: ReportedRun, evaluator: RunEvaluator, bot: BotSummary, metrics: Sequence[str]) -> Iterator[Problem]:
    for metric in metrics:
        if RAISED in bot.metrics[metric].reasons:
            rows = rows_without_value(run, bot.name, metric, (RAISED,))
            where = f" on {_rows(rows.total)}" if rows.total else ""
            said = first_error(run, bot.name, metric).rstrip(".")
            yield _problem(
                "high", "evaluation", f"{bot.name}: {metric} could not be worked out{where}{said and f': {said}'}.",
                BROKEN, rows, bot=bot.name, evaluator=evaluator.id, metric=metric,
            )  # fmt: skip


def _few_cases(run: ReportedRun) -> Iterator[Problem]:
    for evaluator in run.evaluators:
        least = evaluator.parameters.get("min_test_cases")
        if not isinstance(least, int) or least <= 0:
            continue
        for bot in run.bots:
            metric = bot.metrics.get(evaluator.primary)
            cases = bot.rows - (metric.n_not_applicable if metric else 0)
            if cases < least:
                yield _problem(
                    "high", "data", f"{bot.name}: {evaluator.id} has {cases} of the {least} test cases that it wants.",
                    FEW_CASES, FoundRows((), 0), bot=bot.name, evaluator=evaluator.id, metric=evaluator.primary,
                    threshold=float(least), value=float(cases),
                )  # fmt: skip


def _bad_operations(run: ReportedRun) -> Iterator[Problem]:
    for bot in run.bots:
        if bot.failed or bot.problem:
            rows = failed_rows(run, bot.name)
            stopped = f" and was stopped: {bot.problem.rstrip('.')}." if bot.problem else "."
            yield _problem(
                "high", "operations", f"{bot.name} gave no answer on {rows.total} of {_rows(bot.rows)}{stopped}",
                BOT_ERRORS, rows, bot=bot.name, metric="bot_error_rate", threshold=0.0, value=bot.error_rate,
            )  # fmt: skip
        rows = rows_with_negative_cost(run, bot.name) if bot.cost is not None else FoundRows((), 0)
        if rows.total:
            yield _problem(
                "low", "operations", f"{bot.name} reports a cost below zero on {_rows(rows.total)}.", NEGATIVE, rows,
                bot=bot.name, metric="cost",
            )  # fmt: skip


def _problem(
    severity: Severity, type: ProblemType, what: str, action: str, rows: FoundRows,
    *, bot: str, evaluator: str | None = None, metric: str | None = None,
    threshold: float | None = None, value: float | None = None,
) -> Problem:  # fmt: skip
    return Problem(severity, type, evaluator, metric, bot, threshold, value, rows.keys, rows.total, what, action)


def _each_metric_once(run: ReportedRun) -> Sequence[tuple[RunEvaluator, str]]:
    """The metrics of the run, each with the first evaluator that has it."""
    first: dict[str, RunEvaluator] = {}
    for evaluator in run.evaluators:
        for metric in evaluator.metrics:
            first.setdefault(metric, evaluator)
    return [(evaluator, metric) for metric, evaluator in first.items()]


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"
