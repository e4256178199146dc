"""MTRAG: tasks of conversations with passages, as JSONL, with targets and predictions."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ..questions.rows import Row
from .chat_messages import listed
from .format import Format, Head, Notes
from .reading import records

_LABELS: Final = ("Answerability", "Question Type", "Multi-Turn", "answerability", "question_type", "multi_turn")
_READ: Final = frozenset({
    "task_id", "conversation_id", "turn", "turn_id", "input", "targets", "predictions", "contexts", "Collection",
    "collection", "task_type", "dataset", *_LABELS,
})  # fmt: skip
_SPEAKERS: Final = {"user": "user", "agent": "assistant"}


def _detect(head: Head) -> str | None:
    keys = head.keys
    if {"task_id", "input", "targets"} <= keys or {"conversation_id", "input", "targets"} <= keys:
        return "the keys input and targets, with a task or conversation id"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, given in records(path):
        spoken = [_message(each) for each in listed(given.get("input"))]
        row: Row = {"id": given.get("task_id"), "question": spoken[-1]["content"] if spoken else None}
        if spoken[:-1]:
            row["history"] = spoken[:-1]
        targets = [each["text"] for each in listed(given.get("targets")) if isinstance(each, dict) and each.get("text")]
        if targets:
            row["expected_answers"] = targets
        places = [_place(each) for each in listed(given.get("contexts")) if isinstance(each, dict)]
        if places:
            row["evidence"] = [[each for each in places if each["document"]]]
        label = [str(each).upper() for name in ("Answerability", "answerability") for each in listed(given.get(name))]
        if label:
            row["answerable"] = not any("UNANSWERABLE" in each for each in label)
        tags = [str(each) for name in _LABELS for each in listed(given.get(name))]
        row |= {"tags": tags} if tags else {}
        if group := given.get("conversation_id"):
            row["source_document"] = str(group)  # turns of one conversation are alike
        predictions = [each.get("text") for each in listed(given.get("predictions")) if isinstance(each, dict)]
        row |= {"answer": predictions[0]} if predictions else {}
        if len(predictions) > 1:
            notes.lose("predictions after the first are", "a row has one answer", line)
        rest = {key: value for key, value in given.items() if key not in _READ and value not in (None, "", [], {})}
        yield line, row | rest


def _message(given: Any) -> dict[str, Any]:  # noqa: ANN401 - of their JSON
    message = given if isinstance(given, dict) else {"speaker": "user", "text": given}
    return {"role": _SPEAKERS.get(str(message.get("speaker")), message.get("speaker")), "content": message.get("text")}


def _place(given: dict[str, Any]) -> dict[str, str]:
    return {"document": str(given.get("document_id") or ""), "quote": str(given.get("text") or "")}


FORMAT = Format("mtrag", "MTRAG", _detect, _read)
