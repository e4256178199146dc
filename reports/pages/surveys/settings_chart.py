"""Settings chart: the best settings of a grid with their intervals, the present and the recommended one marked."""

from __future__ import annotations

from ...surveys.grid import Grid, SettingResult
from ...surveys.survey_words import RETRIEVAL, best_settings, change_text, mean_text
from ..charts.intervals import DotIntervals, Line, interval_scale

MOST = 12  # lines of the chart; the table has all


def settings_chart(grid: Grid) -> DotIntervals | None:
    """The chart; None where no setting has a value."""
    chosen = None if grid.recommendation is None else grid.recommendation.setting
    lines = []
    for place, result in best_settings(grid, MOST):
        mean = result.metrics.get(grid.metric)
        if mean is None:
            continue
        mark = " (now)" if place == grid.present else " (take)" if place == chosen else ""
        tone = "doubt" if place == grid.present else "good" if place == chosen else ""
        lines.append(Line(result.setting.name + mark, mean.mean, mean.low, mean.high, mean_text(mean), tone))
    if not lines:
        return None
    present = grid.settings[grid.present].metrics.get(grid.metric)
    return DotIntervals(
        f"{grid.metric} of the best settings",
        "Settings with their mean and its 95 % interval; the dashed line is the setting as it is now.",
        interval_scale(lines, limits=(0.0, None)), tuple(lines), None if present is None else present.mean,
        f"{grid.metric}, higher is better",
    )  # fmt: skip


def metric_names(grid: Grid) -> tuple[str, ...]:
    """Metrics of retrieval that any setting has, in the order in which they are shown; the grid's own first."""
    found = {name for result in grid.settings for name in result.metrics}
    names = (grid.metric, *(name for name in RETRIEVAL if name != grid.metric))
    return tuple(name for name in names if name in found)


def answer_names(grid: Grid) -> tuple[str, ...]:
    """Metrics of answers that any setting has."""
    return tuple(dict.fromkeys(name for result in grid.settings for name in result.answers))


def ranked(grid: Grid) -> list[tuple[int, SettingResult]]:
    """All settings with their places, the best first."""
    return best_settings(grid, len(grid.settings) + 2)


__all__ = ["answer_names", "change_text", "mean_text", "metric_names", "ranked", "settings_chart"]
