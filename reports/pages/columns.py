"""Columns: the bots that a page shows side by side, each out of a run that is open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reported_run import ReportedRun


@dataclass(frozen=True, slots=True)
class Column:
    """A bot as one column of a page.

    Attributes:
        name: what it is called on the page: the bot, or ``base`` and ``head`` where one bot stands twice.
        origin: place of its run among the runs of the page.
        run: its run, still open.
        bot: its name in that run.
    """

    name: str
    origin: int
    run: ReportedRun
    bot: str

    @property
    def bot_id(self) -> int:
        """Its key in the database of its run."""
        return self.run.bot_ids[self.bot]


def columns_of(run: ReportedRun) -> tuple[Column, ...]:
    """All bots of a run, in the order of the suite."""
    return tuple(Column(bot.name, 0, run, bot.name) for bot in run.bots)


def origins(columns: Sequence[Column]) -> list[ReportedRun]:
    """The runs of the columns, each once, in the order of their places."""
    found = {column.origin: column.run for column in columns}
    return [found[place] for place in sorted(found)]


def row_metrics(columns: Sequence[Column]) -> list[str]:
    """The metrics that have a value for each row, of all columns, in the order of the suites."""
    named = {
        metric.name: None for run in origins(columns) for metric in run.summary.metrics if metric.level == "row"
    }  # fmt: skip
    return list(named)
