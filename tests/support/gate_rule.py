"""The gate's rule on made-up differences: in how many samples it says that something regressed or is not worse."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from paired_samples import Source
from proctor.reports.statistics.intervals import Clusters
from proctor.reports.statistics.paired import (
    FEWEST_FLIPPED,
    Intervals,
    cautious_p_values,
    mcnemar,
    paired_intervals,
    sign_flip,
)
from proctor.reports.statistics.power import holm


@dataclass(frozen=True)
class Verdicts:
    """Samples of a hundred in which any metric regressed, and in which all are not worse."""

    regressed: float
    not_worse: float


def verdicts(metrics: Sequence[Source], samples: int, margin: float | None = None, seed: int = 1) -> Verdicts:
    """Judge samples by the rule: not worse where the lower end is above -margin; else regressed where the upper end is
    below 0 and the cautious p value, after Holm's correction over the metrics, is at most 0.05.

    Without a margin nothing is excused as not worse, which is when most regressions are found.
    """
    clusters = Clusters.of(metrics[0].codes)
    drawn = [metric.samples(samples, seed + place) for place, metric in enumerate(metrics)]
    found = [
        paired_intervals(values, clusters, metric.reach, metric.binary)
        for values, metric in zip(drawn, metrics, strict=True)
    ]
    excused = [_excused(each, margin) for each in found]
    worse = [(each.high < 0) & ~excuse for each, excuse in zip(found, excused, strict=True)]
    regressed = 0
    for place in np.flatnonzero(np.any(worse, axis=0)):
        p_values = [_p_value(values[place], metric, clusters) for values, metric in zip(drawn, metrics, strict=True)]
        regressed += any(each[place] and p <= 0.05 for each, p in zip(worse, holm(p_values), strict=True))
    return Verdicts(100 * regressed / samples, 100 * float(np.all(excused, axis=0).mean()))


def _excused(found: Intervals, margin: float | None) -> np.ndarray:
    return np.zeros(len(found.low), bool) if margin is None else found.low > -margin


def _p_value(values: np.ndarray, metric: Source, clusters: Clusters) -> float:
    """The cautious p value of ``difference``, which the tests compare with this."""
    if metric.binary and clusters.single:
        p_value = mcnemar(int((values > 0).sum()), int((values < 0).sum()))
    else:
        p_value = sign_flip(clusters.sums(values))[0] if clusters.count >= FEWEST_FLIPPED else 0.0
    return max(p_value, float(cautious_p_values(values[None], clusters, metric.reach, metric.binary)[0]))
