"""Rater agreement: how far a judge and people say the same of the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .intervals import wilson


@dataclass(frozen=True, slots=True)
class Share:
    """A share of ``count`` rows with Wilson's 95 % interval."""

    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many rows pass by people's word and by the judge's: the four counts, people first."""

    both_pass: int = 0
    only_people: int = 0
    only_judge: int = 0
    both_fail: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Confusion:
        """Count pairs of (people, judge)."""
        counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
        for pair in pairs:
            counts[pair] += 1
        return cls(*counts.values())

    @property
    def count(self) -> int:
        """All rows."""
        return self.both_pass + self.only_people + self.only_judge + self.both_fail

    @property
    def agreement(self) -> Share | None:
        """Share of the rows on which both say the same."""
        return share(self.both_pass + self.both_fail, self.count)

    @property
    def sensitivity(self) -> Share | None:
        """Of the rows that pass by people's word, the share that the judge passes; None when there are none."""
        return share(self.both_pass, self.both_pass + self.only_people)

    @property
    def specificity(self) -> Share | None:
        """Of the rows that fail by people's word, the share that the judge fails; None when there are none."""
        return share(self.both_fail, self.both_fail + self.only_judge)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa (1960): agreement beyond chance; None where chance alone would make them agree."""
        if not self.count:
            return None
        people = (self.both_pass + self.only_people) / self.count
        judge = (self.both_pass + self.only_judge) / self.count
        chance = people * judge + (1 - people) * (1 - judge)
        if chance >= 1:
            return None
        return ((self.both_pass + self.both_fail) / self.count - chance) / (1 - chance)


def share(part: int, whole: int) -> Share | None:
    """The share with its interval; None of nothing."""
    return Share(part / whole, *wilson(part / whole, whole), whole) if whole else None
