"""Tables, sentences and headings of a result, once; written for terminals, Markdown, HTML and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Final, Literal, TypeAlias

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from .files import csv_line
from .text import MOST, cell_code, code, html_code, one_line, printable, printable_lines, prose, unbroken

Style: TypeAlias = Literal["", "bold", "dim", "good", "bad", "warning"]
Kind: TypeAlias = Literal["name", "number", "figures", "text"]
LONG: Final = 2000  # characters of a sentence in Markdown


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: its style, and whether it is a text of others, which Markdown shows as code."""

    text: str
    style: Style = ""
    is_quoted: bool = False


Words: TypeAlias = "str | Span | Sequence[str | Span]"


def quoted(text: str, most: int = MOST, style: Style = "") -> Span:
    """A name, question or answer of others on one line: no renderer reads anything in it as markup."""
    return Span(one_line(text, most), style, is_quoted=True)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: as a reader wants it.
        style: of all of it.
        wraps: whether it may be broken into lines, where its column is one of figures.
        note: what a reader sees who points at it, in HTML.
        stacked: its figures in lines, for a terminal that is too narrow for all columns side by side.
    """

    text: Words = ""
    style: Style = ""
    wraps: bool = False
    note: str = ""
    stacked: Sequence[Words] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column: ``name`` is broken after a dot or underscore, ``text`` between words, figures never.

    A ``number`` stands to the right, ``figures`` (a mean with its interval) to the left.
    """

    header: Words = ""
    kind: Kind = "number"


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A heading inside a table, over the rows that follow."""

    text: Words
    style: Style = "bold"


Row: TypeAlias = "Sequence[Words | Cell] | RowGroup"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; the first column names the row, and is repeated where a terminal is too narrow for all."""

    columns: Sequence[Column]
    rows: Sequence[Row]
    has_header: bool = True


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 2 is the title of the whole."""

    text: Words
    level: int = 3
    style: Style = "bold"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A paragraph; ``indent`` is for terminals."""

    text: Words
    style: Style = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list; ``level`` 1 is below another item."""

    text: Words
    style: Style = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """Lines as they are, such as a difference of prompts."""

    lines: Sequence[str]
    language: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """Blocks below a title, which Markdown and HTML show when it is opened."""

    title: Words
    blocks: Sequence[Block] = field(default=())
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line of a terminal."""


Block: TypeAlias = "Heading | Sentence | Item | Table | Code | Folded | Blank"
BLANK: Final = Blank()


def spans(words: Words | Cell) -> Iterator[Span]:
    """The pieces, with the style of the cell where a piece has none."""
    if isinstance(words, Cell):
        for each in spans(words.text):
            yield each if each.style or not words.style else Span(each.text, words.style, each.is_quoted)
    elif isinstance(words, str):
        yield Span(words)
    elif isinstance(words, Span):
        yield words
    else:
        for part in words:
            yield part if isinstance(part, Span) else Span(part)


def columns(*headers: Words, first: Kind = "name") -> list[Column]:
    """Columns of figures behind one of names."""
    return [Column(header, "number" if place else first) for place, header in enumerate(headers)]


def records_table(records: Sequence[Mapping[str, object]]) -> Table:
    """Records with the same keys, a column each, for programs; blank where nothing is known."""
    return Table(columns(*(records[0] if records else ())), [list(map(_plain, each.values())) for each in records])


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={one}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


# Markdown


def markdown(blocks: Iterable[Block]) -> str:
    """The blocks as a page of Markdown; a text of others stays a text: no tag, link, image or mention."""
    return "\n".join(_markdown_lines(blocks)).strip("\n") + "\n"


def _markdown_lines(blocks: Iterable[Block]) -> Iterator[str]:
    before: Block | None = None
    for block in blocks:
        if isinstance(block, Blank):
            continue
        if before is not None and not (isinstance(block, Item) and isinstance(before, Item)):
            yield ""
        yield from _markdown(block)
        before = block


def _markdown(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {_inline(_unstyled(block.text), '')}"
        case Sentence():
            yield _inline(block.text, block.style)
        case Item():
            yield f"{'  ' * block.level}- {_inline(block.text, block.style)}"
        case Table():
            yield from _markdown_table(block)
        case Code():
            text = printable_lines("\n".join(block.lines))
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
            yield f"{fence}{block.language}"
            yield text
            yield fence
        case Folded():
            title = "".join(html_code(each.text) if each.is_quoted else prose(each.text) for each in spans(block.title))
            yield f"<details{' open' if block.is_open else ''}><summary>{title}</summary>"
            yield ""
            yield from _markdown_lines(block.blocks)
            yield ""
            yield "</details>"


def _inline(words: Words, style: Style) -> str:
    """A sentence; a style for all of it goes around all of it, but around no piece."""
    pieces = [
        code(each.text, LONG) if each.is_quoted else _spaced(each.text, starts_line=not place and not style)
        for place, each in enumerate(spans(words))
    ]
    if style:
        return _strong("".join(pieces), style)
    return "".join(_strong(piece, each.style) for piece, each in zip(pieces, spans(words), strict=True))


def _spaced(text: str, starts_line: bool = False) -> str:
    """A piece of a sentence, with the blanks at its ends."""
    start, end = text[:1].isspace(), text[-1:].isspace() and bool(text.strip())
    return f"{' ' if start else ''}{unbroken(prose(text, LONG, starts_line))}{' ' if end else ''}"


def _strong(text: str, style: Style) -> str:
    bare = text.strip()
    shown = style in ("bold", "good", "bad") and any(map(str.isalnum, bare))
    return text.replace(bare, f"**{bare}**", 1) if shown else text


def _markdown_table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(_markdown_cell(_unstyled(column.header)) for column in table.columns)} |"
    yield f"|{'|'.join('--:' if column.kind in ('number', 'figures') else '---' for column in table.columns)}|"
    for row in table.rows:
        if isinstance(row, RowGroup):
            yield f"| **{_markdown_cell(row.text)}** |{' |' * (len(table.columns) - 1)}"
        else:
            yield f"| {' | '.join(map(_markdown_cell, row))} |"


def _markdown_cell(cell: Words | Cell) -> str:
    return "".join(_strong(_cell_text(each), each.style) for each in spans(cell)).strip()


def _cell_text(span: Span) -> str:
    return cell_code(span.text, LONG) if span.is_quoted else _spaced(span.text)


def _unstyled(words: Words) -> Words:
    """For a heading, all of which is bold."""
    return [Span(each.text, "", each.is_quoted) for each in spans(words)]


# HTML

STYLE: Final = (
    "<style>.proctor table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".proctor td,.proctor th{text-align:left;padding:.15em .8em .15em 0;white-space:pre-wrap}"
    ".proctor .number{text-align:right}.proctor .dim{opacity:.65}"
    ".proctor p,.proctor h4{margin:.2em 0;white-space:pre-wrap}</style>"
)


def html(blocks: Iterable[Block]) -> str:
    """The blocks for a notebook: every text is escaped."""
    return f'<div class="proctor">{STYLE}{"".join(map(_html, blocks))}</div>'


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h4>{_html_inline(block.text)}</h4>"
        case Sentence():
            dim = ' class="dim"' if block.style == "dim" else ""
            return f"<p{dim}>{_html_inline(Cell(block.text, block.style if not dim else ''))}</p>"
        case Item():
            return f'<p style="margin-left:{1 + block.level}em">{_html_inline(Cell(block.text, block.style))}</p>'
        case Table():
            return _html_table(block)
        case Code():
            return f"<pre>{escape(printable_lines(chr(10).join(block.lines)))}</pre>"
        case Folded():
            inside = "".join(map(_html, block.blocks))
            start = f"<details{' open' if block.is_open else ''}>"
            return f"{start}<summary>{_html_inline(block.title)}</summary>{inside}</details>"
        case Blank():
            return ""


def _html_table(table: Table) -> str:
    head = ""
    if table.has_header:
        cells = (_html_cell("th", column.header, column) for column in table.columns)
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    return f"<table>{head}<tbody>{''.join(_html_row(row, table) for row in table.rows)}</tbody></table>"


def _html_row(row: Row, table: Table) -> str:
    if isinstance(row, RowGroup):
        return f'<tr><th colspan="{len(table.columns)}">{_html_inline(row.text)}</th></tr>'
    cells = (_html_cell("td", cell, column) for cell, column in zip(row, table.columns, strict=True))
    return f"<tr>{''.join(cells)}</tr>"


def _html_cell(tag: str, cell: Words | Cell, column: Column) -> str:
    number = ' class="number"' if column.kind == "number" else ""
    note = f' title="{escape(printable(cell.note))}"' if isinstance(cell, Cell) and cell.note else ""
    return f"<{tag}{number}{note}>{_html_inline(cell)}</{tag}>"


def _html_inline(words: Words | Cell) -> str:
    made = []
    for each in spans(words):
        text = escape(printable(each.text))
        text = text if each.is_quoted else unbroken(text)
        if each.style in ("bold", "good", "bad"):
            text = f"<b>{text}</b>"
        made.append(f'<span class="dim">{text}</span>' if each.style == "dim" else text)
    return "".join(made)


# CSV

_FIGURE: Final = re.compile(r"[-+]?\d[\d,]*(\.\d+)?")


def csv(blocks: Iterable[Block]) -> bytes:
    """The tables, with a blank line between two and the heading of each above it; sentences are left out."""
    return b"\r\n".join(map(b"".join, _csv_tables(blocks, "")))


def records_csv(records: Sequence[Mapping[str, object]]) -> bytes:
    """Records with the same keys as CSV: a line of the keys, then one for each record, figures as they are."""
    lines = [list(records[0]), *(each.values() for each in records)] if records else []
    return b"".join(map(csv_line, lines))


def _csv_tables(blocks: Iterable[Block], heading: str) -> Iterator[list[bytes]]:
    for block in blocks:
        match block:
            case Heading():
                heading = _bare(block.text)
            case Folded():
                yield from _csv_tables(block.blocks, _bare(block.title))
            case Table():
                above = [[heading]] if heading else []
                header = [[_bare(column.header) for column in block.columns]] if block.has_header else []
                rows = [
                    [_bare(row.text)] if isinstance(row, RowGroup) else [_figure(_bare(cell)) for cell in row]
                    for row in block.rows
                ]
                yield [csv_line(line) for line in (*above, *header, *rows)]
                heading = ""


def _bare(words: Words | Cell) -> str:
    return "".join(each.text for each in spans(words)).strip()


def _figure(text: str) -> str | float:
    """A number where the cell is nothing else, but for the mark of the best; blank for a dash."""
    bare = text.removesuffix("*")
    if not _FIGURE.fullmatch(bare):
        return "" if text == "-" else text
    number = bare.replace(",", "")
    return float(number) if "." in number else int(number)


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
