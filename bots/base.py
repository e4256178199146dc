"""Bot, Reply and Identity: what is under test, what it says, and what it is made of."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from .. import InputError, ProctorError

MOST_USED = 10**12  # tokens of an answer, or its cost: what is told beyond is a fault of the backend


@dataclass(frozen=True, slots=True)
class Context:
    """A passage that a bot had before it when it answered, as it was retrieved.

    ``start`` and ``end`` are characters in the document, ``score`` is the retriever's own (higher is nearer).
    """

    text: str
    document: str = ""
    start: int | None = None
    end: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer used: tokens as the backend counted them, cost in the currency of the configured prices."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None

    def sound(self) -> "tuple[Usage, dict[str, str]]":
        """The figures that can be true, and by name what was told in place of the others: ``cost`` inf or below 0."""
        told = {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cost": self.cost}
        wrong = {name: _shown(value) for name, value in told.items() if not _can_be_true(value)}
        return (replace(self, **dict.fromkeys(wrong)) if wrong else self), wrong


def _shown(figure: float | None) -> str:
    try:
        return f"{figure:.6g}"
    except OverflowError:  # of an integer that no float can hold
        return "more than 1e308"


def _can_be_true(figure: float | None) -> bool:
    return figure is None or 0 <= figure <= MOST_USED


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with what it was made from.

    Attributes:
        answer: the text; None when the bot gave none.
        contexts: passages in the bot's order; None when the bot has no retriever, empty when it found nothing.
        usage: tokens and cost, where the backend reports them.
        reasoning: the model's reasoning trace, where the server gives one.
        declined: True when the bot says itself that it does not answer; None when it does not tell.
        queue_ms: milliseconds spent waiting in *our* limits, not counted in the bot's latency.
        attempts_ms: milliseconds of each attempt at the backend, failed ones first; empty when not known.
        trace: anything else worth keeping; must be JSON-able.
    """

    answer: str | None
    contexts: tuple[Context, ...] | None = None
    usage: Usage = Usage()
    reasoning: str | None = None
    declined: bool | None = None
    queue_ms: float = 0.0
    attempts_ms: tuple[float, ...] = ()
    trace: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a bot is made of: while it stays equal, its kept answers hold. Never holds a secret.

    Attributes:
        kind: the type in the suite file (``faq``, ``rag``, ...).
        settings: the effective settings, JSON-able.
        model: the chat model in use, or None.
        embedded: True when no language model takes part (FAQ, extractive).
        parts: name -> SHA-256 of every file or text it depends on (knowledge, code, entries).
        prompts: name -> text of the prompts.
        models: role -> id and revision of every local or remote model (``embedder``, ``chat``).
    """

    kind: str
    settings: Mapping[str, object] = field(default_factory=dict)
    model: str | None = None
    embedded: bool = False
    parts: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """SHA-256 in hex over everything above, in a canonical order."""
        content = [self.kind, self.settings, self.model, self.embedded, self.parts, self.prompts, self.models]
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.sha256(written.encode()).hexdigest()


@runtime_checkable
class Bot(Protocol):
    """Anything with a name that answers a question. It is handed the text alone, never the expected answer.

    A bot may also have ``identity: Identity``, ``async prepare() -> None`` (called once, before the clock starts)
    and ``async close() -> None``.
    """

    @property
    def name(self) -> str:
        """How the bot is called in reports; unique in a suite."""
        ...

    async def reply(self, question: str) -> Reply:
        """Answer the question."""
        ...


class BotRefused(ProctorError):  # noqa: N818 - an outcome of a question, not a programming error
    """The endpoint declined this one question (content filter, bad request); the row is kept as refused."""


class BotMisconfigured(InputError):  # noqa: N818 - as above
    """No question can be answered with this set-up (wrong key, unknown model): the bot is stopped at once."""
