"""The interval of a mean difference over clustered questions, for one sample or many at once.

How it was chosen: by the share of intervals that hold the truth, and by what the tests that go with them find, over
3,000 to 20,000 samples of each of some 200 cases (12 to 500 questions alone; 5 to 50 documents, of equal and of very
unequal sizes; normal, exponential, lognormal, mostly-zero and yes/no differences).

Scores get CR2 with Bell and McCaffrey's degrees of freedom for a correlation of 0.1: 94 to 96 of 100 where differences
lean to no side, but 92 to 94 where they lean (exponential by document, or of 30 questions). Hall's correction for
skewness mends that; all of it makes wide intervals and takes 5 to 14 points of the power to find a loss in ten to
twenty documents, so that ``skewness.STRENGTH`` of it is made, and only where it makes the interval longer. That holds
the truth 93 to 97 of 100, costs 1 to 3 points of power, and lets at most 5 of 100 find a difference where there is none
and differences lean to no side, 5 to 8 where they lean. Questions alone that answer yes or no get Tango's score
interval, which agrees with McNemar's test on what is a difference.

Exceptions: 97 to 100 where fewer than some five changes are to be expected, as what wasn't seen is allowed for; 86 to
93 with losses alone, 5 of 100 yes/no questions, correlated by 0.5 within a document: they hide in one or two.

30 clusters of 10 questions, correlated by 0.22: 95 of 100, and 74.6 were the questions taken for independent.

Sources: Bell and McCaffrey 2002, Imbens and Kolesár 2016 (CR2); Hall 1992 (skewness); Tango 1998 (score interval of
paired shares); Agresti and Min 2005 (one change added to each side); Kish 1965 (effective number of questions).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .chance import Figures
from .clusters import Clusters
from .skewness import STRENGTH, lean_of, leaning_reach
from .student import student_quantile, two_sided_p

FEW = 5  # changed questions below which their spread isn't believed
ALIKE = 0.2  # correlation within a cluster that is assumed where too few questions changed to tell it
_HALVINGS = 60  # of the range, after which a score interval's end is exact
SINGLE = 0.05  # p value that decides on one metric
EDGE = 1e-9  # by which what decides is on the safe side of rounding
_NOTHING = 1e-18  # variance, as a share of the mean square, that is only rounding


@dataclass(frozen=True, slots=True)
class Intervals:
    """Means with their intervals; every array has one place per sample."""

    mean: Figures
    error: Figures
    low: Figures
    high: Figures
    few_changes: NDArray[np.bool_]


def paired_intervals(
    values: Figures, clusters: Clusters, reach: float | Figures, binary: bool = False, level: float = 0.95
) -> Intervals:  # fmt: skip
    """Intervals of the mean of differences.

    Yes/no differences of questions alone get Tango's score interval, so that no change in 30 questions is not reported
    as certain. Others get CR2 with the correction for skewness (above), and no less than what one more change either
    way would give where fewer than five questions changed, or where nothing varies.

    Args:
        values: differences of shape (samples, questions), 0 where nothing changed.
        clusters: of the questions, at least two.
        reach: the greatest difference that the metric allows, for all or by sample.
        binary: all differences are -1, 0 or 1.
        level: share of intervals that hold the truth.
    """
    found = _Moments.of(values, clusters)
    error = np.sqrt(found.variance)
    if binary and clusters.single:
        low, high = _score_interval(found, clusters.questions, NormalDist().inv_cdf((1 + level) / 2))
        return Intervals(found.mean, error, low, high, found.few_changes)
    quantile = float(student_quantile((1 + level) / 2, clusters.degrees()))
    below, above = leaning_reach(found.off, found.variance, quantile)
    low, high = found.mean - below, found.mean + above
    centre, wider = _one_more_each_way(found, clusters, reach)
    low = np.where(found.few_changes, np.minimum(low, centre - quantile * wider), low)
    high = np.where(found.few_changes, np.maximum(high, centre + quantile * wider), high)
    return Intervals(found.mean, error, low, high, found.few_changes)


def cautious_p_values(
    values: Figures, clusters: Clusters, reach: float | Figures, binary: bool = False
) -> Figures:  # fmt: skip
    """Two-sided p values by the same estimate as the intervals, for verdicts.

    A permutation test by signs takes differences to lean to no side. Where they lean, its small p values are too small,
    and those of several metrics, corrected by Holm's method, rest on small ones. The greater of both p values is what a
    verdict takes. Below 0.05, which decides where there is one metric alone, skewness is corrected for in full, though
    never to above 0.05: that keeps five leaning metrics together to some 5 of 100. With unequal clusters the questions
    of one are taken to be all alike, for fewer degrees of freedom.

    What was never seen mends nothing: where many small losses are balanced by great gains of which fewer than five are
    to be expected in the sample, a loss is found too often (9 of 100 with 3 great gains in 30 questions, 5 with 6 in
    60).

    Args:
        values: as for ``paired_intervals``, as are the others.
        clusters: of the questions, at least two.
        reach: the greatest difference that the metric allows.
        binary: all differences are -1, 0 or 1.
    """
    found = _Moments.of(values, clusters)
    if binary and clusters.single:
        return two_sided_p(found.net / np.sqrt(np.maximum(found.changed, 1)), np.inf)
    sure = found.variance > 0
    far = found.mean / np.where(sure, np.sqrt(found.variance), np.inf)
    lean, degrees = lean_of(found.off, found.variance), clusters.degrees(1.0)
    reached, wholly = (_less_skewed(far, part) for part in (lean, lean / STRENGTH))
    enough = student_quantile(1 - SINGLE / 2, degrees) * (1 + EDGE)
    reached = np.where(reached > enough, np.maximum(np.minimum(reached, wholly), enough), reached)
    centre, error = _one_more_each_way(found, clusters, reach)
    widened = np.abs(centre) / np.where(error > 0, error, np.inf)
    reached = np.where(sure, np.where(found.few_changes, np.minimum(reached, widened), reached), widened)
    return two_sided_p(reached, degrees)


def _less_skewed(far: Figures, lean: Figures) -> Figures:
    """Standard errors from 0 after Hall's correction, never more than without it and not less than half of them."""
    corrected = far + lean * far**2 / 3 + lean**2 * far**3 / 27 + lean / 6
    return np.asarray(np.minimum(np.abs(far), np.maximum(np.sign(far) * corrected, np.abs(far) / 2)))


@dataclass(frozen=True, slots=True)
class _Moments:
    """What intervals need to know of the differences; every array has one place per sample.

    Attributes:
        mean: of the differences.
        squares: sum of their squares.
        variance: of the mean, by clusters (CR2); 0 where it is no more than rounding.
        off: what each cluster adds to the error of the mean, of shape (samples, clusters).
        changed: how many are not 0.
        net: how many of them are above 0, less those below.
        greatest: the greatest of them, without its sign.
    """

    mean: Figures
    squares: Figures
    variance: Figures
    off: Figures
    changed: NDArray[np.intp]
    net: Figures
    greatest: Figures

    @classmethod
    def of(cls, values: Figures, clusters: Clusters) -> _Moments:
        mean, squares = values.mean(axis=-1), (values * values).sum(axis=-1)
        share = clusters.sizes / clusters.questions
        off = (clusters.sums(values) - clusters.sizes * mean[:, None]) / np.sqrt(1 - share) / clusters.questions
        variance = (off * off).sum(axis=-1)
        variance = np.where(variance > _NOTHING * squares / clusters.questions, variance, 0.0)
        changed, net = np.count_nonzero(values, axis=-1), np.sign(values).sum(axis=-1)
        return cls(mean, squares, variance, off, changed, net, np.abs(values).max(axis=-1))

    @property
    def few_changes(self) -> NDArray[np.bool_]:
        """Where the spread isn't believed."""
        return (self.changed < FEW) | (self.variance <= 0)


def _score_interval(found: _Moments, questions: int, quantile: float) -> tuple[Figures, Figures]:
    """Tango's interval of yes/no differences: the differences that a score test at the quantile doesn't rule out."""
    gained, lost = (found.changed + found.net) / 2, (found.changed - found.net) / 2

    def far(mean: Figures) -> Figures:
        """Standard errors from a supposed mean up to the one seen, at the likeliest share of losses under it."""
        linear = (2 * questions - gained + lost) * mean - gained - lost
        root = np.sqrt(np.maximum(linear**2 + 8 * questions * lost * mean * (1 - mean), 0.0))
        variance = questions * ((root - linear) / (2 * questions) + mean * (1 - mean))
        return np.asarray((gained - lost - questions * mean) / np.sqrt(np.maximum(variance, _NOTHING)))

    def end(low: Figures, high: Figures, wanted: float) -> Figures:
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            beyond = far(middle) > wanted
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
        return (low + high) / 2

    edge = np.ones_like(found.mean)
    return end(-edge, found.mean, quantile), end(found.mean, edge, -quantile)


def _one_more_each_way(
    found: _Moments, clusters: Clusters, reach: float | Figures
) -> tuple[Figures, Figures]:  # fmt: skip
    """Mean and standard error after one more question changed as far as it can in each direction.

    Where many changed alike, a change goes as far as these did. The questions count as many as they are worth: their
    number over the design effect, which is foreseen from ``ALIKE`` where changes are too few to tell it.
    """
    count = clusters.questions
    plain = np.maximum(found.squares - count * found.mean**2, 0.0) / count / max(count - 1, 1)
    varied = plain > _NOTHING * found.squares / count
    effect = np.maximum(found.variance / np.where(varied, plain, np.inf), 1.0)
    foreseen = 1 + ALIKE * (float(clusters.sizes @ clusters.sizes) / count - 1)
    effect = np.where(found.few_changes, np.maximum(effect, foreseen), effect)
    worth, far = count / effect, np.where(found.changed < FEW, reach, found.greatest)
    centre = found.mean * worth / (worth + 2)
    spread = (found.squares / effect + 2 * far * far) / (worth + 2) - centre**2
    return centre, np.sqrt(np.maximum(spread, 0.0) / (worth + 2))
