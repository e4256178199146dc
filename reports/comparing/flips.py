"""Flips: whether a reworded question turned a pass into a failure, or the other way round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...metrics.score import Better, passed

Direction = Literal["pass_to_fail", "fail_to_pass"]


@dataclass(frozen=True, slots=True)
class FlipRate:
    """How often results flipped: pairs of a question and its rewording, by what became of them."""

    flips: int
    comparable: int
    not_comparable: int

    @property
    def rate(self) -> float | None:
        """Flips by comparable pair; None when no pair is comparable."""
        return self.flips / self.comparable if self.comparable else None


def flip(source: bool | None, perturbed: bool | None) -> Direction | None:
    """The direction of a flip between the source case and its rewording.

    None when both went the same way, or when either has no outcome.

    >>> flip(True, False)
    'pass_to_fail'
    """
    if source is None or perturbed is None or source == perturbed:
        return None
    return "pass_to_fail" if source else "fail_to_pass"


def flip_of_values(
    source: float | None, perturbed: float | None, threshold: float | None, better: Better
) -> Direction | None:
    """The direction of a flip between two values of a metric; reaching the threshold exactly passes."""
    return flip(passed(source, threshold, better), passed(perturbed, threshold, better))
