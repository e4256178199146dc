"""Attribution: how much of a difference each of several changes made together has caused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..statistics.paired import Difference, difference
from ..summary import MetricColumn
from .scores import Figures, is_binary

Lattice = Mapping[frozenset[str], Figures]  # what is new -> the values of all questions


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change did to a metric; ``difference`` is its share of candidate - baseline, a question."""

    factor: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class MetricEffects:
    """What all changes did to a metric.

    Attributes:
        whole: candidate - baseline. The means of the effects add up to its mean.
        questions: those that have a value on both sides and in every configuration between them.
        dropped: questions of both sides without one.
    """

    column: MetricColumn
    whole: Difference
    effects: tuple[Effect, ...]
    questions: int
    dropped: int


def shapley(values: Lattice, factors: Sequence[str]) -> dict[str, Figures]:
    """What each factor adds, averaged over all orders in which the factors could have been changed, for each question.

    The shares of a question add up to its whole difference, and a factor that changes nothing has 0.

    Args:
        values: for every subset of the factors the values of the questions when those are new and the others old.
        factors: their names.

    Source: Shapley 1953; exact, with the weight |S|! (k - |S| - 1)! / k! of each step.

    >>> values = {frozenset(): 0.0, frozenset("a"): 1.0, frozenset("b"): 2.0, frozenset("ab"): 4.0}
    >>> {name: float(share) for name, share in shapley(values, "ab").items()}
    {'a': 1.5, 'b': 2.5}
    """
    count = len(factors)
    shares = {}
    for factor in factors:
        others = [other for other in factors if other != factor]
        steps = []
        for size in range(count):
            weight = math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count)
            for chosen in itertools.combinations(others, size):
                before = frozenset(chosen)
                steps.append(weight * (values[before | {factor}] - values[before]))
        shares[factor] = sum(steps[1:], steps[0])
    return shares


def effects(
    column: MetricColumn, baseline: Figures, between: Lattice, factors: Sequence[str], clusters: NDArray[np.intp],
    first: str = "", seed: int = 0,
) -> MetricEffects | None:  # fmt: skip
    """What each change did to a metric, with intervals over clusters of questions.

    Args:
        column: the metric.
        baseline: values of the baseline, one a question; NaN where there is none. So in all arrays.
        between: the values by what is new, from the empty set to all factors.
        factors: what was changed.
        clusters: code of each question's cluster.
        first: name of the step from the baseline to the empty set of ``between``; blank when the two are the same.
        seed: of the draws of the tests.

    Returns:
        The effects; None when no question has all values.
    """
    there = np.isfinite(baseline) & np.logical_and.reduce([np.isfinite(values) for values in between.values()])
    candidate = between[frozenset(factors)]
    both = int((np.isfinite(baseline) & np.isfinite(candidate)).sum())
    if not there.any():
        return None
    known = {new: values[there] for new, values in between.items()}
    nothing = np.zeros(int(there.sum()))

    def compared(old: Figures, new: Figures, binary: bool = False) -> Difference:
        return difference(old, new, clusters[there], column.low, column.high, binary, seed=seed)

    binary = is_binary(column, baseline[there], candidate[there])
    shares = {first: known[frozenset()] - baseline[there]} if first else {}
    shares |= shapley(known, factors) if factors else {}
    return MetricEffects(
        column=column,
        whole=compared(baseline[there], candidate[there], binary),
        effects=tuple(Effect(name, compared(nothing, share)) for name, share in shares.items()),
        questions=int(there.sum()),
        dropped=both - int(there.sum()),
    )


def subsets(factors: Sequence[str]) -> Iterator[frozenset[str]]:
    """All subsets, small ones first."""
    for size in range(len(factors) + 1):
        for chosen in itertools.combinations(factors, size):
            yield frozenset(chosen)
