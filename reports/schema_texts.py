"""Schema texts: what SCHEMA.md says of each table, view and column, for programs that show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

_HEADING: Final = re.compile(r"^## (\w+)( \(view\))?$", re.MULTILINE)
_COLUMN: Final = re.compile(r"^\| (\w+) \| (.+) \|$")


@dataclass(frozen=True, slots=True)
class TableText:
    """A table or view as the contract describes it; ``columns`` is by name, without the marks of Markdown."""

    name: str
    is_view: bool
    description: str
    columns: dict[str, str]


def schema_texts() -> list[TableText]:
    """All tables and views, in the order of the contract."""
    return list(parsed_schema((files(__package__) / "SCHEMA.md").read_text("utf-8")))


def parsed_schema(markdown: str) -> Iterator[TableText]:
    """The tables of a page that has a heading, a few sentences and a table of columns for each."""
    parts = _HEADING.split(markdown)[1:]
    for name, view, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        lines = body.strip().splitlines()
        start = next((place for place, line in enumerate(lines) if line.startswith("|")), len(lines))
        found = (_COLUMN.match(line) for line in lines[start:])
        columns = {match[1]: _plain(match[2]) for match in found if match and match[1] != "column"}
        yield TableText(name, bool(view), _plain(" ".join(lines[:start])), columns)


def _plain(text: str) -> str:
    return text.replace("`", "").strip()
