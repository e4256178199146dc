"""Open run: a run as it would be gone on with, without beginning it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...reports.ledger import OpenRun
from ...reports.run import RunHeader, bot_fingerprint
from ...reports.store import Store


def open_run(header: RunHeader, store: Store) -> OpenRun:
    """What is not in the database has a number below 0."""
    nowhere = itertools.count(-1, -1)

    def found(sql: str, arguments: Sequence[object]) -> int:
        lines = store.query(sql, arguments)
        return int(lines[0][0]) if lines else next(nowhere)

    last = "SELECT id FROM runs WHERE identity = ? ORDER BY id DESC LIMIT 1"
    return OpenRun(
        id=next(nowhere) if header.fresh else found(last, [header.identity]),
        name="",
        resumed=False,
        bot_ids={
            name: found("SELECT id FROM bots WHERE fingerprint = ?", [bot_fingerprint(name, identity)])
            for name, identity in header.bots
        },
        metric_ids={
            metric.name: found("SELECT id FROM metrics WHERE name = ? AND version = ?", [metric.name, metric.version])
            for metric in header.metrics
            if metric.level == "row"
        },
    )
