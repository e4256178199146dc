"""Problems: what is wrong in a run, how bad it is, in which rows it shows and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from .failures import failures_of
from .flip_problems import flip_problems
from .problem import Problem, ProblemType, Severity, apart, number_of_rows, problem_in
from .reported_run import ReportedRun, family_of, misses
from .row_keys import FoundRows, failing_rows, rows_with_failing_contexts, rows_with_negative_cost
from .run import RunEvaluator
from .summary import BotSummary, MetricColumn, MetricSummary
from .thresholds import bound
from .unmeasured import unmeasured
from .unread_texts import unread_texts

ACTIONS: dict[ProblemType, str] = {
    "accuracy": "Read these rows, worst first: mend expected answers that are wrong, then the bot's prompt, its"
    " knowledge or its model.",
    "retrieval": "Look at the contexts of these rows: change chunk size, overlap or top_k, or add the document that is"
    " missing.",
    "privacy": "See in these rows what leaked, and take it out of the knowledge or filter it from the answers.",
    "fairness": "Read these rows first: what looks for bias and toxicity is often wrong (fairness_bias on 38 texts of"
    " 100). Then tell the bot in its prompt what not to say, or take another model.",
    "summarization": "Compare these answers with their sources, and ask in the prompt for what they leave out.",
    "operations": "Look at the time and the money that these rows took: a smaller model, fewer contexts or a shorter"
    " prompt takes less.",
}
FEW_CASES = "Add questions that this evaluator can score, or lower its min_test_cases."
NEGATIVE = "Correct the prices in the suite, or the bot that reports the cost; these rows have no cost until then."


def problems_of(run: ReportedRun) -> tuple[Problem, ...]:
    """All problems of a run, worst first."""
    found = [
        *_missed_thresholds(run), *_failing_contexts(run), *unread_texts(run), *unmeasured(run),
        *_few_cases(run), *_bad_operations(run), *flip_problems(run),
    ]  # fmt: skip
    found.sort(key=_rank)
    return tuple(replace(problem, id=number) for number, problem in enumerate(found, 1))


def _rank(problem: Problem) -> tuple[int, int, float]:
    """Severity, then type, then how far the threshold is missed; what is equal stays in the order of the suite."""
    gap = 0.0
    if problem.threshold and problem.value is not None:
        gap = abs(problem.value - problem.threshold) / abs(problem.threshold)
    return get_args(Severity).index(problem.severity), get_args(ProblemType).index(problem.type), -gap


def severity_of(value: float, column: MetricColumn) -> Severity:
    """How badly an aggregate misses its threshold: half-way from there to the worst value is high."""
    threshold = column.threshold or 0.0
    if column.better == "higher":
        return "high" if value <= threshold / 2 else "medium"
    bounded = column.low == 0 and column.high == 1
    return "high" if bounded and value >= (threshold + 1) / 2 else "medium"


def _missed_thresholds(run: ReportedRun) -> Iterator[Problem]:
    """What misses a threshold that somebody set: the defaults of evaluators are a scale, not a demand."""
    for evaluator in run.evaluators:
        wanted = evaluator.metrics if evaluator.parameters.get("all_metrics") else (evaluator.primary,)
        for metric in wanted:
            found = run.columns.get(metric)
            column = found and found.of_suite
            for bot in run.bots if column else ():
                value = None if _is_unread(bot.metrics.get(metric)) else run.mean(bot, metric)
                if column and value is not None and misses(value, column):
                    yield _missed(run, evaluator, column, bot, value)


def _is_unread(cell: MetricSummary | None) -> bool:
    """Whether nothing that the judge said could be read: a rate over such rows says nothing of the bot."""
    return cell is not None and not cell.n_ok and cell.n_parse_failure > 0


def _missed(run: ReportedRun, evaluator: RunEvaluator, column: MetricColumn, bot: BotSummary, value: float) -> Problem:
    type: ProblemType = evaluator.problem_type  # type: ignore[assignment] # from the table of evaluators
    return problem_in(
        severity_of(value, column), type, f"{bot.name}: {column.name} is {apart(value, column.threshold)},"
        f" wanted {bound(column)}.", ACTIONS[type], failing_rows(run, evaluator, column.name, bot.name),
        bot=bot.name, evaluator=evaluator.id, metric=column.name, threshold=column.threshold, value=value,
    )  # fmt: skip


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
                yield problem_in(
                    "medium", "retrieval", f"{bot.name}: the contexts fail {family} on {number_of_rows(rows.total)}"
                    " whose answer passes it.", ACTIONS["retrieval"], rows, bot=bot.name, evaluator=evaluator.id,
                    metric=metric,
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
                yield problem_in(
                    "high", "data", f"{bot.name}: {evaluator.id} has {cases} of the {least} test cases that it wants.",
                    FEW_CASES, FoundRows((), 0), bot=bot.name, evaluator=evaluator.id, metric=evaluator.primary,
                    threshold=float(least), value=float(cases),
                )  # fmt: skip


def _bad_operations(run: ReportedRun) -> Iterator[Problem]:
    for bot in run.bots:
        yield from failures_of(run, bot)
        rows = rows_with_negative_cost(run, bot.name) if bot.cost is not None else FoundRows((), 0)
        if rows.total:
            yield problem_in(
                "low", "operations", f"{bot.name} reports a cost below zero on {number_of_rows(rows.total)}.",
                NEGATIVE, rows, bot=bot.name, metric="cost",
            )  # fmt: skip
