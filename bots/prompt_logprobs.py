"""Prompt log-probabilities: what a server is asked for, what its answer says, and what its refusal means."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from .base import BotMisconfigured
from .openai_reply import counted, first_choice
from .retrying import AttemptFailed

COMPLETIONS: Final = "completions"
GENERATED: Final = 1  # tokens that are written behind a prompt: servers differ in what they make of none at all

# No token is put before a text, and tokens are told by number; most servers pass over fields that they don't know.
VLLM_FIELDS: Final[Mapping[str, object]] = {"add_special_tokens": False, "return_tokens_as_token_ids": True}

# A token as servers name it: its number, or where they don't tell that, its text.
Token: TypeAlias = int | str

_NUMBERED: Final = re.compile(r"token_id:(\d+)")
_TOO_LONG: Final = ("context length", "context window", "context size", "max_model_len", "too many tokens")
_WINDOW: Final = re.compile(r"(?:context (?:length|window|size)|max_model_len)\D{0,40}(\d+)")
# A chat model of OpenAI names the path; other refusals name what they refuse. Some come as an inner error (500).
_REFUSED: Final = ("echo", "logprobs", "logits_all", "v1/completions")
_LEAST_BAD: Final = 1e-3  # above 0, from rounding


class TooLong(Exception):  # noqa: N818 - an outcome of one request
    """The prompt is longer than the server reads. ``window``: how many tokens that are, where it says so."""

    def __init__(self, told: str) -> None:
        super().__init__(told)
        found = _WINDOW.search(told)
        self.window = int(found[1]) if found else None


class NoPromptLogprobs(BotMisconfigured):
    """The server answers requests, and tells nothing of the prompt's tokens."""

    def __init__(self, told: str) -> None:
        super().__init__(
            f"The server can't say how likely a given text is ({told}). These do: vLLM, SGLang, and llama-cpp-python's "
            "server started with '--logits_all true'; llama.cpp's own server, Ollama and OpenAI's models don't."
        )


@dataclass(frozen=True, slots=True)
class Echo:
    """The tokens of a prompt with the natural logarithm of how likely each was; None for the first."""

    tokens: tuple[Token, ...]
    logprobs: tuple[float | None, ...]

    def without_beginning(self, text: str) -> "Echo":
        """Without the token that a server put before a text, where the tokens' texts show that it did."""
        if "".join(map(str, self.tokens[1:])) == text:
            return Echo(self.tokens[1:], self.logprobs[1:])
        return self

    def sum(self, start: int, end: int) -> float:
        """Of the log-probabilities of the tokens from ``start`` to ``end``.

        Raises:
            NoPromptLogprobs: one of them was not told.
            AttemptFailed: one is no log-probability.
        """
        scored = self.logprobs[start:end]
        if any(value is None for value in scored):
            raise NoPromptLogprobs("it names the prompt's tokens without their log-probabilities")
        values = [value for value in scored if value is not None]
        if not all(math.isfinite(value) and value <= _LEAST_BAD for value in values):
            raise AttemptFailed("log-probabilities that are none")
        return math.fsum(values)


def scoring_request(model: str, prompt: str | Sequence[int]) -> dict[str, object]:
    """Ask for the log-probabilities of a prompt: OpenAI's old completions, with the prompt echoed.

    One token is written, which nobody reads: none at all means "as many as fit" to llama-cpp-python, and made older
    versions of vLLM stop.
    """
    return {
        "model": model,
        "prompt": prompt if isinstance(prompt, str) else list(prompt),
        "echo": True,
        "logprobs": 1,
        "max_tokens": GENERATED,
        "temperature": 0,
    }


def refusal(status: int, told: str) -> Exception | None:
    """What an error status means for a scoring request; None where it means what it always does."""
    said = told.lower()
    if status in (429, 401, 403):
        return None
    if any(mark in said for mark in _TOO_LONG):
        return TooLong(told)
    if any(mark in said for mark in _REFUSED):
        return NoPromptLogprobs(told)
    return None


def read_echo(answer: object, count: int | None = None) -> Echo:
    """The prompt's tokens out of an answer.

    Args:
        answer: the body as it came from JSON.
        count: how many tokens the prompt has, where that is known.

    Raises:
        AttemptFailed: an error told with status 200, no choices, or something else altogether.
        NoPromptLogprobs: it is a sound answer, and the prompt is not in it.
    """
    whole, choice = first_choice(answer)
    tokens, logprobs = _told(choice.get("logprobs"))
    read, written = (counted(whole.get("usage"), name) for name in ("prompt_tokens", "completion_tokens"))
    if count is None:
        count = len(tokens) - (GENERATED if written is None else written)
        # A token that begins a text may be counted though it is not told.
        is_whole = count > 0 and (read is None or count >= read - 1)
    else:
        is_whole = count <= len(tokens) <= count + GENERATED
    if not is_whole:
        raise NoPromptLogprobs(f"of a prompt of {read or count} tokens it told {len(tokens)} log-probabilities")
    return Echo(tokens[:count], logprobs[:count])


def is_another_prompt(sent: Sequence[int], told: Sequence[Token]) -> bool:
    """Whether the server scored other tokens than those it was sent, as far as it tells their numbers."""
    return any(isinstance(token, int) and token != wanted for token, wanted in zip(told, sent, strict=True))


def _told(said: object) -> tuple[tuple[Token, ...], tuple[float | None, ...]]:
    """Tokens and values, from lists side by side (OpenAI's completions) or entries (chat, llama.cpp)."""
    if not isinstance(said, Mapping):
        return (), ()
    if isinstance(said.get("content"), list):
        entries = [entry if isinstance(entry, Mapping) else {} for entry in said["content"]]
        return tuple(_token(each) for each in entries), tuple(_number(each.get("logprob")) for each in entries)
    names, values = said.get("tokens"), said.get("token_logprobs")
    if not isinstance(names, list) or not isinstance(values, list) or len(names) != len(values):
        return (), ()
    return tuple(_named(name) for name in names), tuple(_number(value) for value in values)


def _token(entry: Mapping[str, Any]) -> Token:
    number = entry.get("id")
    return number if isinstance(number, int) else _named(entry.get("token"))


def _named(name: object) -> Token:
    numbered = _NUMBERED.fullmatch(str(name))
    return int(numbered[1]) if numbered else str(name)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
