"""Rows of JSON: one object a line, or a list of objects in one text."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NoReturn

import orjson

from .. import InputError
from .rows import Reading, Row, decoded, decoded_whole, not_a_row, repaired

_SPACE = re.compile(r"[ \t\n\r]*")
_SUSPECT = re.compile(r"\\u(0000|d[89a-f])", re.IGNORECASE)  # an escaped NUL or surrogate, perhaps a lone one


def json_line_rows(lines: Iterable[bytes], path: Path, reading: Reading) -> Iterator[tuple[int, Row]]:
    """Yield (line, row) of a JSONL file; blank lines are skipped.

    Raises:
        InputError: a line is not UTF-8, not JSON or not an object.
    """
    loads = orjson.loads
    for number, line in enumerate(lines, 1):
        try:
            row = loads(line)
        except orjson.JSONDecodeError:
            if not line.strip():
                continue
            row = _read_again(line, path, number, reading)
        else:
            if b"\\u0000" in line:
                row = repaired(row, number, reading)
        if type(row) is not dict:
            if number == 1 and isinstance(row, list):
                raise InputError(f"{path}:1: a JSONL file has one object a line; this is a list: name it .json.")
            raise not_a_row(path, number, row)
        yield number, row


def json_rows(content: bytes, path: Path, listed_under: tuple[str, ...], reading: Reading) -> Iterator[tuple[int, Row]]:
    """Yield (line, row) of a JSON file that is a list of objects, or an object with such a list.

    Raises:
        InputError: it is not UTF-8, not JSON, or has no list of objects.
    """
    text = decoded_whole(content, path)
    if "\0" in text:
        reading.note_repair(text.count("\n", 0, text.index("\0")) + 1)
        text = text.replace("\0", "\ufffd")
    suspect = _SUSPECT.search(text) is not None
    scanner = _Scanner(text, path)
    start = scanner.skip(0)
    if text.startswith("{", start):
        start = _list_inside(scanner, start, listed_under)
    elif not text.startswith("[", start):
        raise InputError(f"{path}: a list of objects was wanted, or an object with the key {_either(listed_under)}.")
    line, counted = 1, 0
    for begin, value in scanner.items(start):
        line += text.count("\n", counted, begin)
        counted = begin
        row = repaired(value, line, reading) if suspect else value
        if not isinstance(row, dict):
            raise not_a_row(path, line, row)
        yield line, row


_H2O: Final = (
    " If it is a test suite of H2O: its rows are the `test_cases` of each of its `tests`. Make one list of these, with"
    " `question` for prompt, `expected_answer` for expected_output and `tags` for categories; `constraints` stay."
)


def _list_inside(scanner: "_Scanner", start: int, listed_under: tuple[str, ...]) -> int:
    """Where the list of rows begins in the object that begins at ``start``."""
    keys = []
    for key, begin in scanner.members(start):
        if key in listed_under:
            if not scanner.text.startswith("[", begin):
                raise InputError(f"{scanner.path}:{scanner.line(begin)}: `{key}` must be a list of objects.")
            return begin
        keys.append(key)
    raise InputError(
        f"{scanner.path}: the object has no key {_either(listed_under)} with the list of rows; "
        f"it has {', '.join(keys) or 'none'}.{_H2O if 'tests' in keys else ''}"
    )


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(f"`{name}`" for name in names)


class _Scanner:
    """Walks through a JSON text value by value, so that the place of each is known."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def skip(self, position: int) -> int:
        """The position of the next character that is not white space."""
        space = _SPACE.match(self.text, position)
        return space.end() if space else position

    def items(self, start: int) -> Iterator[tuple[int, object]]:
        """Yield (position, value) of the list at ``start``; the text must end where its outer value ends."""
        position = self.skip(start + 1)
        if not self.text.startswith("]", position):
            while True:
                begin = position
                value, position = self._value(begin)
                yield begin, value
                position = self.skip(position)
                if self.text.startswith("]", position):
                    break
                position = self._past(",", position)
        self._check_rest(position)

    def members(self, start: int) -> Iterator[tuple[str, int]]:
        """Yield (key, position of its value) of the object at ``start``."""
        position = self.skip(start + 1)
        while not self.text.startswith("}", position):
            key, position = self._value(position)
            if not isinstance(key, str):
                raise self._broken("a key in quotes was wanted", position)
            position = self._past(":", self.skip(position))
            yield key, position
            _, position = self._value(position)
            position = self.skip(position)
            if not self.text.startswith("}", position):
                position = self._past(",", position)

    def _check_rest(self, position: int) -> None:
        """What follows the list must be JSON too: a file cut off or glued together is not read by half."""
        lead = "[" if self.text.startswith("[", self.skip(0)) else '{"":['
        try:
            self._decoder.decode(lead + self.text[position:])
        except json.JSONDecodeError as error:
            raise self._broken(error.msg, position + max(error.pos - len(lead), 0)) from error
        except (ValueError, RecursionError) as error:
            raise self._broken(_reason(error), position) from error

    def _value(self, position: int) -> tuple[object, int]:
        try:
            return self._decoder.raw_decode(self.text, position)
        except json.JSONDecodeError as error:
            raise self._broken(error.msg, error.pos) from error
        except (ValueError, RecursionError) as error:
            raise self._broken(_reason(error), position) from error

    def _past(self, mark: str, position: int) -> int:
        if not self.text.startswith(mark, position):
            raise self._broken(f"'{mark}' was wanted", position)
        return self.skip(position + 1)

    def _broken(self, reason: str, position: int) -> InputError:
        column = position - self.text.rfind("\n", 0, position)
        return InputError(f"{self.path}:{self.line(position)}: this is not valid JSON: {reason} (column {column}).")


def _read_again(line: bytes, path: Path, number: int, reading: Reading) -> object:
    """Read a line that orjson refuses: with what can be repaired repaired, or with the reason why it can't."""
    text = decoded(line, path, number)
    try:
        value = json.loads(text.replace("\0", "\ufffd"), parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{number}: this is not valid JSON: {error.msg} (column {error.colno}).") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}:{number}: this is not valid JSON: {_reason(error)}.") from error
    if "\0" in text:
        reading.note_repair(number)
        return value
    return repaired(value, number, reading)


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}; write null")
