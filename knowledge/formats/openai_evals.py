"""OpenAI evals: samples as JSONL, each with ``input`` messages and an ``ideal`` answer or several."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .chat_messages import asked_last, in_conversations, messages_of
from .format import Format, Head, Notes
from .reading import records


def _detect(head: Head) -> str | None:
    if {"input", "ideal"} <= head.keys:
        return "the keys input and ideal"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, given in records(path, "samples"):
        row = {key: value for key, value in given.items() if key not in ("input", "ideal")}
        ideal = given.get("ideal")
        row |= {"expected_answers": ideal} if isinstance(ideal, list) else {"expected_answer": ideal}
        asked = given.get("input")
        yield line, row | (asked_last(asked, line, notes) if isinstance(asked, list) else {"question": asked})


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    with path.open("wb") as file:
        for group in in_conversations(rows):
            for number, row in enumerate(group, 1):
                expected: Any = row.get("expected_answers")
                if not expected:
                    notes.lose("a question without an expected answer is", "every sample has an `ideal`")
                    continue
                messages = [{key: each[key] for key in ("role", "content")} for each in messages_of(group[:number])]
                if messages[-1]["role"] == "assistant":
                    messages.pop()
                file.write(orjson.dumps({"input": messages, "ideal": expected}) + b"\n")


_CARRIED: Final = frozenset({"expected_answers", "conversation", "turn", "history"})
FORMAT = Format("openai-evals", "OpenAI evals", _detect, _read, _write, carries=_CARRIED)
