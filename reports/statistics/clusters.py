"""Clusters: which questions hang together, and how sure a mean over such questions can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .chance import Figures

WORKING = 0.1  # correlation within a cluster from which degrees of freedom are estimated
FEWEST_DEGREES = 3.5  # below which no interval is given: five clusters of one size have 4
FEWEST = 5  # clusters that an interval takes at least


@dataclass(frozen=True, slots=True)
class Clusters:
    """Questions by the cluster that they come from.

    Attributes:
        order: places of the questions, cluster after cluster.
        starts: where in ``order`` each cluster starts.
        sizes: questions in each cluster.
    """

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    sizes: Figures

    @classmethod
    def of(cls, codes: NDArray[np.intp]) -> Clusters:
        """Read codes, one a question; equal codes are one cluster."""
        order = np.argsort(codes, kind="stable")
        starts = np.flatnonzero(np.diff(codes[order], prepend=codes[order[:1]] - 1))
        return cls(order, starts, np.diff(starts, append=len(codes)).astype(np.float64))

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(self.order)

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return len(self.sizes)

    @property
    def single(self) -> bool:
        """Whether every question is its own cluster."""
        return self.count == self.questions

    def sums(self, values: Figures) -> Figures:
        """Values of shape (..., questions) added up to (..., clusters)."""
        return values if self.single else np.add.reduceat(values[..., self.order], self.starts, axis=-1)

    def untold(self, noun: str = "document") -> str:
        """Why there is no interval for a mean over these clusters; blank where there is one.

        Below ``FEWEST_DEGREES`` an interval holds the truth far too often or too seldom, by how alike the questions of
        a cluster are, which so few clusters don't tell.
        """
        if self.questions < 2:
            return "there is one question only"
        if self.single and self.count < FEWEST:
            return f"{self.questions} questions are too few: an interval takes {FEWEST}"
        if self.count < 2:
            return f"all {self.questions:,} questions come from one {noun}: an interval takes {FEWEST}"
        if self.count < FEWEST:
            return f"the questions come from {self.count} {noun}s only: an interval takes {FEWEST}"
        if self.degrees() < FEWEST_DEGREES:
            return f"one of the {self.count} {noun}s has {int(self.sizes.max()):,} of the {self.questions:,} questions"
        return ""

    def degrees(self, likeness: float = WORKING) -> float:
        """Degrees of freedom of the variance of a mean; clusters - 1 where all have the same size.

        Fewer where a few large clusters decide: the variance is then as uncertain as a chi-squared law with these
        degrees, were the questions of a cluster correlated by ``likeness``.

        Source: Bell and McCaffrey 2002; Imbens and Kolesár 2016 (with a correlation); Satterthwaite 1946.
        """
        if self.count < 2:
            return 0.0
        share = self.sizes / self.questions
        varies = self.sizes * (1 - likeness) + self.sizes**2 * likeness
        # A residual sum is the cluster's own sum less its share of the total: the covariances of the residuals, scaled
        # as CR2 does, are a diagonal matrix less products of two vectors, so that traces need no matrix.
        own, total = varies / (1 - share), float(varies.sum())
        first, second = share / np.sqrt(1 - share), varies / np.sqrt(1 - share)
        a, b, c = first @ first, second @ second, first @ second
        trace = own.sum() - 2 * c + total * a
        squared = own @ own + 2 * own @ (total * first * first - 2 * first * second)
        squared += 2 * (c * c + a * b) - 4 * total * a * c + (total * a) ** 2
        return float(trace**2 / squared)
