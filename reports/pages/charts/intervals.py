"""Dot intervals: lines with a value and its interval below one another: a forest plot, or percentiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from .marks import FONT_SIZE, shape, shortened, text_width
from .scale import Scale, Tick, linear_scale, log_scale

ROW_HEIGHT = 36.0
MARGIN = 22.0
AXIS_HEIGHT = 24.0


@dataclass(frozen=True, slots=True)
class Line:
    """One value with its interval.

    Attributes:
        name: on the left, above the line; shortened where it is long.
        value: None where there is none: then only name and figures are written.
        low, high: ends of the interval; None where there is none.
        figures: the same in words and digits, on the right.
        tone: ``good``, ``bad``, ``doubt`` or nothing; the sign in ``figures`` has to say the same.
        series: number of its colour and shape; None for a plain dot in the colour of the tone.
        inner: an interval within, drawn thick, as the middle half.
        href: where the name leads.
        note: told when it is pointed at.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    figures: str = ""
    tone: str = ""
    series: int | None = None
    inner: tuple[float, float] | None = None
    href: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line with its places, None for what it has not, and as much of its name as there is room for."""

    line: Line
    name: str
    text_y: float
    y: float
    x: float | None
    low: float | None
    high: float | None
    inner_low: float | None
    inner_high: float | None

    @property
    def shape(self) -> str:
        """The path of its mark."""
        return shape(self.line.series or 0)


@dataclass(frozen=True, slots=True)
class DotIntervals:
    """Lines below one another on one axis.

    Attributes:
        title: what is shown.
        description: the same as a sentence or two, for those who don't see it.
        x: the axis, from ``interval_scale``.
        lines: from top to bottom.
        reference: a value with a line down all rows, such as no difference; None for none.
        x_title: what the axis measures, with its direction.
        width: of the drawing.
    """

    title: str
    description: str
    x: Scale
    lines: tuple[Line, ...]
    reference: float | None = None
    x_title: str = ""
    width: float = 400.0

    @property
    def bottom(self) -> float:
        """Where the axis is."""
        return ROW_HEIGHT * len(self.lines) + 4.0

    @property
    def height(self) -> float:
        """Of the drawing."""
        return self.bottom + AXIS_HEIGHT + (16.0 if self.x_title else 0.0)

    @property
    def reference_x(self) -> float | None:
        """Where the reference is; None where there is none or it is beyond the axis."""
        if self.reference is None or not self.x.low <= self.reference <= self.x.high:
            return None
        return self.x.at(self.reference)

    @property
    def ticks(self) -> tuple[Tick, ...]:
        """Of the axis."""
        return self.x.ticks()

    @property
    def drawn(self) -> tuple[DrawnLine, ...]:
        """The lines with their places."""
        return tuple(self._drawn(line, ROW_HEIGHT * number) for number, line in enumerate(self.lines))

    def _drawn(self, line: Line, top: float) -> DrawnLine:
        inner = line.inner or (None, None)
        places = (self._at(value) for value in (line.value, line.low, line.high, *inner))
        room = self.width - text_width(line.figures) - 2 * FONT_SIZE
        name = shortened(line.name, max(8, int(room / text_width("n"))))
        return DrawnLine(line, name, top + 14.0, top + 25.0, *places)

    def _at(self, value: float | None) -> float | None:
        return None if value is None else self.x.at(value)


def interval_scale(
    lines: Iterable[Line],
    also: Iterable[float] = (),
    limits: tuple[float | None, float | None] = (None, None),
    label: Callable[[float], str] | None = None,
    is_log: bool = False,
    width: float = 400.0,
) -> Scale:
    """An axis that holds values and intervals of all lines, and ``also``."""
    found = [
        value
        for line in lines
        for value in (line.value, line.low, line.high, *(line.inner or ()))
        if value is not None
    ]  # fmt: skip
    found += also
    if is_log:
        return log_scale(found, MARGIN, width - MARGIN, label, 5)
    return linear_scale(found, MARGIN, width - MARGIN, limits, label, 5)
