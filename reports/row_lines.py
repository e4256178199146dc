"""Row lines: every score of a run as one JSON line, streamed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from .. import InputError
from .store import Store


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
    """Write the lines to a file, whole or not at all; returns how many there are."""
    unfinished = path.with_name(path.name + ".unfinished")
    written = 0
    try:
        with unfinished.open("wb") as file:
            for line in row_lines(store, run):
                file.write(line)
                written += 1
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise InputError(f"The rows could not be written to {path}: {error.strerror or error}.") from error
    return written
