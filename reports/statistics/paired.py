"""Paired differences: what two sides scored on the same questions, with interval, test and effect size."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .chance import Figures
from .clusters import Clusters
from .mcnemar import mcnemar
from .paired_interval import FEW, cautious_p_values, paired_intervals
from .permutation import sign_flip

EQUAL = 1e-12  # share of a value below which a difference is only rounding
NO_TEST = "none: fewer than two clusters"


@dataclass(frozen=True, slots=True)
class Difference:
    """What the head scored more than the base, a question.

    Attributes:
        mean: mean of head - base.
        low: lower end of the interval; None where it can't be told (see ``untold``).
        high: upper end.
        standard_error: of the mean, by clusters (CR2); None with fewer than two.
        questions: how many were paired.
        clusters: how many they come from.
        wins: questions on which the head's value is higher, whatever is better.
        ties: questions on which both are equal.
        losses: questions on which the head's value is lower.
        effect: Cohen's d_z, mean over standard deviation of the differences; None when that is 0.
        p_value: two-sided; None with fewer than two clusters.
        test: name of the test.
        few_changes: too few questions changed for their spread to be believed, so the interval was widened.
        untold: why there is no interval: too few clusters, one of them too large, or an unbounded metric whose values
            are all the same; blank where there is one.
        cautious_p_value: the greater of ``p_value`` and that of ``cautious_p_values``, which stays right where
            differences lean to one side; the one to correct for the number of metrics before a verdict.
    """

    mean: float
    low: float | None
    high: float | None
    standard_error: float | None
    questions: int
    clusters: int
    wins: int
    ties: int
    losses: int
    effect: float | None
    p_value: float | None
    test: str
    few_changes: bool
    cautious_p_value: float | None = None
    untold: str = ""

    @property
    def p_to_correct(self) -> float | None:
        """The p value from which a correction for several metrics starts: the cautious one where there is one."""
        return self.p_value if self.cautious_p_value is None else self.cautious_p_value


def difference(
    base: Figures, head: Figures, clusters: NDArray[np.intp], low: float | None = None, high: float | None = None,
    binary: bool = False, level: float = 0.95, seed: int = 0, noun: str = "document",
) -> Difference:  # fmt: skip
    """Compare two sides on the same questions, each of which weighs the same.

    Args:
        base: one value a question, no NaN; the mean over its repeats where it has several.
        head: likewise, in the same order.
        clusters: code of each question's cluster.
        low: least value of the metric, None when it has none.
        high: greatest value of the metric, None when it has none.
        binary: the metric says yes or no; values between, which are means of repeats, are seen.
        level: of the interval.
        seed: of the draws of the test.
        noun: what a cluster is called in ``untold``.

    Raises:
        ValueError: no questions, arrays of unequal length, or a value that is not finite.

    Source: see ``paired_interval``, ``permutation`` and ``mcnemar``; Cohen 1988 (d_z).
    """
    values = _differences(base, head, len(clusters))
    found, wins, losses = Clusters.of(clusters), int((values > 0).sum()), int((values < 0).sum())
    binary = binary and bool((np.abs(values) == (values != 0)).all())
    p_value, test = _test(values, found, wins, losses, binary, seed)
    reach = _reach(base, head, low, high, binary)
    few, error, ends = _interval(values, found, reach, binary, level)
    cautious = p_value and max(p_value, float(cautious_p_values(values[None], found, reach, binary)[0]))
    if ends is not None and low is not None and high is not None:
        ends = _within(ends, max(float(high - low), float(np.abs(values).max())))
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    mean = math.fsum(values) / len(values)
    return Difference(
        mean=mean,
        low=None if ends is None else ends[0],
        high=None if ends is None else ends[1],
        standard_error=error,
        questions=len(values),
        clusters=found.count,
        wins=wins,
        ties=len(values) - wins - losses,
        losses=losses,
        effect=mean / deviation if deviation > EQUAL * abs(mean) else None,
        p_value=p_value,
        test=test,
        few_changes=few,
        cautious_p_value=cautious,
        untold="" if ends else found.untold(noun) or "all values are the same, of a metric without a range",
    )


def _differences(base: Figures, head: Figures, questions: int) -> Figures:
    """Head - base, 0 where both are the same but for rounding."""
    if not questions or not len(base) == len(head) == questions:
        raise ValueError(
            f"base, head and clusters belong to the same questions, of which there is at least one:"
            f" these are {len(base)}, {len(head)} and {questions}"
        )
    if not (np.isfinite(base).all() and np.isfinite(head).all()):
        raise ValueError("base and head must be finite: leave out questions that lack a value on either side")
    values = np.asarray(head, np.float64) - base
    return np.where(np.abs(values) <= EQUAL * np.maximum(np.abs(base), np.abs(head)), 0.0, values)


def _reach(base: Figures, head: Figures, low: float | None, high: float | None, binary: bool) -> float:
    """How far a question may go that changed and was not seen.

    Yes becomes no, or the other way round: the whole range. A finer score is taken to go as far as two questions of
    the base are apart on average (Gini's mean difference), as it would were the answer a stranger's; the whole range
    where all of them score the same, and what was seen where the metric has no range or left it.
    """
    seen = float(max(base.max(), head.max()) - min(base.min(), head.min()))
    whole = seen if low is None or high is None else max(float(high - low), seen)
    apart = _mean_apart(base)
    return whole if binary or not apart else max(apart, float(np.abs(head - base).max()))


def _mean_apart(values: Figures) -> float:
    """Mean distance of two of the values (Gini 1912)."""
    count, ordered = len(values), np.sort(values)
    if count < 2 or ordered[-1] - ordered[0] <= EQUAL * float(np.abs(ordered).max()):
        return 0.0
    return float(2 * ((2 * np.arange(count) - count + 1) @ ordered) / (count * (count - 1)))


def _test(
    values: Figures, clusters: Clusters, wins: int, losses: int, binary: bool, seed: int
) -> tuple[float | None, str]:  # fmt: skip
    if clusters.count < 2:
        return None, NO_TEST
    if binary and clusters.single:
        return mcnemar(wins, losses), "McNemar, mid-p"
    return sign_flip(clusters.sums(values), seed)


def _interval(
    values: Figures, clusters: Clusters, reach: float, binary: bool, level: float
) -> tuple[bool, float | None, tuple[float, float] | None]:  # fmt: skip
    """Whether few questions changed, the standard error, and the ends."""
    if clusters.count < 2:
        return int((values != 0).sum()) < FEW, None, None
    found = paired_intervals(values[None], clusters, reach, binary, level)
    few, ends = bool(found.few_changes[0]), (float(found.low[0]), float(found.high[0]))
    # Of a metric without a range, whose values are all the same, nothing says how far a change could go.
    return few, float(found.error[0]), ends if ends[0] < ends[1] and not clusters.untold() else None


def _within(ends: tuple[float, float], farthest: float) -> tuple[float, float]:
    return max(ends[0], -farthest), min(ends[1], farthest)
