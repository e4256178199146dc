"""Prediction-powered inference: the mean that people would find, from few of their labels and many verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, pvariance

FEWEST = 30  # labels below which figures are indicative only


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval, and how much of the judge is in it.

    Attributes:
        mean: the estimate.
        low: lower end of the interval.
        high: upper end.
        weight: λ from 0 (labels alone) to 1 (plain PPI).
        standard_error: of the mean.
    """

    mean: float
    low: float
    high: float
    weight: float
    standard_error: float


def corrected_mean(
    labels: Sequence[float], verdicts: Sequence[float], others: Sequence[float],
    weight: float | None = None, level: float = 0.95,
) -> Estimate:  # fmt: skip
    """θ = λ·mean(others) + mean(labels - λ·verdicts), with the normal interval of its standard error.

    Args:
        labels: what people say of n rows, drawn at random; at least one.
        verdicts: what the judge says of the same rows.
        others: what the judge says of the other rows; may be empty, then the labels stand alone.
        weight: λ; None takes the one with the least variance, cut to 0 to 1.
        level: of the interval.

    Source: Angelopoulos et al. 2023 (PPI) and Angelopoulos, Duchi, Zrnic 2023 (PPI++), population variances.
    """
    if len(labels) != len(verdicts) or not labels:
        raise ValueError("labels and verdicts belong to the same rows, of which there is at least one")
    if not others:
        weight = 0.0
    elif weight is None:
        weight = best_weight(labels, verdicts, others)
    rest = [label - weight * verdict for label, verdict in zip(labels, verdicts, strict=True)]
    mean = fmean(rest) + (weight * fmean(others) if weight else 0.0)
    variance = pvariance(rest) / len(rest)
    if weight:
        variance += weight**2 * pvariance(others) / len(others)
    error = math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half, weight, error)


def best_weight(labels: Sequence[float], verdicts: Sequence[float], others: Sequence[float]) -> float:
    """The λ from 0 to 1 with which the variance of ``corrected_mean`` is least; 0 where the judge never differs."""
    mean_label, mean_verdict = fmean(labels), fmean(verdicts)
    covariance = fmean((y - mean_label) * (v - mean_verdict) for y, v in zip(labels, verdicts, strict=True))
    spread = pvariance(verdicts) + pvariance(others) * len(labels) / len(others)
    return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0


def design_effect(values: Sequence[float], clusters: Sequence[object]) -> float:
    """How many times greater the variance of the mean is than that of independent values (Kish 1965).

    1.0 where every value is its own cluster, or where nothing varies.
    """
    mean = fmean(values)
    sums: dict[object, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    squares = sum((value - mean) ** 2 for value in values)
    return sum(total**2 for total in sums.values()) / squares if squares > 0 else 1.0
