"""Lines: how values of several series go on from one place to the next, such as from run to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .marks import FONT_SIZE, colour, shape, shortened, text_width
from .scale import Scale, Tick, linear_scale

LEFT, TOP, BOTTOM = 44.0, 12.0, 34.0
LONGEST_NAME = 18
LINE_HEIGHT = FONT_SIZE * 1.25


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a series at a place; ``note`` is told when it is pointed at, ``href`` is where it leads."""

    value: float
    low: float | None = None
    high: float | None = None
    note: str = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a value for each place, None where it has none: then the line is broken."""

    name: str
    values: Sequence[Value | None]
    number: int = 0


@dataclass(frozen=True, slots=True)
class DrawnValue:
    """A value with its places."""

    value: Value
    x: float
    y: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class DrawnSeries:
    """A series with its paths; ``label_y`` is the place of its name, at the right."""

    series: Series
    path: str
    band: str
    values: tuple[DrawnValue, ...]
    label: str
    label_y: float
    lone: tuple[DrawnValue, ...] = ()  # values that no line or band joins with others

    @property
    def shape(self) -> str:
        """The path of its marks."""
        return shape(self.series.number)

    @property
    def colour(self) -> str:
        """The class of its colour."""
        return colour(self.series.number)


@dataclass(frozen=True, slots=True)
class Lines:
    """A line chart with a place for each name on the x axis, and the names of series at the right end.

    Attributes:
        title: what is shown.
        description: the same as a sentence or two, for those who don't see it.
        places: what is written below, such as the dates of runs.
        series: its lines.
        y_title: what is measured, with its direction.
        limits: what values there can be at all.
        label: how a value is written.
        reference: a value with a line across, such as a threshold; None for none.
        width, height: of the drawing.
    """

    title: str
    description: str
    places: Sequence[str]
    series: tuple[Series, ...]
    y_title: str = ""
    limits: tuple[float | None, float | None] = (None, None)
    label: Callable[[float], str] | None = None
    reference: float | None = None
    width: float = 400.0
    height: float = 240.0

    @property
    def right(self) -> float:
        """Where the drawing of lines ends and names begin."""
        widest = max((text_width(shortened(each.name, LONGEST_NAME)) for each in self.series), default=0.0)
        return round(self.width - widest - 14.0, 2)

    @property
    def y(self) -> Scale:
        """The axis, which holds all values and intervals."""
        found = [
            number
            for series in self.series
            for value in series.values
            if value is not None
            for number in (value.value, value.low, value.high)
            if number is not None
        ]
        found += [self.reference] if self.reference is not None else []
        return linear_scale(found, self.height - BOTTOM, TOP, self.limits, self.label, 5)

    @property
    def bottom(self) -> float:
        """Where the lower axis is."""
        return self.height - BOTTOM

    @property
    def reference_y(self) -> float | None:
        """Where the reference is."""
        return None if self.reference is None else self.y.at(self.reference)

    @property
    def x_ticks(self) -> tuple[Tick, ...]:
        """The names of the places, as many as have room, the last one always."""
        if not self.places:
            return ()
        widest = max(text_width(place) for place in self.places) + 10.0
        room = max(1, int((self.right - LEFT) / widest))
        every = -(-len(self.places) // room)
        last = len(self.places) - 1
        return tuple(Tick(self.x(place), self.places[place]) for place in range(last % every, last + 1, every))

    def x(self, place: int) -> float:
        """Where a place is; a lone one is in the middle."""
        if len(self.places) < 2:
            return round((LEFT + self.right) / 2, 2)
        return round(LEFT + 8 + place / (len(self.places) - 1) * (self.right - LEFT - 16), 2)

    @property
    def drawn(self) -> tuple[DrawnSeries, ...]:
        """The series with their places; names are moved apart where lines end close to one another."""
        axis = self.y
        values = [
            tuple(
                DrawnValue(value, self.x(place), axis.at(value.value), _at(axis, value.low), _at(axis, value.high))
                for place, value in enumerate(series.values)
                if value is not None
            )
            for series in self.series
        ]
        ends = _apart([each[-1].y if each else self.bottom for each in values], TOP, self.bottom)
        return tuple(
            DrawnSeries(
                series,
                _path(runs),
                _band(runs),
                drawn,
                shortened(series.name, LONGEST_NAME),
                end,
                tuple(run[0] for run in runs if len(run) == 1),
            )
            for series, drawn, end in zip(self.series, values, ends, strict=True)
            for runs in [_unbroken(series, drawn)]
        )


def _at(axis: Scale, value: float | None) -> float | None:
    return None if value is None else axis.at(value)


def _unbroken(series: Series, drawn: Sequence[DrawnValue]) -> list[list[DrawnValue]]:
    """The values in runs without a gap."""
    left = iter(drawn)
    runs: list[list[DrawnValue]] = [[]]
    for value in series.values:
        if value is None:
            runs.append([])
        else:
            runs[-1].append(next(left))
    return [run for run in runs if run]


def _path(runs: list[list[DrawnValue]]) -> str:
    return "".join("M" + "L".join(f"{each.x:g},{each.y:g}" for each in run) for run in runs)


def _band(runs: list[list[DrawnValue]]) -> str:
    """The intervals as one area for each run of values that have them."""
    areas = []
    for run in runs:
        upper = [(each.x, each.high) for each in run if each.high is not None and each.low is not None]
        lower = [(each.x, each.low) for each in reversed(run) if each.low is not None and each.high is not None]
        if len(upper) > 1:
            areas.append("M" + "L".join(f"{x:g},{y:g}" for x, y in [*upper, *lower]) + "z")
    return "".join(areas)


def _apart(places: list[float], top: float, bottom: float) -> list[float]:
    """The places moved no more than is needed for a line of text each, within top and bottom where they fit."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + LINE_HEIGHT)
    limit = bottom
    for number in reversed(order):
        moved[number] = max(min(moved[number], limit), top if len(places) * LINE_HEIGHT <= bottom - top else 0.0)
        limit = moved[number] - LINE_HEIGHT
    return [round(place, 2) for place in moved]
