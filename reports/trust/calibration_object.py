"""Calibration object: a calibration as JSON has it."""

from __future__ import annotations

from ..statistics.prediction_powered import Estimate
from ..statistics.rater_agreement import Share
from .calibration import Calibration


def calibration_object(found: Calibration) -> dict[str, object]:
    """A calibration for machines; the database keeps the same object."""
    confusion = found.confusion
    return {
        "bot": found.bot,
        "labels": found.labels,
        "others": found.others,
        "parse_failures": found.unreadable,
        "measure": found.measure,
        "agreement": _share(confusion.agreement),
        "kappa": confusion.kappa,
        "sensitivity": _share(confusion.sensitivity),
        "specificity": _share(confusion.specificity),
        "confusion": {
            "both_pass": confusion.both_pass,
            "only_people": confusion.only_people,
            "only_judge": confusion.only_judge,
            "both_fail": confusion.both_fail,
        },
        "judge_mean": found.judge_mean,
        "people": _estimate(found.people),
        "ppi": found.plain and _estimate(found.plain),
        "corrected": _estimate(found.corrected),
        "is_random": found.is_random,
        "warnings": list(found.warnings),
    }


def _share(share: Share | None) -> dict[str, object] | None:
    if share is None:
        return None
    return {"value": share.value, "ci_low": share.low, "ci_high": share.high, "rows": share.count}


def _estimate(estimate: Estimate) -> dict[str, object]:
    return {
        "mean": estimate.mean,
        "ci_low": estimate.low,
        "ci_high": estimate.high,
        "weight": estimate.weight,
        "standard_error": estimate.standard_error,
    }
