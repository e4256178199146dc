"""ChatModel, ChatRequest and Completion: the interface through which bots talk to a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ...knowledge import Embedded, Message
from ..bot import Context, Usage


class FreshEmbedder(Protocol):
    """Embeds texts; ``embed_fresh`` does so each time, for the honest latency of a question."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def load(self) -> None:
        """Load the model now, so that no answer is slowed down by it."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts; known ones come from the cache."""
        ...

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """Vectors of the texts, computed now."""
        ...


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call of a chat model: the rendered prompt, and the parts from which it was rendered.

    A language model is sent ``prompt`` (with ``system`` and ``history`` before and ``exchange`` after it) and nothing
    else. The embedded extractive model can't read prose, so it works from ``instructions`` (the template before it was
    filled), ``question`` and ``contexts``.

    Attributes:
        history: messages of the user and the bot before the prompt, oldest first.
        schema: JSON schema that the answer should follow, strictly where the model's server can hold it to that.
        exchange: what was said after the prompt: pairs of the model's answer and our next message.
        temperature: in place of the model's own, for this request; None leaves that.
        logprobs: whether the log-probabilities of the answer's tokens are wanted; a model that has none leaves
            them out.
    """

    prompt: str
    system: str = ""
    instructions: str = ""
    question: str = ""
    contexts: tuple[Context, ...] = ()
    history: tuple[Message, ...] = ()
    schema: Mapping[str, object] | None = None
    exchange: tuple[tuple[str, str], ...] = ()
    temperature: float | None = None
    logprobs: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat model answered, and what it cost.

    ``queue_ms`` is time spent waiting in our own limits; ``attempts_ms`` has one figure for each attempt. ``trace``
    has whatever else was returned, such as ``finish_reason``. ``logprobs`` has each token of the answer, where that was
    asked for and given, with the log-probabilities of those that might have come in its place. ``tool_calls`` are those
    that the model wants made, as it wrote them; None where it was given no tools.
    """

    text: str | None
    usage: Usage = field(default_factory=Usage)
    reasoning: str | None = None
    queue_ms: float = 0.0
    attempts_ms: tuple[float, ...] = ()
    abstained: bool | None = None
    trace: Mapping[str, object] = field(default_factory=dict)
    tool_calls: Sequence[object] | None = None
    logprobs: Sequence[tuple[str, Mapping[str, float]]] = ()


class ChatModel(Protocol):
    """A model that completes a prompt."""

    @property
    def name(self) -> str:
        """As the suite file names it: ``extractive``, ``openai:gpt-5-mini``, ``langchain:module:name``."""
        ...

    @property
    def embedded(self) -> bool:
        """True when no language model takes part."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """Tokens that prompt and answer may take together; None when there is no limit."""
        ...

    @property
    def settings(self) -> Mapping[str, object]:
        """All that changes its answers (model, base URL, temperature, ...), JSON-able and without secrets."""
        ...

    async def prepare(self, texts: Sequence[str] = ()) -> None:
        """Load what is needed and work ahead on texts that many prompts will contain; before the clock starts."""
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """Complete the prompt.

        Raises:
            BotMisconfigured: wrong key, unknown model: no request can succeed.
            BotRefused: this request was refused.
            TimeoutError, ConnectionError: the endpoint did not answer after all attempts.
        """
        ...

    async def close(self) -> None:
        """Release connections and memory."""
        ...
