"""Row lines: every score of a run as one JSON line, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from .store import Store
from .whole_files import whole_file


def row_lines(store: Store, run: str) -> Iterator[bytes]:
    """``{"id", "bot", "repeat", "metric", "value", "status", "reason", "passed", "details"}`` a line."""
    lines = store.connection.execute(
        "SELECT question_id, bot, repeat, metric, value, status, reason, passed, details FROM row_scores WHERE run = ?",
        [run],
    )
    for key, bot, repeat, metric, value, status, reason, passed, details in lines:
        yield orjson.dumps(
            {
                "id": key,
                "bot": bot,
                "repeat": repeat,
                "metric": metric,
                "value": value,
                "status": status,
                "reason": reason,
                "passed": None if passed is None else bool(passed),
                "details": orjson.Fragment(details or b"{}"),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )


def write_row_lines(store: Store, run: str, path: Path) -> int:
    """Write the lines to a file, whole or not at all; returns how many there are.

    Raises:
        InputError: it can't be written.
    """
    written = 0
    with whole_file(path) as file:
        for line in row_lines(store, run):
            file.write(line)
            written += 1
    return written
