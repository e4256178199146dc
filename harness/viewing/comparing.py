"""Comparing: two sides of the viewed database, as the address of a page names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...reports.comparing.sides import all_runs, named_side, side_in
from ...reports.pages.pairs.paired_runs import PairedRuns, paired_runs
from ...reports.pages.rows.columns import Column, opened_run
from ...reports.store import Store


class ColumnKey(NamedTuple):
    """What a column is made of, to be kept while its database is closed and opened again."""

    name: str
    origin: int
    run_id: int
    bot: str


def compared_runs(store: Store, base: str, head: str) -> list[int]:
    """The keys of the runs of both sides; one where both are of one run.

    Raises:
        InputError: no such run or bot. Files are not sides here: whoever has the address may not choose any.
    """
    runs = all_runs(store)
    return list(dict.fromkeys(named_side(store, text, runs)[0][0] for text in (base, head)))


def paired_in(store: Store, base: str, head: str) -> PairedRuns:
    """Both sides, compared.

    Raises:
        InputError: no such run or bot, or nothing of both can be compared.
    """
    return paired_runs(side_in(store, base), side_in(store, head))


def column_keys(pairs: PairedRuns) -> tuple[ColumnKey, ...]:
    """The columns of a page of two runs, to be opened again."""
    return tuple(ColumnKey(each.name, each.origin, each.run.id, each.bot) for each in pairs.columns)


def opened_columns(store: Store, keys: Sequence[ColumnKey]) -> list[Column]:
    """The columns in a store that is open."""
    runs = {run_id: opened_run(store, run_id) for run_id in dict.fromkeys(key.run_id for key in keys)}
    return [Column(key.name, key.origin, runs[key.run_id], key.bot) for key in keys]
