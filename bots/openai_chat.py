"""OpenAIChat: a chat model behind any OpenAI-compatible endpoint, with retries and honest times."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .base import Usage
from .chat import ChatRequest, Completion
from .openai_endpoint import Endpoint
from .openai_reply import ChatReply, read_reply
from .retrying import LONGEST_WAIT, AttemptFailed, Backoff, EndpointFailed, EndpointTimedOut

# A 429 says "later", not "no": it is borne three times as often as a failure.
THROTTLED_PATIENCE = 3


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


@dataclass(slots=True)
class _Effort:
    """What one completion has taken so far."""

    queue_ms: float = 0.0
    attempts_ms: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    throttled: int = 0


class OpenAIChat:
    """Sends ``system`` and ``prompt`` of a request to an endpoint.

    Times: ``attempts_ms`` is the endpoint's own, one figure an attempt. ``queue_ms`` is what our limits and
    the endpoint's 429 answers made the request wait; after any other failure the wait is the bot's latency.

    Args:
        endpoint: where to send; closed with the last of its users.
        parameters: what goes into every request beside model and messages; only what the user set.
        timeout: seconds for one attempt.
        max_attempts: attempts that may fail before the question is given up.
        context_tokens: tokens that prompt and answer may take together.
        prices: for the cost of an answer.
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
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{endpoint.model}"
        self.context_tokens = context_tokens
        self._endpoint = endpoint
        self._parameters = dict(parameters or {})
        self._timeout = timeout
        self._max_attempts = max_attempts
        self._prices = prices
        self._backoff = backoff or Backoff()
        self._sleep = sleep
        self._closed = False

    @property
    def settings(self) -> Mapping[str, object]:
        """Model, base URL, parameters and context size: all that changes answers."""
        fixed = {"model": self.name, "base_url": self._endpoint.url, "context_tokens": self.context_tokens}
        return fixed | self._parameters

    async def prepare(self, texts: Sequence[str] = ()) -> None:  # noqa: ARG002 - nothing to work ahead on
        """Import the client and make it, half a second that no question should pay for."""
        self._endpoint.open()

    async def complete(self, request: ChatRequest) -> Completion:
        """Complete the prompt; see ``ChatModel`` for what is raised."""
        body = self._body(request)
        effort = _Effort()
        while True:
            outcome = await self._attempt(body, effort)
            if isinstance(outcome, ChatReply):
                return self._completion(outcome, effort)
            effort.failures.append(self._endpoint.clean(str(outcome)))
            effort.throttled += outcome.throttled
            if self._hopeless(outcome, effort):
                raise self._exhausted(outcome, effort)
            await self._wait(outcome, effort)

    async def close(self) -> None:
        """Leave the endpoint; the last user closes its connections."""
        if not self._closed:
            self._closed = True
            await self._endpoint.close()

    def _body(self, request: ChatRequest) -> dict[str, object]:
        messages = [{"role": "user", "content": _sendable(request.prompt)}]
        if request.system:
            messages.insert(0, {"role": "system", "content": _sendable(request.system)})
        return {"model": self._endpoint.model, "messages": messages, **self._parameters}

    async def _attempt(self, body: Mapping[str, object], effort: _Effort) -> ChatReply | AttemptFailed:
        limiter = self._endpoint.limiter
        async with limiter.slot() as slot:
            effort.queue_ms += slot.waited * 1000
            started = time.perf_counter()
            try:
                reply = read_reply(await self._endpoint.ask(body, self._timeout))
            except AttemptFailed as failed:
                if failed.throttled:
                    limiter.throttled(slot, _bearable(failed.retry_after))
                return failed
            finally:
                effort.attempts_ms.append((time.perf_counter() - started) * 1000)
            limiter.succeeded()
            return reply

    def _hopeless(self, failed: AttemptFailed, effort: _Effort) -> bool:
        if (failed.retry_after or 0) > LONGEST_WAIT:
            return True
        failures = len(effort.failures) - effort.throttled
        return failures >= self._max_attempts or effort.throttled >= self._max_attempts * THROTTLED_PATIENCE

    async def _wait(self, failed: AttemptFailed, effort: _Effort) -> None:
        if failed.retry_after is not None:
            return  # the limiter holds the next attempt back, and everyone else's
        seconds = self._backoff.wait(len(effort.failures))
        started = time.perf_counter()
        await self._sleep(seconds)
        if failed.throttled:
            effort.queue_ms += (time.perf_counter() - started) * 1000

    def _exhausted(self, failed: AttemptFailed, effort: _Effort) -> EndpointFailed | EndpointTimedOut:
        count = len(effort.failures)
        happened = ", ".join(_grouped(effort.failures))
        message = f"The endpoint {self._endpoint.url} gave no answer in {count} attempts: {happened}."
        if (failed.retry_after or 0) > LONGEST_WAIT:
            message += f" It asks to be left alone for {failed.retry_after:.0f} s; run again after that."
        kind = EndpointTimedOut if failed.timed_out else EndpointFailed
        return kind(message, attempts_ms=tuple(effort.attempts_ms), queue_ms=effort.queue_ms)

    def _completion(self, reply: ChatReply, effort: _Effort) -> Completion:
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


def _bearable(retry_after: float | None) -> float | None:
    """A wait for everyone; one that is too long ends the question instead of holding up all others."""
    return retry_after if retry_after is None or retry_after <= LONGEST_WAIT else None


def _sendable(text: str) -> str:
    """The text with lone surrogates, which UTF-8 can't carry, replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _grouped(failures: Sequence[str]) -> list[str]:
    """Equal failures in a row as one: ``HTTP 500 (4 times)``."""
    groups: list[tuple[str, int]] = []
    for failure in failures:
        if groups and groups[-1][0] == failure:
            groups[-1] = (failure, groups[-1][1] + 1)
        else:
            groups.append((failure, 1))
    return [what if count == 1 else f"{what} ({count} times)" for what, count in groups]
