"""Trend: a metric of each bot over the runs of a suite, in the order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ...store import Store
from ...summary import MetricColumn, MetricSummary, Summary, bot_keys, summarise
from .run_lines import Summaries, run_address

MOST_RUNS: Final = 40  # the latest ones


@dataclass(frozen=True, slots=True)
class TrendRun:
    """A run of the trend; ``column`` is the metric as the run has it, or None."""

    id: int
    name: str
    status: str
    started_at: str
    questions: int
    column: MetricColumn | None

    @property
    def version(self) -> str | None:
        """Of the metric: values of different versions can't be compared."""
        return self.column.version if self.column else None

    @property
    def address(self) -> str:
        """Where a server shows it."""
        return run_address(self.name)


@dataclass(frozen=True, slots=True)
class Point:
    """What a bot got in a run.

    Attributes:
        place: of the run in the trend, from 0.
        version: of the metric.
        summary: the figure, its interval and how many rows it rests on.
        is_changed: the bot is made otherwise than in its last run before (settings, prompts, documents or models).
    """

    place: int
    version: str
    summary: MetricSummary
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Trend:
    """A metric over runs: the points of each bot, in the order of time."""

    suite: str
    column: MetricColumn
    runs: tuple[TrendRun, ...]
    bots: dict[str, tuple[Point, ...]]

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of the metric, in the order in which they came."""
        return tuple(dict.fromkeys(run.version for run in self.runs if run.version))

    @property
    def breaks(self) -> tuple[int, ...]:
        """Places of runs before which the version is another one."""
        measured = [(place, run.version) for place, run in enumerate(self.runs) if run.version]
        return tuple(place for (_, before), (place, version) in pairwise(measured) if before != version)

    def point(self, bot: str, place: int) -> Point | None:
        """What a bot got in a run, None where it has nothing."""
        return next((point for point in self.bots[bot] if point.place == place), None)


def segments(points: Sequence[Point]) -> Iterator[tuple[Point, ...]]:
    """Points with a figure that may be joined by a line: neighbours of the same version of the metric."""
    joined: list[Point] = []
    for point in (each for each in points if each.summary.mean is not None):
        if joined and joined[-1].version != point.version:
            yield tuple(joined)
            joined = []
        joined.append(point)
    if joined:
        yield tuple(joined)


def trend_metrics(store: Store, suite: str) -> list[str]:
    """The metrics that runs of a suite have, those of the latest run first."""
    lines = store.query(
        "SELECT metrics.name FROM run_metrics JOIN metrics ON metrics.id = metric_id JOIN runs ON runs.id = run_id"
        " WHERE suite = ? ORDER BY run_id DESC, position",
        [suite],
    )
    return list(dict.fromkeys(str(name) for (name,) in lines))


def trend_of(store: Store, suite: str, metric: str, summary_of: Summaries = summarise) -> Trend | None:
    """The trend of a metric over the latest runs of a suite; None where no run of it has the metric."""
    lines = store.query("SELECT id, started_at FROM runs WHERE suite = ? ORDER BY id DESC LIMIT ?", [suite, MOST_RUNS])
    found = [(run_id, started_at, summary_of(store, run_id)) for run_id, started_at in reversed(lines)]
    runs = tuple(
        TrendRun(run_id, summary.run, summary.status, started_at, summary.questions, _column(summary, metric))
        for run_id, started_at, summary in found
    )
    columns = [run.column for run in runs if run.column]
    if not columns:
        return None
    return Trend(suite, columns[-1], runs, _bots(store, runs, [summary for _, _, summary in found], metric))


def _column(summary: Summary, metric: str) -> MetricColumn | None:
    return next((column for column in summary.metrics if column.name == metric), None)


def _bots(
    store: Store, runs: Sequence[TrendRun], summaries: Sequence[Summary], metric: str
) -> dict[str, tuple[Point, ...]]:
    """By bot its points; the bots of the latest run first, in its order."""
    names = dict.fromkeys(bot.name for summary in reversed(summaries) for bot in summary.bots)
    made: dict[str, list[Point]] = {name: [] for name in names}
    last: dict[str, int] = {}
    for place, (run, summary) in enumerate(zip(runs, summaries, strict=True)):
        if run.version is None:
            continue
        keys = bot_keys(store, run.id)
        for bot in summary.bots:
            is_changed = last.get(bot.name, keys[bot.name]) != keys[bot.name]
            last[bot.name] = keys[bot.name]
            made[bot.name].append(Point(place, run.version, bot.metrics[metric], is_changed))
    return {name: tuple(points) for name, points in made.items() if points}
