"""Conversations of other tools: their messages as turns, and turns as messages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..questions.rows import Row
from .format import Notes

_USER, _BOT = ("user", "human"), ("assistant", "ai", "bot", "agent", "model", "chatbot")
_TOOL = ("tool", "function")


def turns_of(messages: Sequence[Mapping[str, Any]], line: int, notes: Notes) -> list[dict[str, Any]]:
    """The turns of messages with ``role`` and ``content``, each with ``ask`` and, where the bot spoke, ``answer``.

    What tools said goes with their calls. Several messages of the bot in a row are one answer. Other keys of a bot's
    message (contexts, tool_calls) go with its turn. What has no place in a turn is noted.
    """
    turns: list[dict[str, Any]] = []
    for message in messages:
        role, content = str(message.get("role", "")).lower(), message.get("content")
        if role in _USER and isinstance(content, str) and content.strip():
            turns.append({"ask": content})
        elif role in _BOT:
            _answer(turns, message, line, notes)
        elif role in _TOOL and turns and turns[-1].get("tool_calls"):
            _add_result(turns[-1]["tool_calls"], message)
        else:
            notes.lose(f"a message of the role {role or 'none'} is", "a turn has a user and a bot", line)
    return turns


def _add_result(calls: list[Any], message: Mapping[str, Any]) -> None:
    """Give what a tool said to the call that asked for it: the one of its id, or the first without a result."""
    given = message.get("tool_call_id")
    named = [call for call in calls if isinstance(call, dict) and given and call.get("id") == given]
    waiting = [call for call in calls if isinstance(call, dict) and "result" not in call]
    if found := named or waiting:
        found[0]["result"] = message.get("content")


def _answer(turns: list[dict[str, Any]], message: Mapping[str, Any], line: int, notes: Notes) -> None:
    if not turns:
        notes.lose("what the bot says before the first question is", "a turn begins with the user", line)
        return
    turn, said = turns[-1], message.get("content")
    rest = {key: value for key, value in message.items() if key not in ("role", "content") and value}
    if isinstance(said, str) and (said or not rest):
        turn["answer"] = f"{turn['answer']}\n\n{said}" if turn.get("answer") else said
    for key, value in rest.items():
        turn[key] = [*turn.get(key, []), *value] if isinstance(value, list) else value


def conversation_row(turns: list[dict[str, Any]], row: Row) -> Row:
    """A row of turns; what holds for the whole conversation stands with its last turn."""
    of_last = ("expected_answer", "scores", "expected_tools")
    turns[-1] |= {key: row[key] for key in of_last if row.get(key) not in (None, {}, [])}
    return {"turns": turns} | {key: value for key, value in row.items() if key not in of_last}


def in_conversations(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each conversation and bot together; a question by itself is alone."""
    for key, group in groupby(rows, lambda row: (row.get("conversation"), row.get("bot"), row.get("repeat"))):
        if key[0]:
            yield list(group)
        else:
            yield from ([row] for row in group)


def messages_of(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The messages of a conversation: ``role`` and ``content``, and the row of each question under ``row``."""
    messages: list[dict[str, Any]] = [dict(each) for each in _history(rows[0])]
    for row in rows:
        messages.append({"role": "user", "content": row["question"]})
        if row.get("answer") is not None:
            messages.append({"role": "assistant", "content": row["answer"], "row": row})
    return messages


def _history(row: Row) -> list[Mapping[str, Any]]:
    found = row.get("history")
    return found if isinstance(found, list) else []
