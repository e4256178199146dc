"""Entries of the FAQ bot, read from a CSV, JSONL, JSON or YAML file."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from .. import InputError
from ..knowledge.row_files import open_rows
from ..knowledge.rows import Reading, Row, kind_of
from .faq import FaqEntry

_QUESTION = ("question",)
_ANSWER = ("answer", "expected_answer")
_LISTED_UNDER = ("entries", "faq", "questions")
_SHOWN = 3  # duplicates that a warning names


@dataclass(frozen=True, slots=True)
class FaqFile:
    """The entries of a file in their order, and sentences about what looks wrong in it."""

    entries: tuple[FaqEntry, ...]
    warnings: tuple[str, ...]


def read_faq(path: Path) -> FaqFile:
    """Read a FAQ file: columns or keys ``question`` and ``answer``; others are ignored.

    Raises:
        InputError: the file can't be read, holds no entry, or an entry lacks its question or answer; with the line.
    """
    reading = Reading()
    entries: list[FaqEntry] = []
    first_lines: dict[str, int] = {}
    repeats: list[tuple[int, int]] = []
    for line, row in open_rows(path, "a FAQ file with questions and answers", _LISTED_UNDER).rows(reading):
        entry = FaqEntry(_text(row, _QUESTION, path, line), _text(row, _ANSWER, path, line))
        first = first_lines.setdefault(" ".join(entry.question.lower().split()), line)
        if first != line:
            repeats.append((line, first))
        entries.append(entry)
    if not entries:
        raise InputError(f"{path} holds no entry; a FAQ bot needs at least one question with its answer.")
    return FaqFile(tuple(entries), (*_repeated(repeats, path), *_repaired(reading, path)))


def _text(row: Row, names: tuple[str, ...], path: Path, line: int) -> str:
    """The text under the first of the names that the row has, whatever their case."""
    keys = {key.strip().lower(): key for key in row}
    key = next((keys[name] for name in names if name in keys), None)
    if key is None:
        near = difflib.get_close_matches(names[0], keys, n=1, cutoff=0.6)
        hint = f"is `{keys[near[0]]}` meant? Rename it" if near else f"it has {', '.join(row) or 'nothing'}"
        raise InputError(f"{path}:{line}: there is no `{names[0]}`; {hint}.")
    value = row[key]
    if not isinstance(value, str):
        raise InputError(f"{path}:{line}: `{key}` must be a text, not {kind_of(value)}.")
    if not value.strip():
        raise InputError(f"{path}:{line}: `{key}` is blank.")
    return value.strip()


def _repeated(repeats: list[tuple[int, int]], path: Path) -> tuple[str, ...]:
    if not repeats:
        return ()
    shown = ", ".join(f"line {line} (first on line {first})" for line, first in repeats[:_SHOWN])
    more = f" and {len(repeats) - _SHOWN} more" if len(repeats) > _SHOWN else ""
    return (f"{path}: questions that stand there already are never answered from: {shown}{more}.",)


def _repaired(reading: Reading, path: Path) -> tuple[str, ...]:
    if not reading.repaired:
        return ()
    return (
        f"{path}:{reading.first_repaired}: characters that can't be stored were replaced "
        f"(in {reading.repaired} entries).",
    )
