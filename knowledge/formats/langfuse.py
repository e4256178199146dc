"""Langfuse: items of data sets as JSON, JSONL or CSV, and traces with outputs and scores."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .chat_messages import asked_in, contexts_in, said_in
from .format import Format, Head, Notes
from .reading import records

_OF_LANGFUSE: Final = ("datasetId", "datasetName", "sourceTraceId", "sourceObservationId", "traceId", "projectId")
_QUIET: Final = ("createdAt", "updatedAt", "timestamp", "htmlPath", "bookmarked", "public", "environment", "status")
_READ: Final = frozenset({
    "id", "input", "output", "expectedOutput", "expected_output", "metadata", "scores", "latency", "totalCost", "tags",
    "name", *_OF_LANGFUSE, *_QUIET,
})  # fmt: skip


def _detect(head: Head) -> str | None:
    keys = head.keys
    if "input" in keys and "expectedOutput" in keys:
        return f"the {'columns' if head.kind == 'csv' else 'keys'} input and expectedOutput"
    if "input" in keys and (found := sorted(keys & {"sourceTraceId", "datasetId", "htmlPath", "projectId"})):
        return f"input and {found[0]}"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, cells in records(path, "data", "items"):
        given: dict[str, Any] = {key: _cell(key, value) for key, value in cells.items()}
        if str(given.get("status", "")).upper() == "ARCHIVED":
            notes.lose("an archived item is", "Langfuse asks it no longer", line)
            continue
        row = asked_in(given.get("input"), line, notes)
        expected = said_in(given.get("expectedOutput", given.get("expected_output")))
        row |= {"expected_answers": expected} if isinstance(expected, list) else {"expected_answer": expected}
        row |= {"id": given.get("id"), "tags": given.get("tags"), "answer": said_in(given.get("output"))}
        row |= {"contexts": contexts_in(given.get("output")), "cost": given.get("totalCost") or None}
        if isinstance(given.get("latency"), int | float):
            row["latency_ms"] = given["latency"] * 1000
        row |= _scores(given.get("scores"), line, notes)
        for name in _OF_LANGFUSE:
            if given.get(name):
                notes.lose(f"`{name}` is", "it is Langfuse's own", line)
        extra = {key: value for key, value in given.items() if key not in _READ and key not in row}
        metadata = given.get("metadata")
        extra |= {"metadata": metadata} if metadata not in (None, "", {}) else {}
        yield line, {key: value for key, value in (row | extra).items() if key == "question" or value is not None}


def _scores(given: object, line: int, notes: Notes) -> Row:
    found: dict[str, object] = {}
    for each in given if isinstance(given, list) else ():
        if not isinstance(each, dict):
            notes.lose("a score that is only a reference is", "its value is not in the file", line)
        elif isinstance(each.get("value"), bool | int | float):
            found[str(each.get("name"))] = {"value": each["value"], "reason": each.get("comment") or ""}
        else:
            notes.lose(f"the score {each.get('name')} is", "its value is no number", line)
    return {"scores": found} if found else {}


def _cell(key: str, value: object) -> object:
    """The value of a cell: objects are JSON there, and texts are too, in quotes."""
    if not isinstance(value, str) or key not in ("input", "output", "expectedOutput", "metadata", "scores", "tags"):
        return value
    try:
        return orjson.loads(value) if value[:1] in ('"', "{", "[") else value or None
    except orjson.JSONDecodeError:
        return value


FORMAT = Format("langfuse", "Langfuse", _detect, _read)
