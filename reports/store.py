"""The report database: opened, brought up to date, and asked what it keeps already."""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import InputError

MOST_BOUND = 900  # values in a statement: SQLite's oldest limit is 999
PATIENCE = 60.0  # seconds for which we wait for another program to let go of the database
PAUSE = 0.01  # seconds between two tries where SQLite itself does not wait


class StoreError(InputError):
    """The database can't be used or written; the message says which file, why, and what to do."""


def explain(path: Path, error: sqlite3.Error) -> StoreError:
    """The sentence for an error of SQLite, with what a user can do about it."""
    text = str(error)
    advice = {
        "disk is full": "Free some space and run the same command again: all that was committed is kept.",
        "readonly database": "Give --db a file in a folder that you may write to.",
        "unable to open": "Give --db a file in a folder that exists and that you may write to.",
        "not a database": "Give --db another file; this one is left as it is.",
        "malformed": "Restore it from a copy, or give --db another file.",
        "locked": "Another program has held it for longer than a minute; close that program and run again.",
        "disk i/o error": "Check the disk, then run the same command again: all that was committed is kept.",
    }
    hint = next((words for part, words in advice.items() if part in text.lower()), "")
    return StoreError(f"{path}: the database says: {text}. {hint}".rstrip())


def connect(path: Path, any_thread: bool = False) -> sqlite3.Connection:
    """A connection with foreign keys on and a patient lock; for one thread, unless the caller locks it himself."""
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=not any_thread)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


class Store:
    """One SQLite file. Reads happen here, in the thread that opened it; writes go through a RowWriter."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @classmethod
    def open(cls, path: Path, create: bool = True) -> Store:
        """Open the file, making it or bringing its tables up to date where needed.

        Raises:
            StoreError: no such file (when not to be created), not a database, made by a newer Proctor, read-only.
        """
        if not path.exists():
            if not create:
                raise StoreError(f"There is no database {path}. Run 'proctor run' first, or give --db FILE.")
            if not path.parent.is_dir():
                raise StoreError(f"{path}: the folder {path.parent} does not exist. Give --db a file in one that does.")
        connection: sqlite3.Connection | None = None
        try:
            connection = connect(path)
            _bring_up_to_date(path, connection)
        except (sqlite3.Error, StoreError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.Error):
                raise explain(path, error) from error
            raise
        return cls(path, connection)

    def close(self) -> None:
        """Close the reading connection."""
        self.connection.close()

    def query(self, sql: str, arguments: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """All lines that a statement returns."""
        try:
            return self.connection.execute(sql, arguments).fetchall()
        except sqlite3.Error as error:
            raise explain(self.path, error) from error


def _bring_up_to_date(path: Path, connection: sqlite3.Connection) -> None:
    from .schema import migrations

    if not pending(path, connection):
        return
    from sqlite_utils import Database

    _write_ahead(connection)
    with transaction(path, connection):  # of two programs that open a new file, one makes the tables
        if pending(path, connection):
            migrations.apply(Database(connection))


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, with the patience of any other statement.

    The switch reads before it writes. Of two who have read and want to write, one must let go, so SQLite tells the
    second at once that the database is locked, whatever its timeout; it is the one that tries again.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > end:
                raise
            time.sleep(PAUSE)
        else:
            return


def _is_busy(error: sqlite3.Error) -> bool:
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the upper bits say which kind of busy


def pending(path: Path, connection: sqlite3.Connection) -> bool:
    """Whether tables are missing; raises StoreError for a file that is not ours to change."""
    from .schema import migrations

    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not names:
        return True
    if "_sqlite_migrations" not in names:
        raise StoreError(
            f"{path} is a database of some other program (it has the table {min(names)}). Give --db another file."
        )
    known = {migration.name for migration in migrations._migrations}
    done = {
        name
        for (name,) in connection.execute(
            "SELECT name FROM _sqlite_migrations WHERE migration_set = ?", [migrations.name]
        )
    }
    if newer := sorted(done - known):
        raise StoreError(
            f"{path} was written by a newer Proctor (it has {newer[-1]}, which this version does not know). "
            "Upgrade Proctor, or give --db another file."
        )
    return done != known


@contextmanager
def transaction(path: Path, connection: sqlite3.Connection) -> Iterator[None]:
    """Everything inside is written, or nothing.

    Raises:
        StoreError: SQLite can't write; what is inside may raise whatever it likes.
    """
    try:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    except sqlite3.Error as error:
        raise explain(path, error) from error


def insert_many(
    connection: sqlite3.Connection, into: str, lines: Sequence[Sequence[object]], on_conflict: str = ""
) -> None:
    """``INSERT`` lines, many by one statement, and so with the interpreter's lock handed over once for many."""
    if not lines:
        return
    line = f"({marks(lines[0])})"
    many = MOST_BOUND // len(lines[0])
    whole = len(lines) - len(lines) % many
    sql = f"{into} VALUES {','.join([line] * many)} {on_conflict}"
    for start in range(0, whole, many):
        connection.execute(sql, [*itertools.chain.from_iterable(lines[start : start + many])])
    connection.executemany(f"{into} VALUES {line} {on_conflict}", lines[whole:])


def insert_or_find(connection: sqlite3.Connection, table: str, names: str, values: Sequence[object]) -> int:
    """The id of the line whose first column is unique, made where it is new."""
    inserted = connection.execute(
        f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks(values)}) RETURNING id", values
    ).fetchone()
    first = names.split(",")[0]
    found = inserted or connection.execute(f"SELECT id FROM {table} WHERE {first} = ?", values[:1]).fetchone()
    return int(found[0])


def marks(values: Iterable[object]) -> str:
    """Question marks for ``IN (...)``."""
    return ",".join("?" for _ in values)
