"""Renderings of a ranking and of abstention as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict

from ..compare.scores import Figures, Mean, ScoreTable
from ..ranking.abstention import Abstention, Promise, RiskCoverage
from ..ranking.ranked_run import AbstainedRun, Caution, InDetail, Judges, RankedMetric, RankedRun
from ..ranking.ranking import RankAgreement, Ranking, as_measured, names_in_order
from ..ranking.routing import BestPerQuestion, Router


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


MOST_POINTS = 200  # of a curve


def abstained_object(found: AbstainedRun) -> dict[str, object]:
    """All of it; bots are in the order of their cost."""
    return {
        "run": found.run.run,
        "suite": found.run.suite,
        "status": found.run.status,
        "right_when": {
            "metric": found.rule.column.name,
            "threshold": found.rule.threshold,
            "better": found.rule.column.better,
            "chosen_by_default": found.chosen,
        },
        "questions": {
            "answerable": found.answerable,
            "unanswerable": found.unanswerable,
            "unknown": found.unknown,
        },
        "costs": asdict(found.costs),
        "risk": found.risk,
        "cluster": found.cluster,
        "bots": {bot: _bot(each, found.cautions.get(bot)) for bot, each in found.bots.items()},
        "ranking": None if found.ranking is None else ranking_object(found.ranking),
        "without_outcome": list(found.without),
    }


def _bot(found: Abstention, caution: Caution | None) -> dict[str, object]:
    return {
        "rows": found.rows,
        "failed": found.failed,
        "unmarked": found.unmarked,
        "tells_when_it_abstains": found.tells,
        "outcomes": {name: {"rows": found.counts[name], **mean_object(rate)} for name, rate in found.rates.items()},
        "expected_cost": mean_object(found.cost),
        "confidence": None if caution is None else _caution(caution),
    }


def _caution(caution: Caution) -> dict[str, object]:
    return {
        "key": caution.confidence.key,
        "floor": caution.confidence.floor,
        "abstained_below_floor": caution.hidden,
        "risk_coverage": None if caution.curve is None else _curve(caution.curve),
        "promise_for_questions_like_these": _promise(caution.alike),
        "promise_for_other_clusters": _promise(caution.elsewhere),
    }


def _curve(curve: RiskCoverage) -> dict[str, object]:
    step = -(-curve.answers // MOST_POINTS)
    kept = [*range(curve.answers - 1, -1, -step)][::-1]  # the last is always there
    return {
        "aurc": curve.aurc,
        "best_possible": curve.best_aurc,
        "random_order": curve.random_aurc,
        "answers": curve.answers,
        "questions": curve.questions,
        "points": [
            {
                "coverage": float(curve.coverage[place]),
                "risk": float(curve.risk[place]),
                "threshold": float(curve.thresholds[place]),
            }
            for place in kept
        ],
    }


def _promise(promise: Promise | None) -> dict[str, object] | None:
    return None if promise is None else asdict(promise)
