"""OpenAI chat fine-tuning: JSONL of ``messages``, whose last one, of the assistant, is the right answer."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import orjson

from ..questions.rows import Row
from .chat_messages import asked_last, first_expected, in_conversations
from .format import Format, Head, Notes
from .reading import records


def _detect(head: Head) -> str | None:
    if "messages" in head.keys and not head.keys & {"question", "id"}:
        return "the key messages"
    return None


def _read(path: Path, notes: Notes) -> Iterator[tuple[int, Row]]:
    for line, given in records(path):
        messages: Any = given.get("messages")
        row = {key: value for key, value in given.items() if key != "messages"}
        if not isinstance(messages, list):
            yield line, row | {"question": None}
            continue
        for name in ("tools", "functions", "parallel_tool_calls"):
            if row.pop(name, None):
                notes.lose(f"`{name}` are", "they are the bot's own", line)
        found = [each for each in messages if isinstance(each, dict)]
        has_calls = any(each.get("tool_calls") or each.get("role") == "tool" for each in found)
        if has_calls or not any(each.get("role") == "user" for each in found):
            yield line, {**row, "messages": messages}  # what is read of calls is the same for every chat
            continue
        expected = messages[-1] if messages and isinstance(messages[-1], dict) else {}
        if expected.get("role") == "assistant" and isinstance(expected.get("content"), str):
            row["expected_answer"] = expected["content"]
            messages = messages[:-1]
        yield line, row | asked_last(messages, line, notes)


def _write(rows: Iterable[Row], path: Path, notes: Notes) -> None:
    with path.open("wb") as file:
        for group in in_conversations(rows):
            before: Any = group[0].get("history") or []
            messages = list(before)
            for row in group:
                expected = first_expected(row, notes, "OpenAI chat fine-tuning") or row.get("answer")
                if expected is None:
                    notes.lose("a question without an expected answer is", "each needs the assistant's message")
                    continue
                messages += [
                    {"role": "user", "content": row["question"]},
                    {"role": "assistant", "content": expected},
                ]
            if len(messages) > len(before):
                file.write(orjson.dumps({"messages": messages}) + b"\n")


_CARRIED: Final = frozenset({"expected_answers", "answer", "conversation", "turn", "history"})
FORMAT = Format("openai-chat", "OpenAI chat fine-tuning", _detect, _read, _write, carries=_CARRIED)
