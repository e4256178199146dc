"""VectorCache: embeddings in a database, so that no text is embedded twice by one model."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .database import connect, in_parts, marks
from .writer import RowWriter

MOST_IN_FILE: Final = 100_000  # vectors in a file of their own, about 150 MB; the oldest go first


class VectorCache:
    """Reads by a connection of its own, from whatever thread; writes through the run's writer, where there is a run.

    It is empty and forgetful until ``bind`` or ``open_file`` is called: embedders are made before the run is known.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._writer: RowWriter | None = None

    def bind(self, path: Path, writer: RowWriter) -> None:
        """Keep vectors in this database from now on."""
        with self._lock:
            self._connection = connect(path, any_thread=True)
            self._writer = writer

    def open_file(self, path: Path) -> None:
        """Cache vectors in a file of their own, for what is asked outside of a run; without it where that can't be."""
        with self._lock, contextlib.suppress(OSError, sqlite3.Error):
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect(path, any_thread=True)
            try:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS embeddings (model TEXT, key BLOB, vector BLOB, UNIQUE (model, key))"
                )
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    def load(self, model_id: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The cached vectors among the keys."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            if self._connection is None:
                return found
            for part in in_parts(keys):
                found.update(
                    self._connection.execute(
                        f"SELECT key, vector FROM embeddings WHERE model = ? AND key IN ({marks(part)})",
                        [model_id, *part],
                    )
                )
        return found

    def save(self, model_id: str, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Hand new vectors to the writer, or put them into the file."""
        if self._writer is not None:
            self._writer.vectors(model_id, items)
            return
        with self._lock:
            if self._connection is None:
                return
            lines = [(model_id, *item) for item in items]
            self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:  # commits, or takes all of it back
                self._connection.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?, ?)", lines)
                self._connection.execute(
                    "DELETE FROM embeddings WHERE rowid <= (SELECT MAX(rowid) FROM embeddings) - ?", [MOST_IN_FILE]
                )

    def close(self) -> None:
        """Close the connection; after this nothing is found or stored."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._writer = None
