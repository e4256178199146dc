"""Thresholds: what a metric wants, in words, and figures that show on which side of it they are."""

from __future__ import annotations

from .leaderboard import figure
from .reported_run import misses
from .summary import MetricColumn


def bound(column: MetricColumn, threshold: float | None = None) -> str:
    """What a value has to reach, in words; blank where there is no threshold, or no direction.

    Args:
        column: the metric.
        threshold: in place of the metric's own.

    >>> bound(MetricColumn("faithfulness", "1", "higher", 0.0, 1.0, 0.75))
    'at least 0.75'
    """
    wanted = column.threshold if threshold is None else threshold
    if wanted is None or column.better == "neither":
        return ""
    return f"{'at least' if column.better == 'higher' else 'at most'} {wanted:g}"


def figure_apart(value: float, column: MetricColumn) -> str:
    """A value as ``figure`` has it, with more digits where rounding would put it on the other side of the threshold.

    >>> column = MetricColumn("faithfulness", "1", "higher", 0.0, 1.0, 0.75)
    >>> figure_apart(0.7499, column), figure_apart(0.752, column)
    ('0.7499', '0.75')
    """
    plain = figure(value, column)
    if column.threshold is None or column.better == "neither":
        return plain
    missed, edge = misses(value, column), figure(column.threshold, column)
    texts = (plain, *(f"{value:.{digits}f}" for digits in range(3, 10)))
    told = (text for text in texts if misses(float(text), column) == missed and not (missed and text == edge))
    return next(told, plain)
