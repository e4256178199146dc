"""Shared questions: the values of one metric for all bots of a run, over the questions where each has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..comparing.comparable import check_cluster, mean_of_repeats
from ..comparing.comparable import cluster_codes as codes_of_cases
from ..comparing.score_table import Figures, RunTables, ScoreTable
from ..primary import of_quality
from ..summary import MetricColumn


@dataclass(frozen=True)
class SharedQuestions:
    """One metric of several bots, question by question.

    Attributes:
        column: the metric.
        bots: those that have any value, in the order of the run.
        without: those that have none, and so can't be ranked.
        places: where the questions stand in the run.
        values: of shape (questions, bots), the mean over the repeats of each.
        clusters: code of the cluster of each question.
        dropped: questions on which only some of the bots have a value.
        lacking: of those, how many each bot has no value on, by name; those that lack most first.
    """

    column: MetricColumn
    bots: tuple[str, ...]
    without: tuple[str, ...]
    places: NDArray[np.intp]
    values: Figures
    clusters: NDArray[np.intp]
    dropped: int
    lacking: Mapping[str, int]

    @property
    def goodness(self) -> Figures:
        """The values turned so that higher is better."""
        return self.values if self.column.better == "higher" else -self.values


def share_questions(
    tables: Mapping[str, ScoreTable], metric: str, clusters: NDArray[np.intp], bots: Sequence[str] | None = None
) -> SharedQuestions:
    """Put the bots side by side on the questions that all of them have a value for.

    Args:
        tables: of one run, so that all have the same cases.
        metric: one that the run measured.
        clusters: code of the cluster of each case.
        bots: those to look at; None for all that have any value.
    """
    found = {bot: mean_of_repeats(tables[bot].values[metric]) for bot in (bots or tables)}
    there = [bot for bot, values in found.items() if np.isfinite(values).any()]
    every = np.column_stack([found[bot] for bot in there]) if there else np.empty((len(clusters), 0))
    has = np.isfinite(every)
    places = np.flatnonzero(has.all(axis=1) & bool(there))
    lacking = dict(zip(there, (~has[has.any(axis=1)]).sum(axis=0).tolist(), strict=True))
    return SharedQuestions(
        column=next(iter(tables.values())).columns[metric],
        bots=tuple(there),
        without=tuple(bot for bot in found if bot not in there),
        places=places,
        values=every[places],
        clusters=clusters[places],
        dropped=int(has.any(axis=1).sum()) - len(places),
        lacking={bot: count for bot, count in sorted(lacking.items(), key=lambda item: -item[1]) if count},
    )


def cluster_codes(table: ScoreTable, cluster: str) -> NDArray[np.intp]:
    """Code of the cluster of each case, asked or not, also of one that was corrected between two passes.

    Raises:
        InputError: there is no such way to cluster.
    """
    check_cluster(cluster)
    return codes_of_cases(table.cases, cluster)[0]


def quality_metrics(run: RunTables) -> list[str]:
    """The metrics by which bots can be ranked: with a direction, of quality, and one for each family of rates."""
    names = of_quality(next(iter(run.tables.values())).columns)
    valued = [name for name in names if any(np.isfinite(each.values[name]).any() for each in run.tables.values())]
    return valued or names


def goodness_range(column: MetricColumn) -> tuple[float | None, float | None]:
    """Least and greatest value of a metric once it is turned so that higher is better."""
    if column.better == "higher":
        return column.low, column.high
    return None if column.high is None else -column.high, None if column.low is None else -column.low


def as_measured(goodness: float, column: MetricColumn) -> float:
    """A value as the metric has it, from one that was turned so that higher is better."""
    return goodness if column.better == "higher" else -goodness
