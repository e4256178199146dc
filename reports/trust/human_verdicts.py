"""Human verdicts: what a person may write about a row, and how it is read on the scale of a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...metrics.score import passed
from ..summary import MetricColumn
from ..thresholds import bound
from .labelled_rows import ScoredRow

# The second line of each is what spreadsheets in other languages make of a typed "true" or "false".
YES = frozenset({"yes", "y", "true", "t", "pass", "passes", "passed"}) | frozenset(
    {"wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar", "sant", "prawda"}
)
NO = frozenset({"no", "n", "false", "f", "fail", "fails", "failed"}) | frozenset(
    {"falsch", "faux", "falso", "onwaar", "falskt", "fałsz"}
)


@dataclass(frozen=True, slots=True)
class HumanVerdict:
    """What a person says of a row: a value on the metric's scale, whether it passes, or both."""

    value: float | None
    passes: bool | None


@dataclass(frozen=True, slots=True)
class Label:
    """A person's verdict on a row of the run, and the seed of the draw that the row comes from, if any."""

    row: ScoredRow
    verdict: HumanVerdict
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """How verdicts on a metric are read: words say whether a row passes, numbers are values of the metric.

    Attributes:
        column: the metric.
        binary: whether its values are all 0 or 1, so that words are values too.
    """

    column: MetricColumn
    binary: bool

    @property
    def decides(self) -> bool:
        """Whether a row can pass or fail."""
        return self.binary or (self.column.threshold is not None and self.column.better != "neither")

    @property
    def write(self) -> str:
        """What may be written, in a few words."""
        if self.binary:
            return "yes (passes) or no"
        number = f"a number{self._range}"
        if not self.decides:
            return number
        return f"yes (passes: {bound(self.column)}) or no, or {number}"

    @property
    def _range(self) -> str:
        low, high = self.column.low, self.column.high
        if low is not None and high is not None:
            return f" from {low:g} to {high:g}"
        if low is not None:
            return f" of at least {low:g}"
        return f" of at most {high:g}" if high is not None else ""

    def read(self, text: str) -> HumanVerdict | str:
        """The verdict; a str says what is wrong with it."""
        word = text.strip().casefold()
        if word in YES | NO:
            if not self.decides:
                return f"{self.column.name} has no threshold to pass, so write {self.write}"
            passes = word in YES
            return HumanVerdict(self._value(passes) if self.binary else None, passes)
        try:
            value = float(word.replace(",", ".", 1))
        except ValueError:
            return f"wanted {self.write}, or nothing"
        if not self._is_in_range(value):
            return f"wanted {self.write}, or nothing"
        return HumanVerdict(value, self.passes(value))

    def _is_in_range(self, value: float) -> bool:
        low, high = self.column.low, self.column.high
        if not math.isfinite(value) or (self.binary and value not in (0.0, 1.0)):
            return False
        return (low is None or value >= low) and (high is None or value <= high)

    def _value(self, passes: bool) -> float:
        return float(passes == (self.column.better != "lower"))

    def passes(self, value: float) -> bool | None:
        """Whether a value passes; None where there is nothing to pass."""
        if self.binary:
            return value == self._value(True)
        return passed(value, self.column.threshold, self.column.better)
