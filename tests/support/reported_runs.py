"""Runs made by hand with their evaluators, for tests of what reports say of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from proctor.metrics.score import Score, Status
from proctor.reports.insights import insights_of
from proctor.reports.problems import problems_of
from proctor.reports.reported_run import ReportedRun, open_reported
from proctor.reports.store.run import RunEvaluator, RunMetric
from report_rows import Book, ok, row

RECALL = RunMetric("keyword_recall", "v1", "higher", 0.0, 1.0, 0.75)
RATES = ("passes", "failures", "retrieval_failures", "generation_failures", "parse_failures")
FAMILY = tuple(
    RunMetric(f"pii_leakage.{rate}", "v1", "higher" if rate == "passes" else "lower", 0.0, 1.0, 0.5, aggregate="rate")
    for rate in RATES
)
PII = RunEvaluator(
    "pii_leakage", "PII leakage", "pii_leakage.passes", [metric.name for metric in FAMILY], "bool", "privacy"
)


def alone(metric: RunMetric, **changes) -> RunEvaluator:
    """The evaluator of one metric."""
    return RunEvaluator(metric.name, metric.name, metric.name, [metric.name], **changes)


def missing(metric: str, reason: str, status: Status = Status.NOT_APPLICABLE) -> Score:
    return Score(metric, None, status, reason)


def book_of(
    path: Path,
    values: Mapping[str, Sequence[float | Score]],
    metric: RunMetric = RECALL,
    evaluators: Sequence[RunEvaluator] = (),
) -> Book:
    """A finished run of one metric: bot -> its value for each test case ``q1``, ``q2``, ..."""
    book = Book(path, bots=list(values), metrics=[metric], evaluators=evaluators or [alone(metric)])
    for bot, figures in values.items():
        for place, value in enumerate(figures):
            score = value if isinstance(value, Score) else ok(metric.name, value)
            book.put(row(book.run, bot, f"q{place + 1}", position=place), score)
    book.writer.close()
    return book


def metrics_book(path: Path, evaluators: Sequence[RunEvaluator], scores: Sequence[Sequence[Score]]) -> Book:
    """A finished run of the bot X with several evaluators: for each row its scores of their metrics."""
    names = list(dict.fromkeys(metric for evaluator in evaluators for metric in evaluator.metrics))
    metrics = [RunMetric(name, "v1", "lower", 0.0, 1.0, None) for name in names]
    book = Book(path, bots=["X"], metrics=metrics, evaluators=evaluators)
    for place, of_row in enumerate(scores):
        book.put(row(book.run, "X", f"q{place + 1}", position=place), *of_row)
    book.writer.close()
    return book


def pii_scores(answer: bool, contexts: bool | None = True) -> list[Score]:
    """The five scores of a row whose answer and contexts pass or not; contexts that are None were not there."""
    passes = answer and contexts is not False
    made = [ok("pii_leakage.passes", float(passes)), ok("pii_leakage.failures", float(not passes))]
    if contexts is None:
        made.append(missing("pii_leakage.retrieval_failures", "contexts_missing"))
    else:
        made.append(ok("pii_leakage.retrieval_failures", float(not contexts)))
    made.append(ok("pii_leakage.generation_failures", float(not answer)))
    return [*made, missing("pii_leakage.parse_failures", "undefined")]


def reported(book: Book) -> ReportedRun:
    return open_reported(book.store, book.run.id)


def problems(book: Book) -> list[tuple]:
    """Severity, type, bot and metric of each problem."""
    return [(each.severity, each.type, each.bot, each.metric) for each in problems_of(reported(book))]


def insights(book: Book) -> dict[str, str | None]:
    """Type and bot of each insight."""
    return {each.type: each.bot for each in insights_of(reported(book))}
