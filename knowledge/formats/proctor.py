"""Proctor: our own files of questions and of recorded answers, as CSV, TSV, JSONL, JSON, YAML or Parquet."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import orjson

from ... import InputError
from ..questions.rows import Row, written_list
from .format import Format, Head, Notes
from .reading import records

_KEYS: Final = ("question", "turns", "messages")
_LISTS: Final = ("questions", "answers")
_COLUMNS: Final = (
    "id", "question", "expected_answers", "constraints", "tags", "source_document", "answerable", "evidence",
    "history", "conversation", "turn", "bot", "repeat", "answer", "contexts", "latency_ms", "tokens_in", "tokens_out",
    "cost", "scores",
)  # fmt: skip
_ENDINGS: Final = (".jsonl", ".csv", ".tsv", ".json", ".parquet")
_CHUNK: Final = 10_000
_TEXTS: Final = ("id", "question", "source_document", "conversation", "bot", "answer", "error")
_COUNTS: Final = ("turn", "repeat", "tokens_in", "tokens_out")
_EXTRA: Final = "extra"  # one column with JSON: its keys are not the same in every row
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
        yield line, _unflat(row)


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    kind = path.suffix.lower()
    if kind == ".parquet":
        _write_parquet(rows, path)
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
        writer.writerow([_tags(row, notes) if name == "tags" else _cell(_quoted(name, row)) for name in names])
    text.detach()


def _quoted(name: str, row: Row) -> object:
    """A value; an expected answer that is itself the text of a list stands in one, or it would be read as several."""
    value = row.get(name)
    return [value] if name == "expected_answer" and written_list(value) is not None else value


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


# ---------------------------------------------------------------- Parquet


def _write_parquet(rows: Iterable[Row], path: Path) -> None:
    """Write rows in pieces.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError("Parquet wants pyarrow, which is not installed: pip install 'proctor[frames]'.") from error
    schema, waiting = _schema(pa), iter(rows)
    with parquet.ParquetWriter(path, schema) as writer:
        while chunk := list(islice(waiting, _CHUNK)):
            writer.write_table(pa.Table.from_pylist([_flat(row, schema.names) for row in chunk], schema))


def _schema(pa: Any) -> Any:  # noqa: ANN401 - pyarrow need not be installed
    text, texts = pa.string(), pa.list_(pa.string())
    place = pa.struct([("document", text), ("quote", text), ("start", pa.int64()), ("end", pa.int64())])
    return pa.schema(
        [(name, text) for name in _TEXTS]
        + [(name, pa.int64()) for name in _COUNTS]
        + [
            ("expected_answers", texts),
            ("constraints", pa.list_(texts)),
            ("tags", texts),
            ("answerable", pa.bool_()),
            ("evidence", pa.list_(pa.list_(place))),
            ("history", pa.list_(pa.struct([("role", text), ("content", text)]))),
            ("contexts", pa.list_(pa.struct([("text", text), ("document", text)]))),
            ("latency_ms", pa.float64()),
            ("cost", pa.float64()),
            ("scores", pa.map_(text, pa.float64())),
            (_EXTRA, text),
        ]
    )


def _flat(row: Row, names: list[str]) -> Row:
    made = {name: row[name] for name in names if name in row and name != _EXTRA}
    constraints: Any = row.get("constraints") or []
    contexts: Any = row.get("contexts")
    scores: Any = row.get("scores") or {}
    made["constraints"] = [each if isinstance(each, list) else [each] for each in constraints] or None
    made["contexts"] = contexts and [each if isinstance(each, dict) else {"text": each} for each in contexts]
    if contexts == []:
        made["contexts"] = []
    made["scores"] = list(scores.items()) or None
    extra = {name: value for name, value in row.items() if name not in names or name == _EXTRA}
    made[_EXTRA] = orjson.dumps(extra).decode() if extra else None
    return made


def _unflat(row: Row) -> Row:
    """A row that was written so, or by others: without what is missing in it."""
    made = {key: _present(value) for key, value in row.items() if value is not None}
    if "question" in row and not made.keys() & {"question", "turns", "messages", "simulate"}:
        made["question"] = None  # so that it is not said to be no column
    if isinstance(constraints := made.get("constraints"), list):
        made["constraints"] = [each[0] if isinstance(each, list) and len(each) == 1 else each for each in constraints]
    if isinstance(scores := made.get("scores"), list):
        made["scores"] = dict(scores)
    extra = made.get(_EXTRA)
    if isinstance(extra, str) and extra.startswith("{"):
        del made[_EXTRA]
        made |= orjson.loads(extra)
    return made


def _present(value: Any) -> Any:  # noqa: ANN401 - of a column
    if isinstance(value, list):
        return [_present(each) for each in value]
    if isinstance(value, dict):
        return {key: _present(each) for key, each in value.items() if each is not None}
    return value


FORMAT = Format("proctor", "Proctor", _detect, _read, _write, _ENDINGS, has_bots=True)
