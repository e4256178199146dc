"""Configurations chart: the best configurations of a grid with intervals, current and recommended marked."""

from __future__ import annotations

from typing import Final

from ..analysis.findings import ConfigurationResult, Grid
from ..analysis.messages import RETRIEVAL_METRICS, best_configurations, mark, mean_text
from .charts import DotIntervals, Line, interval_scale

MOST: Final = 12  # lines of the chart; the table has all
TONES: Final = {"now": "doubt", "take": "good", "worse": "bad"}  # by the mark of a configuration


def grid_chart(grid: Grid) -> DotIntervals | None:
    """The chart; None where no configuration has a value."""
    lines, names = [], grid.names
    for place, result in best_configurations(grid, MOST):
        mean = result.metrics.get(grid.metric)
        if mean is None:
            continue
        marked = mark(grid, place)
        name = f"{names[place]} ({marked.removesuffix(' shown')})" if marked else names[place]
        lines.append(Line(name, mean.mean, mean.low, mean.high, mean_text(mean), TONES.get(marked, "")))
    if not lines:
        return None
    present = grid.configurations[grid.current].metrics.get(grid.metric)
    return DotIntervals(
        f"{grid.metric} of the best configurations",
        "Configurations with their mean and its 95 % interval; the dashed line is the current configuration.",
        interval_scale(lines, limits=(0.0, None)), tuple(lines), None if present is None else present.mean,
        f"{grid.metric}, higher is better",
    )  # fmt: skip


def metric_names(grid: Grid) -> tuple[str, ...]:
    """Retrieval metrics that any configuration has, in the order in which they are shown; the grid's own first."""
    found = {name for result in grid.configurations for name in result.metrics}
    names = (grid.metric, *(name for name in RETRIEVAL_METRICS if name != grid.metric))
    return tuple(name for name in names if name in found)


def answer_names(grid: Grid, first: str = "") -> tuple[str, ...]:
    """Answer metrics that any configuration has; ``first`` before the others."""
    found = dict.fromkeys(name for result in grid.configurations for name in result.answers)
    return tuple(sorted(found, key=first.__ne__))


def answered(grid: Grid) -> list[tuple[int, ConfigurationResult]]:
    """Configurations whose answers were measured, with their places: the current one, the chosen one, the others."""
    found = [one for one in ranked(grid) if one[1].answers]
    return sorted(found, key=lambda one: (one[0] != grid.current, not mark(grid, one[0])))


def ranked(grid: Grid) -> list[tuple[int, ConfigurationResult]]:
    """All configurations with their places, the best first."""
    return best_configurations(grid, len(grid.configurations) + 2)
