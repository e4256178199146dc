"""Reading the body of a chat-completions answer: text, reasoning trace, refusal and tokens."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .base import BotRefused
from .retrying import AttemptFailed

_THINKING = re.compile(r"<think>(.*?)</think>\s*", re.DOTALL)
_KEPT = ("model", "system_fingerprint", "service_tier")


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
        trace=trace | ({"finish_reason": finish} if finish else {}),
    )


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
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else None


def counted(usage: object, name: str) -> int | None:
    """A number of tokens of an answer's usage, where it is told."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _shortened(found: object) -> str:
    written = " ".join(str(found).split())
    return written if len(written) <= 200 else written[:199] + "…"
