"""Intensity curve: how flips and scores answer to the share of a question that is changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparing.estimate import Estimate, estimate
from ..comparing.score_table import Figures, Flags
from ..summary import MetricColumn
from .breakdown import Breakdown, breakdown
from .flip_table import control_flips
from .reworded_pairs import RewordedPairs


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One intensity of one kind.

    Attributes:
        intensity: share of the units that were changed.
        flips: flip rate over comparable rows, with its interval; None when there is none.
        above_control: how far the flip rate lies above the control's, as it was found; None without both.
        fitted: the same, made to rise with the intensity (isotonic regression).
        score: mean of the metric, with its interval.
    """

    intensity: float
    flips: Estimate | None
    above_control: float | None
    fitted: float | None
    score: Estimate | None


@dataclass(frozen=True, slots=True)
class IntensityCurve:
    """How one metric of one bot answers to one kind of rewording, and where it breaks down."""

    kind: str
    points: tuple[CurvePoint, ...]
    breakdown: Breakdown | None
    controlled: bool


def intensity_curves(pairs: RewordedPairs, column: MetricColumn, level: float, seed: int) -> tuple[IntensityCurve, ...]:
    """The curve of every kind that must get the same answer and has a measure of intensity.

    Args:
        pairs: the questions of a bot with their rewordings.
        column: the metric.
        level: by how much the flip rate has to exceed the control's.
        seed: of the draws.
    """
    return tuple(
        _curve(pairs, column, kind, chosen & pairs.is_same, level, seed)
        for (kind, must), chosen in pairs.kinds.items()
        if must == "same" and (chosen & pairs.is_same).any() and _intensities(pairs, chosen)
    )


def _intensities(pairs: RewordedPairs, chosen: Flags) -> list[float]:
    found = {each.intensity for each, wanted in zip(pairs.rewordings, chosen, strict=True) if wanted}
    return sorted(intensity for intensity in found if intensity is not None and intensity > 0)


def _curve(
    pairs: RewordedPairs, column: MetricColumn, kind: str, chosen: Flags, level: float, seed: int
) -> IntensityCurve:
    intensities = _intensities(pairs, chosen)
    given = np.array([np.nan if each.intensity is None else each.intensity for each in pairs.rewordings])
    flips, control = pairs.flips(column), control_flips(pairs, column)
    at = [chosen & (given == intensity) for intensity in intensities]
    rates = np.stack([pairs.per_source(flips, each) for each in at], axis=1)
    above = rates if control is None else rates - control[:, np.newaxis]
    found = breakdown(above, pairs.clusters, intensities, level, seed)
    points = [
        _point(pairs, column, intensity, each, flips, found, place)
        for place, (intensity, each) in enumerate(zip(intensities, at, strict=True))
    ]
    return IntensityCurve(kind, tuple(points), found, control is not None)


def _point(
    pairs: RewordedPairs, column: MetricColumn, intensity: float, chosen: Flags, flips: Figures,
    found: Breakdown | None, place: int,
) -> CurvePoint:  # fmt: skip
    clusters = pairs.clusters[pairs.sources[chosen]]
    rate = estimate(flips[chosen].ravel(), np.repeat(clusters, pairs.repeats), 0, 1)
    score = estimate(pairs.values(column.name)[1][chosen], clusters, column.low, column.high)
    raw, fitted = (found.above_control[place], found.fitted[place]) if found else (None, None)
    return CurvePoint(intensity, rate, raw, fitted, score)
