"""OpenAIChat: a chat model behind any OpenAI-compatible endpoint, with retries and honest times."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from .attempts import Attempts, Effort
from .base import Usage
from .chat import ChatRequest, Completion
from .limits import Turnstile
from .openai_endpoint import Endpoint, FieldRefused
from .openai_options import RESPONSE_FORMAT, STREAM_OPTIONS, Options
from .openai_reply import ChatReply, read_reply
from .redaction import redacted
from .retrying import Backoff


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency: the cost of an answer comes out in the same."""

    tokens_in: float
    tokens_out: float

    def cost(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """The cost of an answer; None where the endpoint does not count tokens."""
        if tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


class OpenAIChat:
    """Sends ``system``, ``prompt`` and ``exchange`` of a request to an endpoint.

    A request with a schema asks for structured output; where the endpoint refuses that, for any JSON object, and at
    last for nothing but what the prompt says. Another temperature than the configured one is left out, too, where it
    is refused. Such a refusal is no failed attempt, and the endpoint remembers it for later requests.

    Times: ``attempts_ms`` is the endpoint's own, one figure an attempt. ``queue_ms`` is what our limits and
    the endpoint's 429 answers made the request wait; after any other failure the wait is the bot's latency.

    Args:
        endpoint: where to send; closed with the last of its users.
        parameters: what goes into every request beside model and messages; only what the user set.
        timeout: seconds for one attempt.
        max_attempts: attempts that may fail before the question is given up.
        context_tokens: tokens that prompt and answer may take together.
        prices: for the cost of an answer.
        turnstile: before the endpoint's limiter, for requests that are to leave room for others.
        stream: whether answers come in pieces, for servers that break off long silent requests.
        backoff: waits between attempts.
        sleep: waits for some seconds.
    """

    embedded = False

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        parameters: Mapping[str, object] | None = None,
        timeout: float = 60.0,
        max_attempts: int = 4,
        context_tokens: int | None = None,
        prices: Prices | None = None,
        turnstile: Turnstile | None = None,
        stream: bool = False,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{endpoint.model}"
        self.context_tokens = context_tokens
        self._endpoint = endpoint
        self._parameters = dict(parameters or {})
        self._timeout = timeout
        self._attempts = Attempts(
            f"The endpoint {endpoint.place}",
            turnstile.lead_to(endpoint.limiter) if turnstile else endpoint.limiter,
            max_attempts,
            backoff=backoff,
            sleep=sleep,
            clean=endpoint.clean,
        )
        self._prices = prices
        self._stream = stream
        self._closed = False

    @property
    def settings(self) -> Mapping[str, object]:
        """Model, base URL, parameters and context size: all that changes answers; what looks secret is hidden."""
        fixed = {"model": self.name, "base_url": self._endpoint.place, "context_tokens": self.context_tokens}
        parameters = redacted(self._parameters)
        return {**fixed, **parameters} if isinstance(parameters, Mapping) else fixed

    async def prepare(self, texts: Sequence[str] = ()) -> None:  # noqa: ARG002 - nothing to work ahead on
        """Import the client and make it, half a second that no question should pay for."""
        self._endpoint.open()

    async def complete(self, request: ChatRequest) -> Completion:
        """Complete the prompt; see ``ChatModel`` for what is raised."""
        body = self._body(request)
        options = self._options(request)
        reply, effort = await self._attempts.until_answered(lambda: self._send(body, options))
        return self._completion(reply, effort)

    async def close(self) -> None:
        """Leave the endpoint; the last user closes its connections."""
        if not self._closed:
            self._closed = True
            await self._endpoint.close()

    def _body(self, request: ChatRequest) -> dict[str, object]:
        messages = [{"role": "user", "content": _sendable(request.prompt)}]
        if request.system:
            messages.insert(0, {"role": "system", "content": _sendable(request.system)})
        for answered, told in request.exchange:
            messages.append({"role": "assistant", "content": _sendable(answered)})
            messages.append({"role": "user", "content": _sendable(told)})
        body: dict[str, object] = {"model": self._endpoint.model, "messages": messages, **self._parameters}
        return body | {"stream": True} if self._stream else body

    def _options(self, request: ChatRequest) -> Options:
        """What of the request may be refused; a field that the user configured in ``extra`` is sent as it stands."""
        return Options(
            self._endpoint.manners,
            schema=None if RESPONSE_FORMAT in self._parameters else request.schema,
            temperature=request.temperature,
            usage=self._stream and STREAM_OPTIONS not in self._parameters,
        )

    async def _send(self, body: Mapping[str, object], options: Options) -> ChatReply:
        """One attempt; what an endpoint refuses and can be left out is left out at once."""
        while True:
            try:
                answer = await self._endpoint.ask(options.fill(body), self._timeout, options.fields)
            except FieldRefused as refused:
                if not options.leave_out(refused.field):
                    raise refused.otherwise from None
            else:
                options.settle()
                return read_reply(answer)

    def _completion(self, reply: ChatReply, effort: Effort) -> Completion:
        cost = self._prices.cost(reply.tokens_in, reply.tokens_out) if self._prices else None
        return Completion(
            text=reply.text,
            usage=Usage(reply.tokens_in, reply.tokens_out, cost),
            reasoning=reply.reasoning,
            queue_ms=effort.queue_ms,
            attempts_ms=tuple(effort.attempts_ms),
            declined=True if reply.refused else None,
            trace=dict(reply.trace) | ({"failures": effort.failures} if effort.failures else {}),
        )


def _sendable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 can't carry, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
