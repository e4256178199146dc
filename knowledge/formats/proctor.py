"""Proctor: our own files of questions and of recorded answers, as CSV, TSV, JSONL, JSON, YAML or Parquet."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .format import Format, Head, Notes
from .parquet import unflat, write_parquet
from .reading import records

_KEYS: Final = ("question", "turns", "messages")
_LISTS: Final = ("questions", "answers")
_COLUMNS: Final = (
    "id", "question", "expected_answers", "constraints", "tags", "source_document", "answerable", "evidence",
    "history", "conversation", "turn", "bot", "repeat", "answer", "contexts", "latency_ms", "tokens_in", "tokens_out",
    "cost", "scores",
)  # fmt: skip
_ENDINGS: Final = (".jsonl", ".csv", ".tsv", ".json", ".parquet")
_SAMPLE: Final = 1000  # rows that tell which further columns a table has


def _detect(head: Head) -> str | None:
    keys = {key.strip().lower() for key in head.keys}
    found = next((key for key in _KEYS if key in keys), None)
    if found:
        return f"the {'column' if head.kind in ('csv', 'tsv') else 'key'} {found}"
    listed = next((key for key in _LISTS if key in head.data), None)
    return f"the list under {listed}" if listed else None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:  # noqa: ARG001 - all of it is ours
    for line, row in records(path, *_LISTS):
        yield line, unflat(row)


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    kind = path.suffix.lower()
    if kind == ".parquet":
        write_parquet(rows, path)
        return
    with path.open("wb") as file:
        if kind in (".csv", ".tsv"):
            _write_table(rows, file, "\t" if kind == ".tsv" else ",", notes)
        elif kind == ".json":
            file.write(b"[")
            for number, row in enumerate(rows):
                file.write((b",\n" if number else b"\n") + orjson.dumps(row))
            file.write(b"\n]\n")
        else:
            file.writelines(orjson.dumps(row) + b"\n" for row in rows)


def _write_table(rows: Iterable[Row], file: Any, delimiter: str, notes: Notes) -> None:  # noqa: ANN401 - binary
    waiting = iter(rows)
    first = list(islice(waiting, _SAMPLE))
    there = dict.fromkeys(key for row in first for key in row)
    names = [*(key for key in _COLUMNS if key in there), *(key for key in there if key not in _COLUMNS)]
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    for row in chain(first, waiting):
        for key in row.keys() - there.keys():
            notes.lose(f"`{key}` is", f"the first {_SAMPLE:,} rows have no such column; write .jsonl")
        if "answer" in there and "answer" not in row:
            notes.lose("that an answer is missing is", "an empty cell is an empty answer; write .jsonl")
        writer.writerow([_tags(row, notes) if name == "tags" else _cell(row.get(name)) for name in names])
    text.detach()


def _tags(row: Row, notes: Notes) -> str:
    """Tags with | between them; one that stands after the last keeps commas from being read as separators."""
    tags: Any = row.get("tags") or []
    if any("|" in tag for tag in tags):
        notes.lose("the bounds of a tag with | in it are", "a table separates tags by it; write .jsonl")
    joined = "|".join(tags)
    return f"{joined}|" if "," in joined and "|" not in joined else joined


def _cell(value: object) -> object:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool | dict | list | tuple):
        return orjson.dumps(value).decode()
    return value


FORMAT = Format("proctor", "Proctor", _detect, _read, _write, _ENDINGS, has_bots=True)
