"""VectorShelf: keeps embeddings in the report database, so that no text is embedded twice by one model."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence

from .store import Store, connect, marks
from .writer import RowWriter


class VectorShelf:
    """Reads by a connection of its own, from whatever thread; writes through the run's writer."""

    def __init__(self, store: Store, writer: RowWriter) -> None:
        self._path = store.path
        self._writer = writer
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def load(self, model_id: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The kept vectors among the keys."""
        found: dict[bytes, bytes] = {}
        with self._lock:
            if self._connection is None:
                self._connection = connect(self._path, any_thread=True)
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
        self._writer.vectors(model_id, items)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
