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
    return stratified_mean([Stratum(labels, verdicts, others)], weight, level)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows of one kind: what people and judge say of those with a label, and what the judge says of the others."""

    labels: Sequence[float]
    verdicts: Sequence[float]
    others: Sequence[float]

    @property
    def size(self) -> int:
        """All rows."""
        return len(self.labels) + len(self.others)


def stratified_mean(strata: Sequence[Stratum], weight: float | None = None, level: float = 0.95) -> Estimate:
    """``corrected_mean`` over rows of several kinds, each counted by its rows, whatever share of them has labels.

    λ is one for all kinds, but for those without other rows, where the labels stand alone. Variances are those over
    the rows of all kinds, so that a kind with a single label makes nothing look certain.

    Raises:
        ValueError: a kind has no label, or not as many verdicts as labels.

    Source: Fisch et al. 2024 (stratified PPI), with variances as above.
    """
    if any(len(each.labels) != len(each.verdicts) or not each.labels for each in strata):
        raise ValueError("labels and verdicts belong to the same rows, of which there is at least one")
    rows = sum(each.size for each in strata)
    with_others = [each for each in strata if each.others]
    spread = sum((each.size / rows) ** 2 / len(each.labels) for each in strata)
    spread_others = sum((each.size / rows) ** 2 / len(each.others) for each in with_others)
    others = [value for each in with_others for value in each.others]
    if not others:
        weight = 0.0
    elif weight is None:
        labels = [value for each in with_others for value in each.labels]
        verdicts = [value for each in with_others for value in each.verdicts]
        weight = best_weight(labels, verdicts, others, spread_others / spread)
    mean, rest = 0.0, []
    for each in strata:
        share = weight if each.others else 0.0
        own = [label - share * verdict for label, verdict in zip(each.labels, each.verdicts, strict=True)]
        mean += each.size / rows * (fmean(own) + (share * fmean(each.others) if share else 0.0))
        rest += own
    variance = pvariance(rest) * spread + (weight**2 * pvariance(others) * spread_others if weight else 0.0)
    error = math.sqrt(variance)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return Estimate(mean, mean - half, mean + half, weight, error)


def best_weight(
    labels: Sequence[float], verdicts: Sequence[float], others: Sequence[float], ratio: float | None = None
) -> float:  # fmt: skip
    """The λ from 0 to 1 with which the variance of ``corrected_mean`` is least; 0 where the judge never differs.

    Args:
        labels: what people say.
        verdicts: what the judge says of the same rows.
        others: what the judge says of the other rows.
        ratio: by how much less the mean of ``others`` varies than that of ``labels``, were all values spread alike;
            left out, as their numbers have it.
    """
    mean_label, mean_verdict = fmean(labels), fmean(verdicts)
    covariance = fmean((y - mean_label) * (v - mean_verdict) for y, v in zip(labels, verdicts, strict=True))
    spread = pvariance(verdicts) + pvariance(others) * (len(labels) / len(others) if ratio is None else ratio)
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
