"""Rendering: the tables that the terminal shows, as plain text and as HTML for notebooks."""

from __future__ import annotations

import io
from collections.abc import Iterator
from html import escape
from itertools import zip_longest

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

WIDTH = 80
_STYLE = (
    "<style>.proctor table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".proctor td,.proctor th{text-align:left;padding:.15em .8em .15em 0;white-space:pre-wrap}"
    ".proctor p{margin:.2em 0;white-space:pre-wrap}</style>"
)


def text_of(shown: RenderableType, width: int = WIDTH) -> str:
    """As it stands in a terminal of so many columns, without colours."""
    stream = io.StringIO()
    console = Console(file=stream, width=width, highlight=False, markup=False, emoji=False, force_jupyter=False)
    console.print(shown)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip().splitlines())


def html_of(*shown: RenderableType) -> str:
    """The same as HTML: tables as tables, and lines between them as paragraphs. Every text is escaped."""
    return f'<div class="proctor">{_STYLE}{"".join(part for each in shown for part in _parts(each))}</div>'


def _parts(shown: RenderableType) -> Iterator[str]:
    match shown:
        case Group():
            for each in shown.renderables:
                yield from _parts(each)
        case Table():
            yield f"<table>{''.join(_lines(shown))}</table>"
        case str() | Text():
            if text := _cell(shown):
                yield f"<p>{text}</p>"
        case _:
            yield f"<pre>{escape(text_of(shown))}</pre>"


def _lines(table: Table) -> Iterator[str]:
    headings = [_cell(column.header) for column in table.columns]
    if table.show_header and any(headings):
        yield f"<thead><tr>{''.join(f'<th>{each}</th>' for each in headings)}</tr></thead>"
    for line in zip_longest(*(column.cells for column in table.columns), fillvalue=""):
        yield f"<tr>{''.join(f'<td>{_cell(each)}</td>' for each in line)}</tr>"


def _cell(shown: RenderableType) -> str:
    if isinstance(shown, Text):
        text = escape(shown.plain)
        return f"<b>{text}</b>" if text and "bold" in str(shown.style).replace("not bold", "") else text
    return escape(shown) if isinstance(shown, str) else f"<pre>{escape(text_of(shown))}</pre>"
