"""Rows of CSV and TSV: every cell a text, every line as long as the header."""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import InputError
from .rows import Reading, Row, decoded

_DELIMITERS = (",", ";", "\t")


def table_rows(
    lines: Iterable[bytes], path: Path, delimiter: str | None, reading: Reading
) -> Iterator[tuple[int, Row]]:
    """Yield (line, row) of a table whose first line names the columns; rows without any text are skipped.

    Args:
        lines: the file's lines.
        path: for messages.
        delimiter: what separates the cells; None finds the one of ``,`` ``;`` and tab that the header has most.
        reading: is told of repaired characters.

    Raises:
        InputError: a line is not UTF-8, has more or fewer cells than the header, or is quoted wrongly.
    """
    texts = _texts(lines, path, reading)
    names: list[str] | None = None
    line = 1
    for header in texts:
        if header.strip():
            names, delimiter = _header(header, delimiter, path, line)
            break
        line += 1
    if names is None or delimiter is None:
        return
    cells = csv.reader(texts, delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t")
    first = line + 1
    try:
        for row in cells:
            if len(row) == len(names):
                if any(row):
                    yield first, dict(zip(names, row, strict=True))
            elif row:
                raise _ragged(path, first, row, names)
            first = line + 1 + cells.line_num
    except csv.Error as error:
        raise _misquoted(path, first, error) from error


def _header(header: str, delimiter: str | None, path: Path, line: int) -> tuple[list[str], str]:
    if "\r" in header.rstrip("\r\n"):
        raise InputError(f"{path} has line ends of old Macs (CR alone); save it with LF or CRLF.")
    if delimiter is None:
        outside_quotes = "".join(header.split('"')[::2])
        delimiter = max(_DELIMITERS, key=outside_quotes.count)
    try:
        names = next(csv.reader([header], delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise _misquoted(path, line, error) from error
    names = [name.strip() or f"column {place}" for place, name in enumerate(names, 1)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path}:{line}: two columns are called `{name}`; rename one of them.")
    return names, delimiter


def _texts(lines: Iterable[bytes], path: Path, reading: Reading) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        text = decoded(line, path, number)
        if "\0" in text:
            reading.note_repair(number)
            text = text.replace("\0", "\ufffd")
        yield text


def _ragged(path: Path, line: int, row: list[str], names: list[str]) -> InputError:
    cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
    columns = "1 column" if len(names) == 1 else f"{len(names)} columns"
    advice = "Put quotes round texts that hold the separator." if len(row) > len(names) else "Some are missing."
    return InputError(f"{path}:{line}: {cells}, but the header has {columns} ({', '.join(names)}). {advice}")


def _misquoted(path: Path, line: int, error: csv.Error) -> InputError:
    reason = str(error)
    if "field limit" in reason:
        reason = f"a cell of more than {csv.field_size_limit():,} characters; is a quote never closed? Else use JSONL"
    elif "unexpected end" in reason:
        reason = "a quote is opened and never closed"
    elif "expected after" in reason:
        reason = "text follows a closing quote; write a quote inside a quoted cell twice"
    elif "new-line character" in reason:
        reason = "it has a CR alone; save the file with LF or CRLF"
    return InputError(f"{path}:{line}: this line can't be read as a table: {reason}.")
