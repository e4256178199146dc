"""Scale: values to places on an axis, with round ticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

STEPS = (1, 2, 5, 10)
FEWEST_TICKS = 3


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: its place in pixels and what is written there."""

    at: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high``, which stand at ``start`` and ``end``.

    Attributes:
        low, high: the values at the ends, ``low < high``; above 0 where it is logarithmic.
        start, end: their places in pixels; ``start > end`` for an axis that grows upwards.
        is_log: whether equal distances are equal factors.
        label: how a tick is written; None for as many decimals as the step needs.
        most: how many ticks there is room for.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False
    label: Callable[[float], str] | None = None
    most: int = 6

    def at(self, value: float) -> float:
        """The place of a value in pixels, to a hundredth; values beyond an end stand at that end."""
        inside = min(max(value, self.low), self.high)
        low, high, where = (
            map(math.log, (self.low, self.high, inside)) if self.is_log else (self.low, self.high, inside)
        )
        return round(self.start + (where - low) / (high - low) * (self.end - self.start), 2)

    def ticks(self) -> tuple[Tick, ...]:
        """Round values within the axis, rising."""
        values = _round_factors(self.low, self.high, self.most) if self.is_log else []
        if len(values) < FEWEST_TICKS:
            values = _round_values(self.low, self.high, self.most)
        write = self.label or _decimals(values)
        return tuple(Tick(self.at(value), write(value)) for value in values)


def linear_scale(
    values: Iterable[float],
    start: float,
    end: float,
    limits: tuple[float | None, float | None] = (None, None),
    label: Callable[[float], str] | None = None,
    most: int = 6,
) -> Scale:
    """An axis that holds the values, widened to round ends, but never beyond ``limits`` (of what can be)."""
    found = [value for value in values if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if low == high:
        margin = abs(low) / 10 or 0.5
        low, high = low - margin, high + margin
    step = _step(low, high, most)
    low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    least, greatest = limits
    low = low if least is None else max(low, least)
    high = high if greatest is None else min(high, greatest)
    if low >= high:  # all values stand at a limit or beyond it
        low, high = min(found) - step, max(found) + step
    return Scale(low, high, start, end, label=label, most=most)


def log_scale(
    values: Iterable[float],
    start: float,
    end: float,
    label: Callable[[float], str] | None = None,
    most: int = 6,
) -> Scale:
    """A logarithmic axis that holds all values above 0, with room at both ends; others stand at its lower end."""
    found = [value for value in values if math.isfinite(value) and value > 0] or [1.0, 10.0]
    low, high = min(found), max(found)
    margin = max((high / low) ** 0.12, 1.25)
    return Scale(low / margin, high * margin, start, end, True, label, most)


def _step(low: float, high: float, most: int) -> float:
    """The least round step with which no more than ``most`` ticks are needed."""
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * step for step in STEPS if power * step >= rough * (1 - 1e-9))


def _round_values(low: float, high: float, most: int) -> list[float]:
    step = _step(low, high, most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _round_factors(low: float, high: float, most: int) -> list[float]:
    """1, 2 and 5 of each power of ten, or the powers alone, or every so many of them."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    inside: list[float] = []
    for digits in ((1, 2, 5), (1, 3), (1,)):
        values = [digit * 10.0**power for power in powers for digit in digits]
        inside = [value for value in values if low <= value <= high]
        if len(inside) <= most:
            return inside
    return inside[:: math.ceil(len(inside) / most)]


def _decimals(values: list[float]) -> Callable[[float], str]:
    """As many decimals as are needed to tell the ticks apart; powers of ten for what is very large or small."""
    greatest = max(map(abs, values), default=0.0)
    steps = [after - before for before, after in pairwise(values)]
    smallest = min(steps, default=greatest or 1.0)
    if greatest >= 1e6 or smallest < 1e-5:
        return lambda value: f"{value:.3g}"
    digits = max(0, -math.floor(math.log10(smallest) + 1e-9))
    return lambda value: f"{value:,.{digits}f}"
