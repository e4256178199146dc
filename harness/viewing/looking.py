"""Looking: a report database opened to be read and never changed, whatever its place or age."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...reports.store import Store, StoreError, connect, connect_to_read, explain, pending

PATIENCE: Final = 5.0  # seconds for which a reader waits for a program that lets nobody read


@contextlib.contextmanager
def looked_at(path: Path, patience: float = PATIENCE) -> Iterator[Store]:
    """The database as it is at one moment, even while a run goes on; nothing can be written to it.

    A database of an older Proctor is refused, not brought up to date: whoever only looks changes nothing.

    Args:
        path: the file.
        patience: seconds to wait for a program that lets nobody read.

    Raises:
        StoreError: it is not there, can't be read, or its tables are those of an older or newer Proctor.
    """
    _check_there(path)
    try:
        connection = connect_to_read(path, patience)
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    try:
        _check_tables(path, connection)
        connection.execute("BEGIN")
        yield Store(path, connection)
    except sqlite3.Error as error:
        raise _explained(path, error) from error
    finally:
        connection.close()


@contextlib.contextmanager
def left_as_found(path: Path) -> Iterator[None]:
    """Take away what SQLite put beside the database while it was looked at; not what others need or left there.

    Whoever may write and is the last to close a database takes its empty log and index away; who only reads may not.
    """
    log = _log(path)
    was_there = log.exists()
    try:
        yield
    finally:
        if not was_there and path.is_file() and log.exists() and not log.stat().st_size:
            with contextlib.suppress(sqlite3.Error), contextlib.closing(connect(path)) as connection:
                connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()


def _log(path: Path) -> Path:
    return Path(f"{path}-wal")


def _explained(path: Path, error: sqlite3.Error) -> StoreError:
    if "locked" in str(error):
        return StoreError(f"{path}: another program holds it and lets nobody read just now. Look again in a while.")
    return explain(path, error)


def _check_there(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a database was wanted.")
    if not path.is_file():
        raise StoreError(f"There is no database {path}. 'proctor run --db {path}' makes one.")
    if path.stat().st_size == 0:
        raise StoreError(f"{path} is empty: it holds no run yet. 'proctor run --db {path}' makes one.")


def _check_tables(path: Path, connection: sqlite3.Connection) -> None:
    if pending(path, connection):
        raise StoreError(
            f"{path} was made by an older Proctor and lacks some tables; looking at it does not add them. "
            f"Bring it up to date first: proctor report --db {path} --markdown -"
        )
