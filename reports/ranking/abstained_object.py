"""Abstained object: what bots answer and decline, for machines."""

from __future__ import annotations

from dataclasses import asdict

from .abstained_run import AbstainedRun, Caution
from .abstention import Abstention
from .promised_threshold import Promise
from .ranked_object import mean_object, ranking_object
from .risk_coverage import RiskCoverage

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
        "tells_when_it_declines": found.tells,
        "outcomes": {name: {"rows": found.counts[name], **mean_object(rate)} for name, rate in found.rates.items()},
        "expected_cost": mean_object(found.cost),
        "confidence": None if caution is None else _caution(caution),
    }


def _caution(caution: Caution) -> dict[str, object]:
    return {
        "key": caution.confidence.key,
        "floor": caution.confidence.floor,
        "declined_below_floor": caution.hidden,
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
