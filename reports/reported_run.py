"""ReportedRun: a run as boards, problems and insights read it: its summary, its evaluators and its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson

from .run import RunEvaluator
from .store import Store
from .summary import BotSummary, MetricColumn, Summary, bot_keys, summarise

ROUNDING = 1e-9  # a mean of values that all stand on the threshold may miss it by less than this


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """What the reports are made from; whatever is not here is read from the store when it is wanted."""

    store: Store
    id: int
    summary: Summary
    evaluators: tuple[RunEvaluator, ...]
    columns: Mapping[str, MetricColumn]
    bot_ids: Mapping[str, int]
    metric_ids: Mapping[str, int]

    @property
    def bots(self) -> tuple[BotSummary, ...]:
        """The bots in the order of the suite."""
        return tuple(self.summary.bots)

    def bot(self, name: str) -> BotSummary:
        """The bot of that name, which the run has."""
        return next(bot for bot in self.summary.bots if bot.name == name)

    def mean(self, bot: BotSummary, metric: str) -> float | None:
        """A bot's aggregate of a metric; None where there is none."""
        found = bot.metrics.get(metric)
        return found.mean if found else None


def open_reported(store: Store, run_id: int, summary: Summary | None = None) -> ReportedRun:
    """Read what a report needs; the summary is worked out unless it is at hand."""
    summary = summary or summarise(store, run_id)
    columns = {column.name: column for column in summary.metrics}
    metrics = store.query(
        "SELECT name, metric_id FROM run_metrics JOIN metrics ON metrics.id = metric_id WHERE run_id = ?", [run_id]
    )
    evaluators = tuple(_evaluators(store, run_id, columns))
    return ReportedRun(store, run_id, summary, evaluators, columns, bot_keys(store, run_id), dict(metrics))


def _evaluators(store: Store, run_id: int, columns: Mapping[str, MetricColumn]) -> Iterator[RunEvaluator]:
    """The run's evaluators with those of their metrics that it has; runs of old versions have none on record."""
    lines = store.query(
        "SELECT evaluator, title, primary_metric, metrics, board, problem_type, parameters FROM run_evaluators"
        " WHERE run_id = ? ORDER BY position",
        [run_id],
    )
    for name, title, primary, metrics, board, problem_type, parameters in lines:
        there = tuple(metric for metric in orjson.loads(metrics) if metric in columns)
        yield RunEvaluator(name, title, primary, there, board, problem_type, orjson.loads(parameters))
    if not lines:
        for name in columns:
            yield RunEvaluator(name, name.replace("_", " ").capitalize(), name, (name,))


def metrics_once(run: ReportedRun) -> Sequence[tuple[RunEvaluator, str]]:
    """The metrics of the run, each with the first evaluator that has it."""
    first: dict[str, RunEvaluator] = {}
    for evaluator in run.evaluators:
        for metric in evaluator.metrics:
            first.setdefault(metric, evaluator)
    return [(evaluator, metric) for metric, evaluator in first.items()]


def misses(value: float | None, column: MetricColumn) -> bool:
    """Whether an aggregate misses the threshold; reaching it exactly does not, nor does having none."""
    if value is None or column.threshold is None or column.better == "neither":
        return False
    short = column.threshold - value if column.better == "higher" else value - column.threshold
    return short > ROUNDING


def family_of(evaluator: RunEvaluator) -> str:
    """What the names of a boolean evaluator's rates begin with, before the dot."""
    return evaluator.primary.removesuffix(".passes")


def row_metric(evaluator: RunEvaluator) -> str:
    """The metric that tells of single rows whether they are right: the primary one, unless that is of a whole run."""
    return "row_correct" if evaluator.board == "classification" else evaluator.primary
