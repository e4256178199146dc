"""Ranked object: a ranking for machines, with None for what is not known."""

from __future__ import annotations

import math
from dataclasses import asdict

from ..comparing.clustered_mean import Mean
from ..comparing.score_table import Figures, ScoreTable
from .best_per_question import BestPerQuestion
from .judge_agreement import Judges
from .rank_agreement import RankAgreement
from .ranked_run import InDetail, RankedMetric, RankedRun
from .ranking import Ranking, names_in_order
from .router import Router
from .shared_questions import as_measured


def ranked_object(ranked: RankedRun) -> dict[str, object]:
    """All of a ranking; figures of quality are as the metric has them, and of gains a positive one is better."""
    run = ranked.run
    return {
        "run": run.run,
        "suite": run.suite,
        "status": run.status,
        "bots": list(run.tables),
        "without_answer": {bot: _without_answer(table) for bot, table in run.tables.items()},
        "primary": run.primary and run.primary.as_object,
        "cluster": ranked.cluster,
        "metrics": {name: _metric(each) for name, each in ranked.metrics.items()},
        "details": {each.metric.column.name: _detail(each) for each in ranked.details},
        "metric_chosen_by_default": ranked.chosen,
        "agreement": _agreement(ranked.agreement),
        "judges": _judges(ranked.judges),
        "confidences": {bot: {"key": each.key, "floor": each.floor} for bot, each in ranked.confidences.items()},
        "costs_taken": dict(ranked.costs),
        "not_ranked_by": list(ranked.unranked),
    }


def _without_answer(table: ScoreTable) -> dict[str, int]:
    rows, timed_out, failed = (int(flags.sum()) for flags in (table.asked, table.timed_out, table.failed))
    return {"rows": rows, "timed_out": timed_out, "failed": failed}


def ranking_object(ranking: Ranking) -> dict[str, object]:
    """Who is best and how sure that is (None of a single cluster); lists over bots are in their order."""
    known = ranking.clusters > 1  # a single cluster tells nothing of how means vary
    return {
        "order": [list(group) for group in names_in_order(ranking)],
        "winners": list(ranking.winners),
        "same_winner": ranking.same_winner if known else None,
        "same_ranking": ranking.same_ranking if known else None,
        "questions": ranking.questions,
        "clusters": ranking.clusters,
        "resamples": ranking.draws,
        "bots": {
            bot: {
                "rank": float(ranking.ranks[place]),
                "probability_best": float(ranking.best[place]) if known else None,
                "rank_probabilities": ranking.shares[place].tolist() if known else None,
                "expected_rank": float(ranking.expected[place]) if known else None,
                "probability_above": dict(zip(ranking.bots, ranking.above[place].tolist(), strict=True))
                if known
                else None,
            }
            for place, bot in enumerate(ranking.bots)
        },
    }


def mean_object(mean: Mean) -> dict[str, object]:
    """A mean with its interval."""
    return {"mean": mean.value, "low": mean.low, "high": mean.high}


def _metric(metric: RankedMetric) -> dict[str, object]:
    return {
        "better": metric.column.better,
        "version": metric.column.version,
        "means": {bot: mean_object(mean) for bot, mean in zip(metric.shared.bots, metric.means, strict=True)},
        "without_value": list(metric.shared.without),
        "questions_left_out": metric.shared.dropped,
        "questions_without_value": dict(metric.shared.lacking),
        "ranking": ranking_object(metric.ranking),
    }


def _detail(detail: InDetail) -> dict[str, object]:
    column, lead = detail.metric.column, detail.lead
    return {
        "lead": None if lead is None else {"bot": lead.bot, "rival": lead.rival, "by": asdict(lead.by)},
        "frontier": {
            offer.bot: {
                "quality": None if offer.quality is None else as_measured(offer.quality, column),
                "latency_p50_ms": offer.latency_ms,
                "cost": offer.cost,
                "dominated_by": list(offer.dominated_by),
            }
            for offer in detail.offers
        },
        "best_per_question": _best(detail.best, detail),
        "routers": [_router(router, detail) for router in detail.routers],
    }


def _best(best: BestPerQuestion, detail: InDetail) -> dict[str, object]:
    column = detail.metric.column
    return {
        "single": best.single,
        "single_mean": as_measured(best.single_mean, column),
        "bound": as_measured(best.bound, column),
        "gain": asdict(best.gain),
        "best_on_share": dict(best.chosen),
        "cross_fitted": None if best.honest is None else as_measured(best.honest, column),
        "cross_fitted_gain": None if best.honest_gain is None else asdict(best.honest_gain),
    }


def _router(router: Router, detail: InDetail) -> dict[str, object]:
    column = detail.metric.column
    made = asdict(router)
    return made | {name: as_measured(made[name], column) for name in ("held_out", "fitted", "single_mean")}


def _agreement(found: RankAgreement) -> dict[str, object]:
    return {
        "kendall_w": found.concordance,
        "over": [found.names[place] for place in found.complete],
        "mean_tau": found.mean_tau,
        "names": list(found.names),
        "taus": _without_nan(found.taus),
        "against_majority": [asdict(each) | {"firm": each.firm} for each in found.against],
    }


def _judges(judges: Judges) -> dict[str, object]:
    return {
        "judge": judges.judge,
        "panel": judges.panel,
        "metrics": list(judges.metrics),
        "compared": {
            each.metric: {
                "runs": dict(each.runs),
                "rankings": {judge: ranking_object(ranking) for judge, ranking in each.rankings.items()},
                "agreement": _agreement(each.agreement),
            }
            for each in judges.found
        },
    }


def _without_nan(figures: Figures) -> list[list[float | None]]:
    return [[None if math.isnan(value) else value for value in line] for line in figures.tolist()]
