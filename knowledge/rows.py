"""Row and Reading: one record of a file as it stands there, and what is noticed while reading."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from .. import InputError
from .characters import storable_value

Row = dict[str, object]


@dataclass(slots=True)
class Reading:
    """What one reading of a file notices.

    Attributes:
        digest: is fed the bytes that are read; None when nobody wants them hashed.
        repaired: rows in which a NUL or a lone surrogate was replaced.
        first_repaired: line of the first of them.
    """

    digest: "hashlib._Hash | None" = None
    repaired: int = 0
    first_repaired: int = 0

    def note_repair(self, line: int) -> None:
        """Count a row in which a character that can't be stored was replaced."""
        self.repaired += 1
        self.first_repaired = self.first_repaired or line


def decoded(line: bytes, path: Path, number: int) -> str:
    """The line as text.

    Raises:
        InputError: it is not UTF-8; with the line and the byte.
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}:{number}: byte {error.start + 1} of the line (0x{line[error.start]:02X}) is not UTF-8. "
            "Save the file as UTF-8."
        ) from error


def decoded_whole(content: bytes, path: Path) -> str:
    """The content of a file as text.

    Raises:
        InputError: it is not UTF-8; with the line and the byte.
    """
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        begin = content.rfind(b"\n", 0, error.start) + 1
        return decoded(content[begin:].partition(b"\n")[0], path, content.count(b"\n", 0, begin) + 1)


def repaired(value: object, line: int, reading: Reading) -> object:
    """The value with what can't be stored replaced, which is noted."""
    clean = storable_value(value)
    if clean != value:
        reading.note_repair(line)
    return clean


def not_a_row(path: Path, number: int, value: object) -> InputError:
    """The error to raise for a value that stands where an object was wanted."""
    return InputError(f'{path}:{number}: an object such as {{"question": "..."}} was wanted, not {kind_of(value)}.')


def kind_of(value: object) -> str:
    """What a value is called in a message to the user, with an article."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"
