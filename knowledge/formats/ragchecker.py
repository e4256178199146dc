"""RAGChecker: inputs with queries, right answers, responses and retrieved contexts, and its results."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .chat_messages import contexts_of, first_expected
from .format import RATE, Format, Head, Metric, Notes
from .reading import records

METRICS: Final = {
    **dict.fromkeys(
        ("precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization", "faithfulness"), RATE
    ),
    **dict.fromkeys(
        ("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"), Metric("lower", 0.0, 1.0)
    ),
    "self_knowledge": Metric("neither", 0.0, 1.0),
}
_READ: Final = ("query_id", "query", "gt_answer", "response", "retrieved_context", "metrics")
_CLAIMS: Final = (
    "gt_answer_claims", "response_claims", "answer2response", "response2answer", "retrieved2response",
    "retrieved2answer",
)  # fmt: skip


def _detect(head: Head) -> str | None:
    listed = head.data.get("results")
    keys = set(listed[0]) if isinstance(listed, list) and listed and isinstance(listed[0], dict) else set(head.keys)
    return "the keys query and gt_answer" if {"query", "gt_answer"} <= keys else None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, given in records(path, "results"):
        row: Row = {"id": given.get("query_id"), "question": given.get("query")}
        row |= {"expected_answer": given.get("gt_answer"), "answer": given.get("response")}
        contexts: Any = given.get("retrieved_context")
        if contexts is not None:
            row["contexts"] = [_context(each) for each in contexts] if isinstance(contexts, list) else contexts
        metrics: Any = given.get("metrics")
        if isinstance(metrics, dict) and metrics:
            row["scores"] = metrics
        for key, value in given.items():
            if key in _CLAIMS and value:
                notes.lose(f"`{key}` are", "claims and what they entail are worked out anew", line)
            elif key not in _READ and value not in (None, "", [], {}):
                row[key] = value
        yield line, {key: value for key, value in row.items() if value is not None}


def _context(given: Any) -> object:  # noqa: ANN401 - of their JSON
    if not isinstance(given, dict):
        return given
    return {"text": given.get("text"), "document": str(given.get("doc_id") or "")}


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    with path.open("wb") as file:
        file.write(b'{"results": [')
        lead = b"\n"
        for row in rows:
            file.write(lead + orjson.dumps(_result(row, notes)))
            lead = b",\n"
        file.write(b"\n]}\n")


def _result(row: Row, notes: Notes) -> dict[str, Any]:
    made = {
        "query_id": row["id"],
        "query": row["question"],
        "gt_answer": first_expected(row, notes, "RAGChecker") or "",
        "response": row.get("answer") or "",
        "retrieved_context": [{"doc_id": name, "text": text} for text, name in contexts_of(row)],
    }
    given: Any = row.get("scores") or {}
    scores = {name: value for name, value in given.items() if name in METRICS}
    if len(scores) < len(given):
        notes.lose("`scores` of other tools are", "RAGChecker has its own metrics")
    return made | ({"metrics": scores} if scores else {})


_CARRIED: Final = frozenset({"expected_answers", "answer", "contexts", "scores"})
FORMAT = Format("ragchecker", "RAGChecker", _detect, _read, _write, (".json",), METRICS, carries=_CARRIED)
