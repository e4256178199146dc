"""LangSmith: examples of data sets as JSON, JSONL or CSV, and tables of experiments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..questions.rows import Row
from .chat_messages import asked_in, contexts_in, said_in
from .format import Format, Head, Metric, Notes
from .reading import records

_OF_LANGSMITH: Final = (
    "dataset_id", "source_run_id", "created_at", "modified_at", "attachments", "attachment_urls", "execution_time",
    "example_id", "split",
)  # fmt: skip
_PREFIXES: Final = ("inputs", "outputs", "reference", "feedback", "metadata")


def _detect(head: Head) -> str | None:
    keys = head.keys
    if {"inputs", "outputs"} <= keys:
        return "the keys inputs and outputs"
    found = next((key for key in sorted(keys) if key.startswith("inputs.")), None)
    if found and any(key.startswith(("outputs.", "reference.")) for key in keys):
        return f"the columns {found} and outputs or reference"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, flat in records(path, "examples"):
        given = _nested(flat)
        is_experiment = "reference" in given or "feedback" in given
        row = asked_in(given.get("inputs"), line, notes)
        expected = said_in(given.get("reference") if is_experiment else given.get("outputs"))
        row |= {"expected_answers": expected} if isinstance(expected, list) else {"expected_answer": expected}
        if is_experiment:
            row |= _answered(given, line, notes)
        if key := given.get("example_id") or given.get("id"):
            row["id"] = str(key)
        metadata: Any = given.get("metadata")
        if isinstance(metadata, dict):
            splits = metadata.get("dataset_split")
            row |= {"tags": splits} if splits else {}
            row |= {key: value for key, value in metadata.items() if key not in ("dataset_split", *row)}
        _note_losses(given, line, notes)
        yield line, {key: value for key, value in row.items() if key == "question" or value is not None}


def _answered(given: dict[str, Any], line: int, notes: Notes) -> Row:
    row: Row = {"answer": said_in(given.get("outputs")), "contexts": contexts_in(given.get("outputs"))}
    seconds = given.get("execution_time")
    if seconds not in (None, ""):
        row["latency_ms"] = float(str(seconds)) * 1000
    scores: dict[str, float | None] = {}
    for name, value in (given.get("feedback") or {}).items():
        scores[name] = _score(value)
        if scores[name] is None and value not in (None, ""):
            notes.lose(f"the score {name} is", "its value is no number", line)
    return row | ({"scores": scores} if scores else {})


def _score(value: object) -> float | None:
    if isinstance(value, bool | int | float):
        return float(value)
    text = str(value or "").strip().lower()
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text)
    except ValueError:
        return None


def _note_losses(given: dict[str, Any], line: int, notes: Notes) -> None:
    for name in _OF_LANGSMITH:
        if given.get(name) and name not in ("execution_time", "example_id"):
            notes.lose(f"`{name}` is", "it is LangSmith's own", line)
    if given.get("error"):
        notes.lose("an `error` is", "its row has no answer", line)


def _nested(flat: Row) -> dict[str, Any]:
    """Columns such as ``inputs.question`` as objects."""
    found: dict[str, Any] = {}
    for key, value in flat.items():
        lead, dot, rest = key.partition(".")
        if dot and lead in _PREFIXES:
            found.setdefault(lead, {})[rest] = value
        else:
            found[key] = value
    return found


FORMAT = Format("langsmith", "LangSmith", _detect, _read, metrics={"correctness": Metric("higher", 0.0, 1.0)})
