"""VectorCache: keeps embeddings in the report database, so that no text is embedded twice by one model."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from .database import connect, marks
from .writer import RowWriter


class VectorCache:
    """Reads by a connection of its own, from whatever thread; writes through the run's writer.

    It is empty and forgetful until ``bind`` is called, because embedders are made before the run is known.
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

    def load(self, model_id: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The cached vectors among the keys."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            if self._connection is None:
                return found
            for start in range(0, len(keys), 400):
                part = keys[start : start + 400]
                found.update(
                    self._connection.execute(
                        f"SELECT key, vector FROM embeddings WHERE model = ? AND key IN ({marks(part)})",
                        [model_id, *part],
                    )
                )
        return found

    def save(self, model_id: str, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Hand new vectors to the writer."""
        if self._writer is not None:
            self._writer.vectors(model_id, items)

    def close(self) -> None:
        """Close the connection; after this nothing is found or stored."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = self._writer = None
