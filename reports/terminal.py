"""Blocks of a result as lines of a terminal: 80 columns or as many as it has, and no figure is ever cut or folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
NARROWEST: Final = 8  # the same of a heading


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


def _table(table: Table, width: int) -> Iterator[Text]:
    for place, (shown, widths, gap) in enumerate(_layout(table, width)):
        if place:
            yield Text()
        if table.has_header and any(text_of(table.columns[number].header).plain for number in shown):
            headers = (table.columns[number].header for number in shown)
            header = [text_of(each, "" if any(part.style for part in spans(each)) else "dim") for each in headers]
            yield from _row(header, [" ._-" for _ in shown], table, shown, widths, gap, from_below=True)
        for row in table.rows:
            if isinstance(row, RowGroup):
                yield from folded(text_of(row.text, row.style), width)
                continue
            marks = [_marks(table, number, row[number]) for number in shown]
            yield from _row([text_of(row[number]) for number in shown], marks, table, shown, widths, gap)


def _marks(table: Table, number: int, cell: Words | Cell) -> str:
    """After which characters a cell may be broken; none for a figure."""
    kind = table.columns[number].kind
    if kind == "name":
        return " ._-"
    return " " if kind == "text" or (isinstance(cell, Cell) and cell.wraps) else ""


def _row(
    cells: Sequence[Text], marks: Sequence[str], table: Table, shown: Sequence[int], widths: Sequence[int], gap: int,
    from_below: bool = False,
) -> Iterator[Text]:  # fmt: skip
    wrapped = [
        folded(cell, width, mark, 2 if "_" in mark and not from_below else 0) if mark else [cell]
        for cell, width, mark in zip(cells, widths, marks, strict=True)
    ]
    height = max(map(len, wrapped))
    for place in range(height):
        line = Text()
        for number, parts, width in zip(shown, wrapped, widths, strict=True):
            at = place - (height - len(parts)) if from_below else place
            part = parts[at] if 0 <= at < len(parts) else Text()
            room = " " * max(0, width - cell_len(part.plain))
            right = table.columns[number].kind == "number" and not (len(parts) > 1 and not from_below)
            line.append_text(Text(room).append_text(part) if right else part.copy().append(room))
            line.append(" " * gap)
        line.rstrip()
        yield line


def _layout(table: Table, width: int) -> Iterator[tuple[list[int], list[int], int]]:
    """Which columns stand side by side, with their widths and the gap between them; all of them where they fit."""
    wanted, least = zip(*(_widths(table, number) for number in range(len(table.columns))), strict=True)
    everything = list(range(len(table.columns)))
    if sum(wanted) + 2 * (len(wanted) - 1) <= width:
        yield everything, list(wanted), 2
        return
    left = everything[1:]
    while left:
        shown, room = [0], width - least[0]
        while left and (room >= least[left[0]] + 1 or len(shown) == 1):
            room -= least[left[0]] + 1
            shown.append(left.pop(0))
        yield shown, _shared([wanted[each] for each in shown], [least[each] for each in shown], room), 1


def _shared(wanted: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """The widths, with what room there is given evenly to those that want more."""
    widths = list(least)
    while room > 0 and widths != list(wanted):
        for place, want in enumerate(wanted):
            if room > 0 and widths[place] < want:
                widths[place] += 1
                room -= 1
    return widths


def _widths(table: Table, number: int) -> tuple[int, int]:
    """The width that a column wants, and the least that it needs."""
    kind = table.columns[number].kind
    rows = [row for row in table.rows if not isinstance(row, RowGroup)]
    header = text_of(table.columns[number].header).plain if table.has_header else ""
    sizes = [(cell_len(text_of(row[number]).plain), bool(_marks(table, number, row[number]))) for row in rows]
    figures = max((size for size, wraps in sizes if not wraps), default=0)
    longest = max((size for size, _ in sizes), default=0)
    wanted = max(longest, cell_len(header))
    of_header = max(map(cell_len, header.split()), default=0)
    least = max(figures, min(of_header, max(NARROWEST, figures)), min(longest, LEAST.get(kind, 16)))
    return wanted, min(least, wanted)
