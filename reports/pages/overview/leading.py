"""Leading: by the primary metric, which bot leads, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .... import InputError
from ...comparing.comparable import Pairing, pair
from ...comparing.doubts import doubts
from ...comparing.metric_comparison import MetricComparison, compare_metric, correct_all
from ...comparing.run_tables import run_tables
from ...comparing.score_table import RunTables
from ...comparing.sides import Side
from ...leaderboard import count
from ...primary import RIGHTNESS, of_quality
from ...ranking.ranked_run import InDetail, ranked_run
from ...ranking.shared_questions import SharedQuestions
from ...reported_run import ReportedRun

CLUSTER = "source"  # what keeps questions together, as for the intervals of the leaderboard


@dataclass(frozen=True, slots=True)
class Against:
    """The leader against one rival, on the questions that both have a value on; each is compared alone."""

    rival: str
    found: MetricComparison


@dataclass(frozen=True, slots=True)
class Leading:
    """Who leads on the metric that ``proctor rank`` would take.

    Attributes:
        detail: the bots ranked by it, and what each takes in time and money.
        leader: the one that leads; None where several tie.
        against: the leader against the next best, and against whoever is likeliest to be the best in its stead.
        doubts: what makes it weaker than it looks, in sentences.
    """

    detail: InDetail
    leader: str | None
    against: tuple[Against, ...]
    doubts: tuple[str, ...]


def leading_of(run: ReportedRun) -> Leading | None:
    """Rank the bots of a run; None where there is nothing to rank them by.

    Only the metrics of which one is chosen are read, because those of a whole run may be millions of values.
    """
    for metrics in _choices(run):
        tables = run_tables(run.store, run.id, metrics=metrics)
        try:
            detail = ranked_run(tables, cluster=CLUSTER).details[0]
        except InputError:  # no two bots have a value on the same questions
            continue
        return _compared(tables, detail)
    return None


def _choices(run: ReportedRun) -> Iterator[Sequence[str]]:
    """The metrics to choose from: the named one; those that say who is right; the first that has values; any."""
    valued = [name for name in of_quality(run.columns) if sum(bot.metrics[name].n_ok > 0 for bot in run.bots) > 1]
    direct = [name for name in RIGHTNESS if name in valued]
    primary = run.summary.primary
    named = [primary.name] if primary is not None and primary.named and primary.name in valued else []
    yield from (names for names in (named, direct, valued[:1], valued) if names)


def _compared(tables: RunTables, detail: InDetail) -> Leading:
    shared, lead, ranking = detail.metric.shared, detail.lead, detail.metric.ranking
    left_out = tuple(_left_out(shared))
    if lead is None:
        return Leading(detail, None, (), left_out)
    rivals = dict.fromkeys([ranking.bots[ranking.order[1]], lead.rival])
    pairings = {rival: pair(tables.tables[rival], tables.tables[lead.bot], CLUSTER) for rival in rivals}
    found = ((rival, _comparison(pairing, shared.column.name)) for rival, pairing in pairings.items())
    against = tuple(Against(rival, comparison) for rival, comparison in found if comparison)
    side = Side(tables)
    said = [sentence for pairing in pairings.values() for sentence in doubts(side, side, pairing)]
    return Leading(detail, lead.bot, against, (*dict.fromkeys(said), *left_out))


def _comparison(pairing: Pairing, metric: str) -> MetricComparison | None:
    found = compare_metric(pairing, metric, None, seed=0)
    return correct_all([found], "holm")[0] if found else None


def _left_out(shared: SharedQuestions) -> Iterator[str]:
    name = shared.column.name
    if shared.without:
        yield f"Not ranked, for want of any value of {name}: {', '.join(shared.without)}."
    if shared.dropped:
        lacking = ", ".join(f"{bot} on {number:,}" for bot, number in shared.lacking.items())
        yield (
            f"The ranking rests on {count(len(shared.values), 'question')}; left out: {shared.dropped:,} on which not"
            f" every bot has a value of {name} (none: {lacking})."
        )
