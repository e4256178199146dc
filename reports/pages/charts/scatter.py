"""Scatter: points with error bars and names, and the line of those that no other beats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .marks import FONT_SIZE, colour, shape, shortened, text_width
from .scale import Scale

LEFT, RIGHT, TOP, BOTTOM = 44.0, 24.0, 12.0, 40.0


@dataclass(frozen=True, slots=True)
class Point:
    """One thing measured twice.

    Attributes:
        name: written beside it.
        x, y: what was measured.
        low, high: ends of the interval of ``y``; None where there is none.
        series: number of its colour and shape.
        on_frontier: whether no other is at least as good in both and better in one.
        note: told when it is pointed at.
    """

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    series: int = 0
    on_frontier: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """The area that both have in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(width, 0.0) * max(height, 0.0)

    def is_within(self, other: Box) -> bool:
        """Whether no part of it is outside the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


@dataclass(frozen=True, slots=True)
class DrawnPoint:
    """A point with its places; ``label`` is empty where there is no room, its name is in the note then."""

    point: Point
    x: float
    y: float
    low: float
    high: float
    label: str
    label_x: float
    label_y: float
    anchor: str

    @property
    def shape(self) -> str:
        """The path of its mark."""
        return shape(self.point.series)

    @property
    def colour(self) -> str:
        """The class of its colour."""
        return colour(self.point.series)

    @property
    def has_interval(self) -> bool:
        """Whether it has an error bar."""
        return self.point.low is not None and self.point.high is not None


@dataclass(frozen=True, slots=True)
class Scatter:
    """A scatter plot; make the scales with ``x_range`` and ``y_range`` as their places.

    Attributes:
        title: what is shown against what.
        description: the same as a sentence or two, for those who don't see it.
        x, y: its axes.
        x_title, y_title: what they measure, with unit and direction.
        points: in any order.
        is_lower_better: whether the frontier runs along the bottom and not along the top.
        width, height: of the drawing.
    """

    title: str
    description: str
    x: Scale
    y: Scale
    x_title: str
    y_title: str
    points: tuple[Point, ...]
    is_lower_better: bool = False
    width: float = 400.0
    height: float = 270.0

    @property
    def plot(self) -> Box:
        """Where points are drawn."""
        return plot_box(self.width, self.height)

    @property
    def drawn(self) -> tuple[DrawnPoint, ...]:
        """The points with names that don't cover one another; those of the frontier find room first."""
        marks = [_mark(self.x.at(point.x), self.y.at(point.y)) for point in self.points]
        bars = [
            Box(mark.left + 5, self._y(point.high, point), mark.right - 5, self._y(point.low, point))
            for mark, point in zip(marks, self.points, strict=True)
        ]
        crossed = [*bars, *self._frontier_boxes()]
        taken = [*marks]
        order = sorted(range(len(self.points)), key=lambda place: not self.points[place].on_frontier)
        made: dict[int, DrawnPoint] = {}
        for place in order:
            made[place], box = self._drawn(self.points[place], taken, crossed)
            taken += [box] if box else []
        return tuple(made[place] for place in range(len(self.points)))

    def _frontier_boxes(self) -> Iterator[Box]:
        best = self._best()
        for (x, y), (next_x, next_y) in pairwise(best):
            yield Box(x, y - 1, next_x, y + 1)
            yield Box(next_x - 1, min(y, next_y), next_x + 1, max(y, next_y))

    def _best(self) -> list[tuple[float, float]]:
        """Places on the frontier from left to right; of two at one x the better comes last."""
        sign = 1 if self.is_lower_better else -1
        found = ((self.x.at(p.x), self.y.at(p.y)) for p in self.points if p.on_frontier)
        return sorted(found, key=lambda place: (place[0], sign * place[1]))

    def _y(self, value: float | None, point: Point) -> float:
        return self.y.at(point.y if value is None else value)

    def _drawn(self, point: Point, taken: Sequence[Box], crossed: Sequence[Box]) -> tuple[DrawnPoint, Box | None]:
        """The point with its name where it covers nothing; else where it crosses lines only; else without."""
        x, y = self.x.at(point.x), self.y.at(point.y)
        low, high = self._y(point.low, point), self._y(point.high, point)
        label = shortened(point.name)
        for avoided in ([*taken, *crossed], taken):
            for label_x, label_y, anchor in _places(x, y):
                box = _label_box(label, label_x, label_y, anchor)
                if box.is_within(self.plot) and not any(map(box.overlap, avoided)):
                    return DrawnPoint(point, x, y, low, high, label, label_x, label_y, anchor), box
        return DrawnPoint(point, x, y, low, high, "", x, y, "start"), None

    @property
    def frontier(self) -> str:
        """The frontier as a line of steps from the lowest ``x`` on; empty with fewer than two points."""
        best = self._best()
        if len(best) < 2:
            return ""
        return f"M{best[0][0]:g},{best[0][1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in best[1:])


def plot_box(width: float, height: float) -> Box:
    """The part of a drawing that its axes enclose."""
    return Box(LEFT, TOP, width - RIGHT, height - BOTTOM)


def x_range(width: float = 400.0) -> tuple[float, float]:
    """Start and end of an axis along the bottom."""
    return LEFT, width - RIGHT


def y_range(height: float = 270.0) -> tuple[float, float]:
    """Start and end of an axis along the left: it grows upwards."""
    return height - BOTTOM, TOP


def _mark(x: float, y: float) -> Box:
    return Box(x - 6, y - 6, x + 6, y + 6)


def _places(x: float, y: float) -> Iterator[tuple[float, float, str]]:
    """Where a name may stand, the best first: x, the line on which it stands, and which end of it is at x."""
    middle = y + FONT_SIZE * 0.35
    yield from ((x + 9, middle, "start"), (x - 9, middle, "end"))
    yield from ((x + 8, y - 8, "start"), (x + 8, y + 16, "start"), (x - 8, y - 8, "end"), (x - 8, y + 16, "end"))
    yield from ((x, y - 10, "middle"), (x, y + 19, "middle"))
    for away in (22, 34, 46):
        yield from ((x + 8, y - away, "start"), (x + 8, y + away, "start"))
        yield from ((x - 8, y - away, "end"), (x - 8, y + away, "end"))


def _label_box(label: str, x: float, y: float, anchor: str) -> Box:
    width = text_width(label)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return Box(left, y - FONT_SIZE * 0.85, left + width, y + FONT_SIZE * 0.25)
