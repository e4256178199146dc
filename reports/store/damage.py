"""Damage: whether a database that could not be used is broken, and where."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .database import connect_to_read, explain, opened

ADVICE = "Restore it from a copy, or give --db another file."


def damage_behind(error: Exception) -> str:
    """What is wrong with a database that this program opened, as a sentence; blank where an error has another cause.

    Each is read through, which takes seconds where it is large; so this is for errors that nobody expected.
    """
    for path in opened:
        if found := damage(path):
            return f"{path} is damaged: {found}. {ADVICE}"
    if isinstance(error, sqlite3.Error) and opened:
        return str(explain(next(reversed(opened)), error))
    return ""


def damage(path: Path) -> str:
    """The first thing that is broken in a database; blank where it is sound, or not there."""
    if not path.is_file():
        return ""
    try:
        with contextlib.closing(connect_to_read(path)) as connection:
            return next(_broken(connection), "")
    except sqlite3.Error as error:
        return str(error)


def _broken(connection: sqlite3.Connection) -> Iterator[str]:
    for (line,) in connection.execute("PRAGMA quick_check(1)"):
        if line != "ok":
            yield " ".join(str(line).split())
    for table, column in _json_columns():
        for number, text in connection.execute(
            f'SELECT ROW_NUMBER() OVER (), CAST("{column}" AS BLOB) FROM "{table}" WHERE "{column}" IS NOT NULL'
        ):
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                yield f"line {number} of table {table} holds no JSON in column {column}"
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"a line of table {table} names another one that is not there"


def _json_columns() -> Iterator[tuple[str, str]]:
    """Columns that hold JSON by the contract of the schema."""
    from .schema import schema_texts

    for table in schema_texts():
        if not table.is_view:
            yield from ((table.name, name) for name, text in table.columns.items() if text.startswith("JSON"))
