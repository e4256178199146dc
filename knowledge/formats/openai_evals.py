"""OpenAI evals: samples as JSONL, each with ``input`` messages and an ``ideal`` answer or several."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .conversing import in_conversations, messages_of
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


def asked_last(messages: list[Any], line: int, notes: Notes) -> Row:
    """The question that the last message of the user is, and the messages before it."""
    spoken = []
    for each in messages:
        message = each if isinstance(each, dict) else {}
        if message.get("role") in ("system", "developer", "tool", "function"):
            notes.lose(f"a message of the role {message['role']} is", "instructions and tools are the bot's own", line)
        else:
            spoken.append({"role": message.get("role"), "content": _text(message.get("content"))})
    last = max((place for place, each in enumerate(spoken) if each["role"] == "user"), default=-1)
    if last < 0:
        return {"question": None}
    before = {"history": spoken[:last]} if last else {}
    return {"question": spoken[last]["content"], **before}


def _text(content: object) -> object:
    """The text of a message whose content is a list of parts."""
    if not isinstance(content, list):
        return content
    return "\n".join(str(each.get("text") or "") for each in content if isinstance(each, dict) and each.get("text"))


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
                for name in ("answer", "constraints", "evidence", "contexts", "scores"):
                    if row.get(name):
                        notes.lose(f"`{name}` are", "a sample has `input` and `ideal`")


_CARRIED: Final = frozenset({"expected_answers", "answer", "contexts", "constraints", "evidence"})
FORMAT = Format("openai-evals", "OpenAI evals", _detect, _read, _write, carries=_CARRIED)
