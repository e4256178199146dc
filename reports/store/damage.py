"""Damage: whether a database that could not be used is broken, and where."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import orjson

from .database import connect_to_read, explain, opened

ADVICE = "Restore it from a copy, or give --db another file."
SHAPES: Final = {"JSON object": dict, "JSON list": list}  # by how the description of a column begins

TYPES: Final = {  # of values that a column may hold, by its declared type
    "TEXT": "'text', 'null'",
    "INTEGER": "'integer', 'null'",
    "REAL": "'real', 'integer', 'null'",
    "BLOB": "'blob', 'null'",
}


def damage_behind(error: Exception) -> str:
    """What is wrong with a database that this program opened, as a sentence; blank where an error has another cause.

    The one opened last comes first. Each is read through, which takes seconds where it is large; so this is for errors
    that nobody expected.
    """
    for path in reversed(opened):
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
    yield from _odd_types(connection)
    for table, column, shape in _json_columns():
        for number, text in connection.execute(
            f'SELECT ROW_NUMBER() OVER (), CAST("{column}" AS BLOB) FROM "{table}" WHERE "{column}" IS NOT NULL'
        ):
            if not _is_json(text, shape):
                yield f"line {number} of table {table} holds no {shape} in column {column}"
    for table, *_ in connection.execute("PRAGMA foreign_key_check"):
        yield f"a line of table {table} names another one that is not there"


def _odd_types(connection: sqlite3.Connection) -> Iterator[str]:
    """Values of another type than their column, which SQLite allows, and which a flipped bit makes of a sound one."""
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, declared, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
            if declared not in TYPES:
                continue
            found = connection.execute(
                f'SELECT number, found FROM (SELECT ROW_NUMBER() OVER () AS number, typeof("{column}") AS found'
                f' FROM "{table}") WHERE found NOT IN ({TYPES[declared]})'
            ).fetchone()
            if found:
                yield f"line {found[0]} of table {table} holds a {found[1]} in column {column}"


def _is_json(text: bytes, shape: str) -> bool:
    try:
        return isinstance(orjson.loads(text), SHAPES.get(shape, object))
    except ValueError:
        return False


def _json_columns() -> Iterator[tuple[str, str, str]]:
    """Columns that hold JSON by the contract of the schema: table, column, and what JSON."""
    from .schema import schema_texts

    for table in schema_texts():
        if not table.is_view:
            for name, text in table.columns.items():
                if text.startswith("JSON"):
                    yield table.name, name, next((shape for shape in SHAPES if text.startswith(shape)), "JSON")
