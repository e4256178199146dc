"""Imported run: answers of other tools with the scores that they gave, put into the database as they are."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Final

from ...knowledge import Recorded, RecordedSet
from ...knowledge.formats.finding import ForeignRows
from ...reports import Summary, keep_findings, summarise
from ...reports.store import OpenRun, Row, RowTables, RunHeader, RunResults, Store, now, transaction, write_given
from .asking import give
from .manifest import manifest
from .recorded_run import GivenMetrics, RecordedBot, recorded_key, recorded_reply

CHUNK: Final = 2000  # rows in one transaction


def import_run(recorded: RecordedSet, given: GivenMetrics, store: Store, name: str = "") -> tuple[Summary, float]:
    """Put recorded answers and their given scores into the database, as a run; nothing else is worked out.

    Args:
        recorded: the answers.
        given: their scores.
        store: the database.
        name: what the run is called; blank for the usual name.

    Returns:
        What came of it, and the seconds it took.

    Raises:
        InputError: the name is taken.
        StoreError: it can't be written.
    """
    began = time.monotonic()
    source = recorded.source
    settings = {
        "recorded": recorded.path.name,
        "hash": recorded.fingerprint,
        **({"format": source.format.name} if isinstance(source, ForeignRows) else {}),
    }
    header = RunHeader(
        suite=recorded.path.name,
        bots=[(bot, RecordedBot(bot).identity) for bot in recorded.bots],
        metrics=tuple(given.metrics.values()),
        manifest=manifest(settings, recorded.warnings),
        questions=recorded.fingerprint,
        evaluators=given.evaluators,
        name=name,
    )
    results = RunResults(store)
    run = results.begin(header)
    status = "stopped"
    try:
        _write(recorded, given, run, store, results)
        status = "finished"
    finally:
        results.end(run, status, {}, header.manifest)
    summary = summarise(store, run.id)
    keep_findings(store, run.id, summary)
    return summary, time.monotonic() - began


def _write(recorded: RecordedSet, given: GivenMetrics, run: OpenRun, store: Store, results: RunResults) -> None:
    tables, positions = RowTables(), dict.fromkeys(recorded.bots, 0)
    store.connection.execute("PRAGMA cache_size = -65536")  # 64 MB: fingerprints come in no order
    known = {bot for bot, number in run.bot_ids.items() if _has_replies(store, number)}
    records = iter(recorded)
    while chunk := list(islice(records, CHUNK)):
        asked_at = now()
        rows = [_row(each, run, positions, asked_at) for each in chunk]
        if known:
            _take_stored(rows, results)
        with transaction(store.path, store.connection):
            tables.write(store.connection, run.id, rows)
            scores = (given.renamed(each.scores) for each in chunk)
            found = zip(rows, scores, strict=True)
            ids = ((row.reply_id or 0, row.question_id or 0, of_row) for row, of_row in found)
            write_given(store.connection, run.metric_ids, ids)


def _has_replies(store: Store, bot_id: int) -> bool:
    return bool(store.query("SELECT 1 FROM replies WHERE bot_id = ? LIMIT 1", [bot_id]))


def _row(record: Recorded, run: OpenRun, positions: dict[str, int], asked_at: str) -> Row:
    row = Row(
        record.question,
        run.bot_ids[record.bot],
        record.repeat,
        recorded_key(record),
        latency_ms=record.latency_ms,
        position=positions[record.bot],
    )
    positions[record.bot] += 1
    give(row, recorded_reply(record), asked_at)
    return row


def _take_stored(rows: Sequence[Row], results: RunResults) -> None:
    """Link answers that are in the database already."""
    for bot_id in {row.bot_id for row in rows}:
        of_bot = [row for row in rows if row.bot_id == bot_id]
        stored = results.cached_replies(bot_id, [row.question_hash for row in of_bot])
        for row in of_bot:
            if found := stored.get((row.question_hash, row.repeat)):
                row.reply_id, row.cached = found.reply_id, True
