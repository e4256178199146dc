"""Re-ranking: what a search found, in the order of another model's scores."""

import math
from collections.abc import Sequence
from typing import Final, TypeVar

CANDIDATES: Final = 50  # that are looked at; a cross-encoder reads each of them with the question
T = TypeVar("T")


def candidates(k: int) -> int:
    """How many a search has to find so that the best k of them are worth choosing."""
    return max(k, CANDIDATES)


def reordered(found: Sequence[T], scores: Sequence[float]) -> list[tuple[T, float]]:
    """What was found with its new score, highest first; equal ones, and those without a number, as they stood.

    Args:
        found: best first, as the search has it.
        scores: one for each; NaN counts as the lowest.

    >>> reordered(["a", "b", "c"], [0.5, 2.0, 0.5])
    [('b', 2.0), ('a', 0.5), ('c', 0.5)]
    """
    pairs = [(each, float(score)) for each, score in zip(found, scores, strict=True)]
    return sorted(pairs, key=lambda pair: math.inf if math.isnan(pair[1]) else -pair[1])
