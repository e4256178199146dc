"""Histogram: how many rows have a value in each part of an axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .marks import colour
from .scale import Scale, Tick

LEFT, RIGHT, TOP, BOTTOM = 36.0, 14.0, 8.0, 24.0


@dataclass(frozen=True, slots=True)
class Histogram:
    """A distribution.

    Attributes:
        title: of what, and whose.
        description: the same as a sentence or two, for those who don't see it.
        edges: rising, one more than there are counts; of equal factors where ``is_log``.
        counts: of the rows between two edges.
        series: number of its colour.
        label: how a value is written; None for plain numbers.
        reference: a value with a line, such as a threshold; None for none.
        is_log: whether the axis is logarithmic.
        most: the count at the top, the same for drawings beside one another; None for its own greatest.
        width, height: of the drawing.
    """

    title: str
    description: str
    edges: Sequence[float]
    counts: Sequence[int]
    series: int = 0
    label: Callable[[float], str] | None = None
    reference: float | None = None
    is_log: bool = False
    most: int | None = None
    width: float = 260.0
    height: float = 130.0

    @property
    def x(self) -> Scale:
        """The axis of the values."""
        return Scale(self.edges[0], self.edges[-1], LEFT, self.width - RIGHT, self.is_log, self.label, 4)

    @property
    def y(self) -> Scale:
        """The axis of the counts, from 0."""
        top = self.most if self.most is not None else max(self.counts, default=0)
        return Scale(0, max(top, 1), self.baseline, TOP, label=lambda count: f"{count:,.0f}", most=4)

    @property
    def baseline(self) -> float:
        """Where no rows are."""
        return self.height - BOTTOM

    @property
    def outline(self) -> str:
        """A path of all parts that hold rows, with a gap of one pixel where they are wide enough for it."""
        axis, rows, base = self.x, self.y, self.baseline
        made = []
        for low, high, count in self._filled:
            left, right, top = axis.at(low), axis.at(high), min(rows.at(count), base - 1)
            width = right - left - (1.0 if right - left > 4 else 0.0)
            made.append(f"M{left:.6g} {base:.6g}V{top:.6g}h{width:.4g}V{base:.6g}z")
        return "".join(made)

    @property
    def note(self) -> str:
        """How many rows there are between which values, a line for each part that holds any."""
        return "\n".join(
            f"{self._written(low)} to {self._written(high)}: {count:,}" for low, high, count in self._filled
        )

    @property
    def _filled(self) -> list[tuple[float, float, int]]:
        parts = zip(self.edges, self.edges[1:], self.counts, strict=False)
        return [(low, high, count) for low, high, count in parts if count]

    def _written(self, value: float) -> str:
        return self.label(value) if self.label else f"{value:.3g}"

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        """Of the values."""
        return self.x.ticks()

    @property
    def y_ticks(self) -> tuple[Tick, ...]:
        """Of the counts: whole numbers only."""
        return tuple({tick.label: tick for tick in reversed(self.y.ticks())}.values())[::-1]

    @property
    def reference_x(self) -> float | None:
        """Where the reference is; None where there is none or it is beyond the axis."""
        if self.reference is None or not self.edges[0] <= self.reference <= self.edges[-1]:
            return None
        return self.x.at(self.reference)

    @property
    def colour(self) -> str:
        """The class of its colour."""
        return colour(self.series)
