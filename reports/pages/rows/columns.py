"""Columns: the bots that a page shows side by side, each out of a run whose database is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...store import Store
from ...summary import MetricColumn, bot_keys, metric_columns


class RunOfColumns(Protocol):
    """What the data of a page needs to know of a run; a ``ReportedRun`` is one."""

    @property
    def store(self) -> Store:
        """Its database."""
        ...

    @property
    def id(self) -> int:
        """Its key in the database."""
        ...

    @property
    def columns(self) -> Mapping[str, MetricColumn]:
        """Its metrics by name, in the order of the suite."""
        ...

    @property
    def bot_ids(self) -> Mapping[str, int]:
        """Keys of its bots by name, in the order of the suite."""
        ...

    @property
    def metric_ids(self) -> Mapping[str, int]:
        """Keys of its metrics by name."""
        ...


@dataclass(frozen=True, slots=True)
class Column:
    """A bot as one column of a page.

    Attributes:
        name: what it is called on the page: the bot, or ``base`` and ``head`` where one bot stands twice.
        origin: place of its run among the runs of the page.
        run: its run, its database still open.
        bot: its name in that run.
    """

    name: str
    origin: int
    run: RunOfColumns
    bot: str

    @property
    def bot_id(self) -> int:
        """Its key in the database of its run."""
        return self.run.bot_ids[self.bot]


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A run that nothing was added up of, for a server that is asked for one block of it."""

    store: Store
    id: int
    columns: Mapping[str, MetricColumn]
    bot_ids: Mapping[str, int]
    metric_ids: Mapping[str, int]


def columns_of(run: RunOfColumns, origin: int = 0) -> tuple[Column, ...]:
    """All bots of a run, in the order of the suite."""
    return tuple(Column(name, origin, run, name) for name in run.bot_ids)


def opened_run(store: Store, run_id: int) -> OpenedRun:
    """A run with its bots and metrics by name; it takes milliseconds, however large the run is."""
    metrics = metric_columns(store, run_id)
    columns = {column.name: column for column in metrics.values()}
    keys = {column.name: metric_id for metric_id, column in metrics.items()}
    return OpenedRun(store, run_id, columns, bot_keys(store, run_id), keys)


def origins(columns: Sequence[Column]) -> dict[int, RunOfColumns]:
    """The runs of the columns by their places on the page, in that order."""
    found = {column.origin: column.run for column in columns}
    return {place: found[place] for place in sorted(found)}


def row_metrics(columns: Sequence[Column]) -> list[str]:
    """The metrics that have a value for each row, of all columns, in the order of the suites."""
    named = {
        name: None for run in origins(columns).values() for name, metric in run.columns.items() if metric.level == "row"
    }
    return list(named)
