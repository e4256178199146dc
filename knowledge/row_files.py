"""Rows of a CSV, TSV, JSONL, JSON or YAML file, streamed with the lines on which they start; or rows in memory."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import IO, Final, Protocol, cast

from .. import InputError
from .json_rows import json_line_rows, json_rows
from .paths import existing, unreadable
from .rows import Reading, Row, not_a_row, repaired
from .table_rows import table_rows

_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
}
_BLOCK = 1 << 20  # bytes read from the disk at a time
_MOST_HELD = 256 << 20  # bytes of a line, or of a file that is read as a whole: gzip packs a thousandfold
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_FOREIGN_STARTS = {
    b"\xff\xfe": "is written in UTF-16; save it as UTF-8",
    b"\xfe\xff": "is written in UTF-16; save it as UTF-8",
    b"\x1f\x8b": "is compressed with gzip; end its name in .gz",
    b"PK\x03\x04": "is a zip archive or an Excel workbook; save the sheet as CSV in UTF-8",
}


LISTED: Final = "list"  # the kind of rows that are in memory
FORMATS: Final = "proctor.formats"  # entry points: by a file's ending a function from its path to its rows


class RowSource(Protocol):
    """Where rows come from: a file, or a list in memory."""

    @property
    def path(self) -> Path:
        """What messages call it."""
        ...

    @property
    def kind(self) -> str:
        """How it is written."""
        ...

    @property
    def tabular(self) -> bool:
        """Whether every value is a text."""
        ...

    def rows(self, reading: Reading) -> Iterator[tuple[int, Row]]:
        """Yield (line, row), from the first each time."""
        ...


@dataclass(frozen=True, slots=True)
class RowList:
    """Rows that are in memory; a row's place in the list, from 1, stands for its line.

    Attributes:
        path: what messages call the list.
        records: the rows.
    """

    path: Path
    records: Sequence[Row]
    kind: str = LISTED
    tabular: bool = False

    def rows(self, reading: Reading) -> Iterator[tuple[int, Row]]:
        """Yield (place, row); what can't be stored is replaced, as it is in a file."""
        for place, record in enumerate(self.records, 1):
            if reading.digest is not None:
                written = json.dumps(record, sort_keys=True, default=str)
                reading.digest.update(f"{written}\n".encode("utf-8", "surrogatepass"))
            yield place, cast("Row", repaired(record, place, reading))


@dataclass(slots=True)
class RowFile:
    """A file of rows that can be read again and again without being held in memory (YAML is held).

    Attributes:
        path: the file as the user named it.
        kind: ``csv``, ``tsv``, ``jsonl``, ``json`` or ``yaml``.
        listed_under: keys under which a JSON or YAML object may keep its list of rows.
    """

    path: Path
    kind: str
    listed_under: tuple[str, ...]
    _stamp: tuple[int, int]
    _held: list[tuple[int, Row]] | None = field(default=None, repr=False)

    @property
    def tabular(self) -> bool:
        """Whether every value is a text, as in CSV, so that lists are written with separators."""
        return self.kind in ("csv", "tsv")

    def rows(self, reading: Reading) -> Iterator[tuple[int, Row]]:
        """Yield (line, row), lines from 1.

        Raises:
            InputError: the file can't be read or isn't what its name says, with the line; or it has changed
                since it was opened.
        """
        try:
            if _stamp(self.path) != self._stamp:
                raise InputError(f"{self.path} was changed while it was in use; start again.")
            if self.kind not in _KINDS.values():
                yield from self._foreign(reading)
                return
            with _opened(self.path) as stream:
                yield from self._rows(_lines(stream, self.path, reading.digest), reading)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{self.path} is damaged: {error}. Compress it again.") from error
        except OSError as error:
            raise unreadable(self.path, error) from error

    def _rows(self, lines: Iterable[bytes], reading: Reading) -> Iterator[tuple[int, Row]]:
        match self.kind:
            case "jsonl":
                return json_line_rows(lines, self.path, reading)
            case "json":
                return json_rows(self._joined(lines), self.path, self.listed_under, reading)
            case "yaml":
                return iter(self._yaml(self._joined(lines), reading))
            case kind:
                return table_rows(lines, self.path, "\t" if kind == "tsv" else None, reading)

    def _joined(self, lines: Iterable[bytes]) -> bytes:
        """All lines, of a kind that has to be held as a whole."""
        held, size = [], 0
        for line in lines:
            held.append(line)
            size += len(line)
            if size > _MOST_HELD:
                raise InputError(f"{self.path} is larger than {_MOST_HELD >> 20} MB, unpacked; write it as JSONL.")
        return b"".join(held)

    def _foreign(self, reading: Reading) -> Iterator[tuple[int, Row]]:
        """Rows that a function of some other package reads; a row's number stands for its line."""
        if reading.digest is not None:
            with self.path.open("rb") as stream:
                while block := stream.read(_BLOCK):
                    reading.digest.update(block)
        entry = installed_format(self.kind)
        try:
            found = [] if entry is None else entry.load()(self.path)
            rows = list(found)
        except Exception as error:  # the code of others may raise anything
            said = f"its format {self.kind} ({FORMATS}) raised {type(error).__name__}: {error}"
            raise InputError(f"{self.path} can't be read: {said}") from error
        for number, row in enumerate(rows, 1):
            if not isinstance(row, dict):
                raise not_a_row(self.path, number, row)
            yield number, cast("Row", repaired(row, number, reading))

    def _yaml(self, content: bytes, reading: Reading) -> list[tuple[int, Row]]:
        from .yaml_rows import yaml_rows

        if self._held is None:  # YAML takes 0.4 ms a row to parse, so it is not parsed for each reading
            self._held = yaml_rows(content, self.path, self.listed_under, reading)
        return self._held


def open_rows(path: Path, wanted: str, listed_under: tuple[str, ...]) -> RowFile:
    """Look at a file and say how its rows are read; ``wanted`` names the thing for messages.

    Raises:
        InputError: it is missing, a folder, not readable, empty, or of no known kind.
    """
    existing(path, wanted)
    if path.is_dir():
        raise InputError(f"{path} is a folder; {wanted} was wanted.{_candidates(path)}")
    if not path.is_file():
        raise InputError(f"{path} is not a plain file. It is read more than once, so save it to a file first.")
    kind = _kind(path)
    _check_start(path, is_ours=kind in _KINDS.values())
    return RowFile(path, kind, listed_under, _stamp(path))


def installed_format(ending: str) -> EntryPoint | None:
    """Where a package says that files of an ending are read; None where none does. Nothing is imported."""
    return next(iter(entry_points(group=FORMATS, name=ending)), None) if ending else None


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _KINDS:
        return _KINDS[suffix]
    if installed_format(suffix.removeprefix(".")) is not None:
        return suffix.removeprefix(".")
    advice = "Save the sheet as CSV in UTF-8. " if suffix in (".xlsx", ".xls", ".ods") else ""
    ending = f"a name ending in {suffix}" if suffix else "a name without an ending"
    raise InputError(
        f"{path} has {ending}. {advice}Known are .csv, .tsv, .jsonl, .json, .yaml, and each of them with .gz."
    )


def _candidates(folder: Path) -> str:
    try:
        names = sorted(entry.name for entry in folder.iterdir() if _KINDS.get(entry.suffix.lower()))
    except OSError:
        return ""
    return f" In it there is: {', '.join(names)[:200]}." if names else ""


def _check_start(path: Path, *, is_ours: bool) -> None:
    try:
        with path.open("rb") as raw:
            start = raw.read(4)
    except OSError as error:
        raise unreadable(path, error) from error
    if not start:
        raise InputError(f"{path} is empty.")
    for mark, sentence in _FOREIGN_STARTS.items() if is_ours else ():
        if start.startswith(mark) and not (mark == b"\x1f\x8b" and path.suffix.lower() == ".gz"):
            raise InputError(f"{path} {sentence}.")


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _opened(path: Path) -> IO[bytes]:
    if path.suffix.lower() == ".gz":
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb", buffering=_BLOCK)


def _lines(stream: IO[bytes], path: Path, digest: "hashlib._Hash | None") -> Iterator[bytes]:
    for number, line in enumerate(iter(lambda: stream.readline(_MOST_HELD + 1), b""), 1):
        if len(line) > _MOST_HELD:
            raise InputError(f"{path}:{number}: this line is longer than {_MOST_HELD >> 20} MB.")
        if number == 1:
            if line.startswith((b"\xff\xfe", b"\xfe\xff")):  # seen here only in a compressed file
                raise InputError(f"{path} {_FOREIGN_STARTS[line[:2]]}.")
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if digest is not None:
            digest.update(line)
        yield line
