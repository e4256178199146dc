"""Trend chart: a trend as lines with intervals, broken wherever values can't be compared."""

from __future__ import annotations

from ...leaderboard import ARROWS, count, figure
from ..charts.lines import Lines, Series, Value
from .trend import Point, Trend

OTHER_VERSION = "≠"


def trend_chart(trend: Trend) -> Lines:
    """The drawing; between two versions of the metric stands a place without values, which breaks all lines."""
    column = trend.column
    return Lines(
        title=f"{column.name} over {count(len(trend.runs), 'run')} of {trend.suite}",
        description=_description(trend),
        places=_places(trend),
        series=tuple(Series(bot, _values(trend, bot), number) for number, bot in enumerate(trend.bots)),
        y_title=f"{column.name} {ARROWS[column.better]}".rstrip(),
        limits=(column.low, column.high),
        reference=column.of_suite.threshold if column.better != "neither" else None,
    )


def _places(trend: Trend) -> list[str]:
    """Days where runs are of different ones, else times of day; and a sign between two versions."""
    days = {run.started_at[:10] for run in trend.runs}
    part = slice(5, 10) if len(days) > 1 else slice(11, 16)
    places: list[str] = []
    for place, run in enumerate(trend.runs):
        places += [OTHER_VERSION] * (place in trend.breaks)
        places.append(run.started_at[part])
    return places


def _values(trend: Trend, bot: str) -> list[Value | None]:
    values: list[Value | None] = []
    for place in range(len(trend.runs)):
        values += [None] * (place in trend.breaks)
        point = trend.point(bot, place)
        values.append(_value(trend, bot, point) if point else None)
    return values


def _value(trend: Trend, bot: str, point: Point) -> Value | None:
    found, run = point.summary, trend.runs[point.place]
    if found.mean is None:
        return None
    interval = ""
    if found.ci_low is not None and found.ci_high is not None:
        interval = f" ({figure(found.ci_low, trend.column)} to {figure(found.ci_high, trend.column)})"
    note = f"{bot}, run {run.name}: {figure(found.mean, trend.column)}{interval}, {count(found.n_ok, 'row')}"
    return Value(found.mean, found.ci_low, found.ci_high, note, run.address)


def _description(trend: Trend) -> str:
    """First and last figure of each bot; the table has all."""
    parts = []
    for bot, points in trend.bots.items():
        found = [(point, point.summary.mean) for point in points if point.summary.mean is not None]
        if not found:
            continue
        (first, before), (last, after) = found[0], found[-1]
        told = figure(after, trend.column)
        if first.place != last.place and first.version == last.version:
            told = f"from {figure(before, trend.column)} to {told}"
        parts.append(f"{bot}: {told}")
    return "; ".join(parts) or "No run has a value."
