"""Blocks of a result as lines of a terminal: 80 columns or as many as it has, and no figure is ever cut or folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from .table import (
    BLANK,
    Blank,
    Block,
    Cell,
    Code,
    Folded,
    Heading,
    Item,
    RowGroup,
    Sentence,
    Span,
    Style,
    Table,
    Words,
    spans,
)
from .text import printable

WIDTH: Final = 80
STYLES: Final[dict[Style, str]] = {
    "": "", "bold": "bold", "dim": "dim", "good": "bold green", "bad": "bold red", "warning": "yellow",
}  # fmt: skip
LEAST: Final = {"name": 18, "text": 24}  # columns of a terminal that a column of words has at the least
NARROWEST: Final = 9  # the same of a heading


def plain(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """As it stands in a terminal of so many columns, without colours."""
    return "\n".join(line.plain.rstrip() for line in lines(blocks, width))


def styled(blocks: Iterable[Block], width: int = WIDTH) -> Text:
    """All lines as one text for a console of rich, which has to leave their ends as they are (``soft_wrap``)."""
    return Text("\n").join(lines(blocks, width))


def lines(blocks: Iterable[Block], width: int = WIDTH) -> Iterator[Text]:
    """The lines, none of them longer than the width, if no figure is."""
    before: Block = BLANK
    for block in blocks:
        if not isinstance(block, Blank) or not isinstance(before, Blank):
            yield from _lines(block, width)
        before = block


def _lines(block: Block, width: int) -> Iterator[Text]:
    match block:
        case Blank():
            yield Text()
        case Heading():
            yield from folded(text_of(block.text, block.style), width)
        case Sentence():
            yield from _indented(folded(text_of(block.text, block.style), width - block.indent), block.indent)
        case Item():
            indent = 2 + 2 * block.level
            yield from _indented(folded(text_of(block.text, block.style), width - indent), indent)
        case Table():
            yield from _table(block, width)
        case Code():
            for line in block.lines:
                yield from _indented(folded(Text(printable(line)), width - 4), 4)
        case Folded():
            yield from folded(text_of(block.title, "bold"), width)
            yield from lines(block.blocks, width)


def text_of(words: Words | Cell, style: Style = "") -> Text:
    """A text with its styles; control characters are replaced, so that no name can steer the terminal."""
    made = Text(style=STYLES[style])
    for each in spans(words):
        made.append(printable(each.text), style=STYLES[each.style] or None)
    return made


def _indented(text: Iterable[Text], indent: int) -> Iterator[Text]:
    for line in text:
        yield Text(" " * indent).append_text(line) if indent else line


def folded(text: Text, width: int, marks: str = " ", hanging: int = 0) -> list[Text]:
    """A text in lines of a width, broken after one of the marks where that can be.

    >>> [line.plain for line in folded(Text("  tokens_presence.passes"), 20, " ._-", 2)]
    ['  tokens_presence.', '    passes']
    """
    plain = text.plain
    indent = len(plain) - len(plain.lstrip(" ")) + hanging
    made: list[Text] = []
    rest = text
    while cell_len(rest.plain) > width:
        fits = len(set_cell_size(rest.plain, width))
        start = len(rest.plain) - len(rest.plain.lstrip(" "))
        reach = fits + (rest.plain[fits : fits + 1] == " ")  # a blank at the end of a line takes no room
        end = 1 + max(rest.plain.rfind(mark, start, reach) for mark in marks)
        end = end if end > start else max(1, fits)
        line = rest[:end]
        line.rstrip()
        made.append(line)
        following = rest[end:]
        following = following[len(following.plain) - len(following.plain.lstrip(" ")) :]
        rest = Text(" " * min(indent, width // 2), style=text.style).append_text(following)
    return [*made, rest]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Columns that stand side by side, their widths, the gap between them, and whether figures are stacked."""

    shown: Sequence[int]
    widths: Sequence[int]
    gap: int
    is_stacked: bool = False


def _table(table: Table, width: int) -> Iterator[Text]:
    for place, layout in enumerate(_layouts(table, width)):
        if place:
            yield Text()
        if table.has_header and any(text_of(table.columns[number].header).plain for number in layout.shown):
            headers = (table.columns[number].header for number in layout.shown)
            parts = [_header(each, room) for each, room in zip(headers, layout.widths, strict=True)]
            yield from _row(parts, table, layout, from_below=True)
        for row in table.rows:
            if isinstance(row, RowGroup):
                yield from folded(text_of(row.text, row.style), width)
                continue
            pairs = zip(layout.shown, layout.widths, strict=True)
            yield from _row([_parts(table, number, row[number], layout, room) for number, room in pairs], table, layout)


def _header(words: Words, width: int) -> list[Text]:
    """The lines of a header, which is broken between its pieces before any piece is."""
    style: Style = "" if any(part.style for part in spans(words)) else "dim"
    if cell_len(text_of(words).plain) <= width:
        return [text_of(words, style)]
    pieces = (text_of(Span(each.text.strip(), each.style), style) for each in spans(words))
    return [line for piece in pieces for line in folded(piece, width, " ._-")]


def _parts(table: Table, number: int, cell: Words | Cell, layout: _Layout, width: int) -> list[Text]:
    """The lines of a cell."""
    if layout.is_stacked and isinstance(cell, Cell) and cell.stacked:
        return [text_of(Cell(line, cell.style)) for line in cell.stacked]
    marks = _marks(table, number, cell)
    if not marks:
        return [text_of(cell)]
    return folded(text_of(cell), width, marks, 2 if table.columns[number].kind == "name" else 0)


def _marks(table: Table, number: int, cell: Words | Cell) -> str:
    """After which characters a cell may be broken; none for a figure."""
    kind = table.columns[number].kind
    if kind == "name":
        return " ._-"
    return " " if kind == "text" or (isinstance(cell, Cell) and cell.wraps) else ""


def _row(parts: Sequence[Sequence[Text]], table: Table, layout: _Layout, from_below: bool = False) -> Iterator[Text]:
    height = max(map(len, parts))
    for place in range(height):
        line = Text()
        for number, lines_of_cell, width in zip(layout.shown, parts, layout.widths, strict=True):
            at = place - (height - len(lines_of_cell)) if from_below else place
            part = lines_of_cell[at] if 0 <= at < len(lines_of_cell) else Text()
            room = " " * max(0, width - cell_len(part.plain))
            right = table.columns[number].kind == "number" and not (len(lines_of_cell) > 1 and not from_below)
            line.append_text(Text(room).append_text(part) if right else part.copy().append(room))
            line.append(" " * layout.gap)
        line.rstrip()
        yield line


def _layouts(table: Table, width: int) -> Iterator[_Layout]:
    """The parts of a table: one where all columns fit, else with figures stacked where that can be, else several."""
    sizes = [_widths(table, number) for number in range(len(table.columns))]
    wanted = [want for want, _ in sizes]
    if sum(wanted) + 2 * (len(wanted) - 1) <= width:
        yield _Layout(range(len(wanted)), wanted, 2)
        return
    fitting = _fitting([least for _, least in sizes], width)
    is_stacked = len(fitting) > 1 and any(isinstance(c, Cell) and c.stacked for row in _cells(table) for c in row)
    if is_stacked:
        sizes = [_widths(table, number, is_stacked=True) for number in range(len(table.columns))]
        fitting = _fitting([least for _, least in sizes], width)
    for columns in fitting:
        shown = [0, *columns]
        wants, leasts = zip(*(sizes[number] for number in shown), strict=True)
        gap = 2 if sum(wants) + 2 * (len(wants) - 1) <= width else 1
        yield _Layout(shown, _shared(wants, leasts, width - sum(leasts) - gap * (len(leasts) - 1)), gap, is_stacked)


def _fitting(least: Sequence[int], width: int) -> list[list[int]]:
    """Which columns stand beside the first one, part by part: as few parts as can be, about equal in columns."""
    parts = _filled(least, width, len(least))
    even = -(-(len(least) - 1) // len(parts))
    evenly = _filled(least, width, even)
    return evenly if len(evenly) == len(parts) else parts


def _filled(least: Sequence[int], width: int, most: int) -> list[list[int]]:
    parts: list[list[int]] = []
    room = 0
    for number in range(1, len(least)):
        if not parts or len(parts[-1]) == most or room < least[number] + 1:
            parts.append([])
            room = width - least[0]
        room -= least[number] + 1
        parts[-1].append(number)
    return parts


def _shared(wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The widths, with what room there is given evenly to those that want more."""
    widths = list(least)
    while room > 0 and widths != list(wanted):
        for place, want in enumerate(wanted):
            if room > 0 and widths[place] < want:
                widths[place] += 1
                room -= 1
    return widths


def _cells(table: Table) -> list[Sequence[Words | Cell]]:
    return [row for row in table.rows if not isinstance(row, RowGroup)]


def _widths(table: Table, number: int, is_stacked: bool = False) -> tuple[int, int]:
    """The width that a column wants, and the least that it needs."""
    kind = table.columns[number].kind
    header = text_of(table.columns[number].header).plain if table.has_header else ""
    figures = longest = 0
    for row in _cells(table):
        cell = row[number]
        stacked = cell.stacked if is_stacked and isinstance(cell, Cell) else ()
        size = max(cell_len(text_of(line).plain) for line in (stacked or (cell,)))
        longest = max(longest, size)
        if stacked or not _marks(table, number, cell):
            figures = max(figures, size)
    wanted = max(longest, cell_len(header))
    of_header = max(map(cell_len, re.findall(r"[^\s._-]+[._-]*" if is_stacked else r"\S+", header)), default=0)
    of_text = NARROWEST if is_stacked and kind == "figures" else LEAST.get(kind, 16)
    least = max(figures, min(of_header, max(NARROWEST, figures)), min(longest, of_text))
    return wanted, min(least, wanted)
