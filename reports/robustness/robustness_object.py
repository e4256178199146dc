"""Robustness object: what rewordings and repeats say of the bots, for machines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ..comparing.estimate import Estimate
from .agreement_table import AnswerTable, KindAnswers
from .flip_table import KindFlips
from .flipped_pairs import FlippedPair
from .intensity_curve import CurvePoint, IntensityCurve
from .robustness import BotRobustness, MetricRobustness, Robustness
from .score_spread import ScoreSpread


def robustness_object(found: Robustness, most_flips: int | None = None) -> dict[str, object]:
    """All figures; None where there is none, and then ``reasons`` says why.

    Args:
        found: what was worked out.
        most_flips: how many flipped pairs of each bot are listed; None for all that were read.
    """
    return {
        "run": found.base,
        "reworded_run": found.reworded,
        "suite": found.suite,
        "level": found.level,
        "warnings": list(found.warnings),
        "bots": {each.bot: _bot(each, most_flips) for each in found.bots},
    }


def _bot(found: BotRobustness, most_flips: int | None) -> dict[str, object]:
    return {
        "same_state": found.same_state,
        "questions": found.questions,
        "rewordings": found.rewordings,
        "repeats": found.repeats,
        "control": found.control,
        "answers": _answers(found.answers),
        "metrics": {each.column.name: _metric(each) for each in found.metrics},
        "flip_count": found.flip_count,
        "flips": [_pair(pair) for pair in found.flips[:most_flips]],
        "reasons": dict(found.reasons),
    }


def _answers(found: AnswerTable) -> dict[str, object]:
    return {
        "agreement": _estimate(found.agreement),
        "word_overlap": _estimate(found.overlap),
        "self_consistency": _estimate(found.self_consistency),
        "majority": _estimate(found.majority),
        "kinds": [_kind_answers(kind) for kind in found.kinds],
    }


def _kind_answers(found: KindAnswers) -> dict[str, object]:
    return {
        "kind": found.kind,
        "must": found.must,
        "rows": found.rows,
        "missing": found.missing,
        "same": _estimate(found.same),
        "word_overlap": _estimate(found.overlap),
        "as_wanted": _estimate(found.as_wanted),
        "above_control": None if found.above_control is None else asdict(found.above_control),
    }


def _metric(found: MetricRobustness) -> dict[str, object]:
    return {
        "better": found.column.better,
        "threshold": found.column.threshold,
        "version": found.column.version,
        "kinds": [_kind_flips(kind) for kind in found.kinds],
        "curves": [_curve(curve) for curve in found.curves],
        "over_rewordings": _spread(found.rewordings),
        "over_repeats": _spread(found.repeats),
    }


def _kind_flips(found: KindFlips) -> dict[str, object]:
    return {
        "kind": found.kind,
        "must": found.must,
        "pass_to_fail": found.pass_to_fail,
        "fail_to_pass": found.fail_to_pass,
        "flips": found.counts.flips,
        "comparable": found.counts.comparable,
        "not_comparable": found.counts.not_comparable,
        "flip_rate": found.counts.rate,
        "flip_rate_interval": None if found.rate is None else _ends(found.rate),
        "above_control": None if found.above_control is None else asdict(found.above_control),
        "p_adjusted": found.p_adjusted,
        "is_above_control": found.is_above,
        "score_change": None if found.score_change is None else asdict(found.score_change),
    }


def _curve(found: IntensityCurve) -> dict[str, object]:
    return {
        "kind": found.kind,
        "controlled": found.controlled,
        "points": [_point(point) for point in found.points],
        "breakdown": None
        if found.breakdown is None
        else asdict(found.breakdown) | {"sentence": found.breakdown.sentence},
    }


def _point(found: CurvePoint) -> dict[str, object]:
    return {
        "intensity": found.intensity,
        "flip_rate": _estimate(found.flips),
        "above_control": found.above_control,
        "fitted": found.fitted,
        "score": _estimate(found.score),
    }


def _spread(found: ScoreSpread | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "plain": _estimate(found.plain),
        "worst": _estimate(found.worst),
        "standard_deviation": _estimate(found.deviation),
        "range": _estimate(found.range),
        "without_value": found.without_value,
    }


def _pair(found: FlippedPair) -> dict[str, object]:
    first = found.first
    return {
        "question_id": first.rewording.source,
        "reworded_id": first.key,
        "kind": first.rewording.kind,
        "intensity": first.rewording.intensity,
        "must": first.rewording.must,
        "question": first.question,
        "reworded": first.reworded,
        "answer": found.answer,
        "reworded_answer": found.reworded_answer,
        "flips": [
            {
                "metric": flip.metric, "direction": flip.direction, "threshold": flip.threshold,
                "before": flip.before, "after": flip.after, "repeat": flip.repeat, "repeats": flip.repeats,
            }
            for flip in found.flips
        ],
    }  # fmt: skip


def _estimate(found: Estimate | None) -> dict[str, object] | None:
    return None if found is None else asdict(found)


def _ends(found: Estimate) -> Iterable[float | None]:
    return [found.low, found.high]
