"""Parquet: our rows as typed columns, and back."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any, Final

import orjson

from ... import InputError
from ..questions.rows import Row

_CHUNK: Final = 10_000
_TEXTS: Final = ("id", "question", "source_document", "conversation", "bot", "answer", "error")
_COUNTS: Final = ("turn", "repeat", "tokens_in", "tokens_out")
_EXTRA: Final = "extra"  # one column with JSON: its keys are not the same in every row


def write_parquet(rows: Iterable[Row], path: Path) -> None:
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


def unflat(row: Row) -> Row:
    """A row that was written so, or by others: without what is missing in it."""
    made = {key: _present(value) for key, value in row.items() if value is not None}
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
