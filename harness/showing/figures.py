"""Figures as the tables of rankings and of abstention show them."""

from __future__ import annotations

import math

from rich.table import Table
from rich.text import Text

from ...reports.comparing.clustered_mean import Mean
from ...reports.comparing.comparison_words import interval, signed
from ...reports.leaderboard import figure
from ...reports.statistics.paired import Difference
from ...reports.summary import MetricColumn


def grid(*headings: str, first: int = 26) -> Table:
    """A table without lines, its first column (of so many characters at most) to the left, the others to the right."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    for place, heading in enumerate(headings):
        table.add_column(
            Text(heading, style="dim"), justify="right" if place else "left", overflow="fold",
            max_width=None if place else first,
        )  # fmt: skip
    return table


def mean_text(mean: Mean, column: MetricColumn) -> str:
    """A mean with its interval."""
    return f"{figure(mean.value, column)} {interval(mean.low, mean.high, column)}".rstrip()


def gain_text(gain: Difference, column: MetricColumn) -> str:
    """A gain with its sign and interval."""
    return f"{signed(gain.mean, column)} {interval(gain.low, gain.high, column)}".rstrip()


def percent(share: float) -> str:
    """A share as a percentage; only what is certain is 0 or 100.

    >>> [percent(share) for share in (0.0, 0.001, 0.5, 0.999, 1.0)]
    ['0 %', '<1 %', '50 %', '>99 %', '100 %']
    """
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def rounded_up(threshold: float) -> str:
    """A threshold in four digits after the point, never below what it is: so a promise is kept when it is typed in.

    >>> rounded_up(0.5163977794943222), rounded_up(1.0)
    ('0.5164', '1')
    """
    return f"{math.ceil(threshold * 10_000 - 1e-6) / 10_000:g}"
