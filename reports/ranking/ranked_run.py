"""Ranked run: all that a run says of which bot is best, put together."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from ...metrics.evaluator_table import RATES
from ..comparing.clustered_mean import Mean, clustered_mean
from ..comparing.score_table import RunTables, ScoreTable
from ..primary import OPERATIONAL, by_directness, named_primary
from ..statistics.paired import Difference
from ..summary import MetricColumn
from .best_per_question import BestPerQuestion, best_per_question, gain_of
from .confidence import Confidence, confidences
from .frontier import Offer, frontier, mean_cost, median_latency
from .judge_agreement import Judges, judges_of
from .rank_agreement import RankAgreement, agreement
from .ranking import Goodness, Ranking, rank_all
from .router import Router, route
from .shared_questions import (
    SharedQuestions,
    cluster_codes,
    goodness_range,
    quality_metrics,
    share_questions,
)


@dataclass(frozen=True)
class RankedMetric:
    """The bots on one metric; means are as measured, in the direction of the metric."""

    column: MetricColumn
    shared: SharedQuestions
    means: tuple[Mean, ...]
    ranking: Ranking


@dataclass(frozen=True)
class Lead:
    """By how much the best bot leads the one that is likeliest to be the best in its stead."""

    bot: str
    rival: str
    by: Difference


@dataclass(frozen=True)
class InDetail:
    """What is worked out for a metric of which more is wanted than who is best; no lead where several bots tie."""

    metric: RankedMetric
    lead: Lead | None
    offers: tuple[Offer, ...]
    best: BestPerQuestion
    routers: tuple[Router, ...]


@dataclass(frozen=True)
class RankedRun:
    """A run and its ranking.

    Attributes:
        run: the run.
        cluster: what keeps questions together.
        metrics: the ranking by every metric of quality.
        details: by the metrics that were asked for, or the primary one.
        chosen: whether that one was chosen by us.
        agreement: of the rankings by all metrics that rank two bots or more.
        judges: what other judges say.
        confidences: what tells the confidence of each bot, where anything does.
        costs: what an answer of a bot was taken to cost, where its rows don't say; stated, or nothing for want of a
            language model.
        unranked: metrics of which fewer than two bots have a value on the same questions.
    """

    run: RunTables
    cluster: str
    metrics: Mapping[str, RankedMetric]
    details: tuple[InDetail, ...]
    chosen: bool
    agreement: RankAgreement
    judges: Judges
    confidences: Mapping[str, Confidence]
    costs: Mapping[str, float]
    unranked: tuple[str, ...]


def ranked_run(
    run: RunTables, wanted: Sequence[str] = (), cluster: str = "source", costs: Mapping[str, float] | None = None,
    seed: int = 0,
) -> RankedRun:  # fmt: skip
    """Rank the bots of a run.

    Args:
        run: with at least two bots.
        wanted: metrics to go into; none means the primary one, named or chosen.
        cluster: what keeps questions together, as in ``comparable.pair``.
        costs: what an answer of a bot costs, by its name, where its rows don't say.
        seed: of all draws.

    Raises:
        InputError: one bot alone, a metric or bot that is not there, or nothing to rank by.
    """
    if len(run.tables) < 2:
        raise InputError(f"Run {run.run} has the bot {', '.join(run.tables)} alone; a ranking wants two or more.")
    table = next(iter(run.tables.values()))
    wanted = [_of_quality(known_metric(name, table)) for name in wanted]
    names = list(dict.fromkeys([*quality_metrics(run), *wanted]))
    codes = cluster_codes(table, cluster)
    ranked = _ranked(run.tables, names, codes, seed)
    leading = list(dict.fromkeys(wanted)) or _leading(ranked, named_primary(run.manifest))
    missing = [name for name in leading if name not in ranked]
    if missing or not leading:
        what = f"the metric {missing[0]}" if missing else "any metric with a direction"
        none = f"no two bots have a value of {what} on the same questions"
        if len(run.tables) > 2:
            none = f"there is no question on which all bots that have values of {what} have one; --bot names some"
        raise InputError(f"Run {run.run}: {none}.")
    taken = _costs(run.tables, costs or {})
    told = confidences(run)
    return RankedRun(
        run=run,
        cluster=cluster,
        metrics=ranked,
        details=tuple(_detail(run.tables, ranked[name], codes, told, taken, seed) for name in leading),
        chosen=not wanted and leading[0] != named_primary(run.manifest),
        agreement=agreement({name: each.ranking for name, each in ranked.items()}),
        judges=judges_of(run, list(ranked), cluster, seed),
        confidences=told,
        costs=taken,
        unranked=tuple(name for name in names if name not in ranked),
    )


def _leading(ranked: Mapping[str, RankedMetric], primary: str) -> list[str]:
    """The primary metric; another where the bots can't be ranked by it."""
    if primary in ranked:
        return [primary]
    return by_directness({name: [mean.value for mean in each.means] for name, each in ranked.items()})[:1]


def _of_quality(name: str) -> str:
    if name in OPERATIONAL:
        raise InputError(
            f"{name} is what an answer takes, not how good it is; it stands on the frontier beside each metric of"
            " quality, and 'proctor compare' tests it."
        )
    return name


def known_metric(name: str, table: ScoreTable) -> str:
    """The name, where the run has such a metric and it has a direction; else an InputError with the nearest.

    The name of a family stands for its first rate, as ``pii_leakage`` for ``pii_leakage.passes``.
    """
    if name not in table.columns and f"{name}.{RATES[0]}" in table.columns:
        name = f"{name}.{RATES[0]}"
    column = table.columns.get(name)
    if column is None:
        near = difflib.get_close_matches(name, table.columns, 1, 0.5)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(
            f"There is no metric {name!r} in run {table.run}.{hint} Its metrics: {', '.join(table.columns)}."
        )
    if column.better == "neither":
        raise InputError(f"{name} has no direction: neither high nor low is better, so it ranks nobody.")
    return name


def _ranked(
    tables: Mapping[str, ScoreTable], names: Sequence[str], codes: NDArray[np.intp], seed: int
) -> dict[str, RankedMetric]:
    shared = {name: share_questions(tables, name, codes) for name in names}
    whole = {name: each for name, each in shared.items() if len(each.bots) > 1 and len(each.values)}
    goodness = {name: Goodness(each.bots, each.goodness, each.clusters) for name, each in whole.items()}
    return {
        name: RankedMetric(whole[name].column, whole[name], _means(whole[name]), ranking)
        for name, ranking in rank_all(goodness, seed).items()
    }


def _means(shared: SharedQuestions) -> tuple[Mean, ...]:
    column = shared.column
    return tuple(clustered_mean(values, shared.clusters, column.low, column.high) for values in shared.values.T)


def _costs(tables: Mapping[str, ScoreTable], stated: Mapping[str, float]) -> dict[str, float]:
    """Costs that were stated; and nothing for a bot without a language model, where another bot's cost is known."""
    for bot in stated:
        if bot not in tables:
            near = difflib.get_close_matches(bot, tables, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f"--costs: there is no bot {bot!r} in the run.{hint} Its bots: {', '.join(tables)}.")
    known = {bot for bot, table in tables.items() if bot in stated or mean_cost(table) is not None}
    free = {bot: 0.0 for bot, table in tables.items() if known and bot not in known and table.embedded}
    return {**free, **stated}


def _detail(
    tables: Mapping[str, ScoreTable], metric: RankedMetric, codes: NDArray[np.intp],
    told: Mapping[str, Confidence], costs: Mapping[str, float], seed: int,
) -> InDetail:  # fmt: skip
    shared, ranking, name = metric.shared, metric.ranking, metric.column.name
    sign = 1.0 if metric.column.better == "higher" else -1.0
    repeated = np.stack([sign * tables[bot].values[name][shared.places] for bot in shared.bots], axis=1)
    edges = goodness_range(metric.column)
    best = best_per_question(shared.bots, repeated, shared.clusters, *edges, seed=seed)
    offers = frontier([
        Offer(bot, float(mean), median_latency(tables[bot]), mean_cost(tables[bot], costs.get(bot)))
        for bot, mean in zip(shared.bots, ranking.means, strict=True)
    ])  # fmt: skip
    routers = [
        route(
            (tables[first], tables[second], tables[best.single]), name, told[first], codes,
            (costs.get(first), costs.get(second), costs.get(best.single)), seed,
        )
        for first in shared.bots if first in told
        for second in shared.bots if second != first
    ]  # fmt: skip
    found = sorted((each for each in routers if each), key=lambda each: -each.held_out)
    return InDetail(metric, _lead(metric, seed), tuple(offers), best, tuple(found))


def _lead(metric: RankedMetric, seed: int) -> Lead | None:
    ranking, goodness = metric.ranking, metric.shared.goodness
    if len(ranking.winners) > 1:
        return None
    first, *others = ranking.order
    rival = max(others, key=lambda place: ranking.best[place])
    edges = goodness_range(metric.column)
    by = gain_of(goodness[:, rival], goodness[:, first], metric.shared.clusters, *edges, seed)
    return Lead(ranking.bots[first], ranking.bots[rival], by)
