"""Reading the body of a chat-completions answer: text, reasoning trace, refusal and tokens."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import MOST_USED, BotRefused
from .retrying import AttemptFailed

_THINKING = re.compile(r"<think>(.*?)</think>\s*", re.DOTALL)
_KEPT = ("model", "system_fingerprint", "service_tier")


class NoAnswer(Exception):  # noqa: N818 - an outcome, named as one
    """A reply came in which there is no answer; asking again would be paid for again."""


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What an endpoint said. ``trace`` has the served model and the finish reason, where they are given."""

    text: str | None
    reasoning: str | None
    refused: bool
    tokens_in: int | None
    tokens_out: int | None
    trace: Mapping[str, object]


def read_reply(body: object) -> ChatReply:
    """Read a body as it came from JSON; one that is no chat completion counts as a failed attempt.

    Raises:
        AttemptFailed: an error told with status 200, no choices, or something else altogether.
        NoAnswer: its content is no text, and neither a refusal nor calls of tools explain that.
        BotRefused: the content filter cut the answer off before it began.
    """
    whole, choice = first_choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise AttemptFailed("an answer without choices")
    finish = choice.get("finish_reason")
    said = plain_text(message.get("content"))
    refusal = plain_text(message.get("refusal"))
    if finish == "content_filter" and not said:
        raise BotRefused("The endpoint's content filter held the answer back.")
    called = _called_tools(message)
    if said is None and refusal is None and not called:
        raise NoAnswer(_not_an_answer(message, finish))
    text, thought = split_thinking(said) if said is not None else (refusal, None)
    told = plain_text(message.get("reasoning_content")) or plain_text(message.get("reasoning"))
    usage = whole.get("usage")
    trace = {name: whole[name] for name in _KEPT if whole.get(name)}
    return ChatReply(
        text=text,
        reasoning="\n".join(part for part in (told, thought) if part) or None,
        refused=bool(refusal),
        tokens_in=counted(usage, "prompt_tokens"),
        tokens_out=counted(usage, "completion_tokens"),
        trace=trace | ({"finish_reason": finish} if finish else {}) | ({"tool_calls": called} if called else {}),
    )


def _called_tools(message: Mapping[str, object]) -> list[object]:
    """The tools that the model called, as it told them."""
    called = message.get("tool_calls")
    if isinstance(called, list) and called:
        return called
    return [message["function_call"]] if message.get("function_call") else []  # the older form


def _not_an_answer(message: Mapping[str, object], finish: object) -> str:
    content = message.get("content")
    what = "null" if content is None else f"{_shortened(content)} ({type(content).__name__})"
    why = {
        "length": " It used up its tokens before it came to an answer: raise max_tokens.",
        None: "",
    }.get(finish if isinstance(finish, str) else None, f" It ended with {_shortened(finish)!r}.")
    return f"The endpoint's reply has {what} where the text of the answer belongs.{why}"


def first_choice(body: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """A body as it came from JSON, and the first of its choices.

    Raises:
        AttemptFailed: an error told with status 200, no choices, or something else altogether.
    """
    if not isinstance(body, dict):
        raise AttemptFailed(f"an answer that is no JSON object ({_shortened(body)})")
    if body.get("error"):
        raise _told_error(body["error"])
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise AttemptFailed("an answer without choices")
    return body, choice


def split_thinking(text: str) -> tuple[str, str | None]:
    """Take ``<think>`` blocks out of a text.

    A block that was never closed is thought to its end; text before a lone ``</think>`` is thought as well,
    because some chat templates write the opening mark into the prompt.

    Returns:
        The answer alone, and the thoughts or None.
    """
    if "</think>" in text and "<think>" not in text.partition("</think>")[0]:
        text = "<think>" + text
    thoughts = [found[1] for found in _THINKING.finditer(text)]
    answer = _THINKING.sub("", text)
    if answer.lstrip().startswith("<think>"):
        thoughts.append(answer.lstrip().removeprefix("<think>"))
        answer = ""
    if not thoughts:
        return text, None
    return answer.strip(), "\n".join(thought.strip() for thought in thoughts).strip() or None


def _told_error(error: object) -> AttemptFailed:
    """An error that came with status 200, as some gateways send it."""
    code = error.get("code") if isinstance(error, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    what = f"an error in place of an answer ({_shortened(message)})"
    return AttemptFailed(what, throttled=code in (429, "429"))


def plain_text(content: object) -> str | None:
    """The text of a message's content, which is a text, or a list of typed parts of which some have one."""
    if isinstance(content, list):
        found = [part.get("text") for part in content if isinstance(part, dict)]
        parts = [part for part in found if isinstance(part, str)]
        return "".join(parts) if parts else None
    return content if isinstance(content, str) else None


def counted(usage: object, name: str) -> int | None:
    """A number of tokens of an answer's usage, where it is told and can be true."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_USED else None


def _shortened(found: object) -> str:
    written = " ".join(str(found).split())
    return written if len(written) <= 200 else written[:199] + "…"
