"""LikelihoodServer: a server asked for tokens and for log-probabilities of prompts, by what it turns out to offer."""

import asyncio
import contextlib
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from ..knowledge.encoder import readable
from ..metrics.score import ModelUnavailable
from .attempts import Attempts
from .base import BotMisconfigured, BotRefused
from .limits import TurnedAway, Turnstile
from .once import Once
from .openai_endpoint import Endpoint, Meaning
from .prompt_logprobs import (
    COMPLETIONS,
    GENERATED,
    VLLM_FIELDS,
    Echo,
    NoPromptLogprobs,
    Token,
    is_another_prompt,
    read_echo,
    refusal,
    scoring_request,
)
from .retrying import AttemptFailed, Backoff, Exhausted
from .server_offer import Offer, numbers, size_of, texts

UNREACHABLE_LIMIT: Final = 20  # requests in a row without an answer before no more are sent
# Where only what OpenAI has is let through, other paths may be forbidden; a wrong key shows when a text is scored.
_NOT_OFFERED: Final = frozenset({400, 401, 403, 404, 405, 410, 422, 501})
_NOT_TAKEN: Final = frozenset({400, 422})
_TOKENS_KEPT: Final = 512  # texts: the metrics of a row ask for the same ones
_ECHOES_KEPT: Final = 32
_PROBE: Final = "a"
_OFF_BY_ONE: Final = (
    "llama-cpp-python tells the log-probabilities of a prompt one token off for models without a token that begins a "
    "text, and this model has none; use vLLM, or the model on this machine"
)

T = TypeVar("T")


class _NotOffered(Exception):  # noqa: N818 - an outcome of one request
    """There is nothing at a path, or it does not take a request as this one."""


class LikelihoodServer:
    """Finds out what the server offers at the first call; what can't work is found out once and asked no more.

    Errors of all methods: BotMisconfigured when no request can succeed (wrong key, unknown model, a server without
    prompt log-probabilities), from then on without sending any; ModelUnavailable when there was no answer.

    Args:
        endpoint: where requests go; closed with the last of its users.
        timeout: seconds for one attempt.
        max_attempts: attempts that may fail before a request is given up.
        concurrency: requests under way at most.
        window: how many tokens a prompt and an answer may take together; None for what the server says.
        extra: further fields of scoring requests, sent as they stand.
        redact: takes secrets out of what the server says.
        backoff: waits between attempts.
        sleep: waits for some seconds.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        timeout: float = 60.0,
        max_attempts: int = 4,
        concurrency: int = 16,
        window: int | None = None,
        extra: Mapping[str, object] | None = None,
        redact: Callable[[str], str] = str,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.problem = ""
        self._endpoint = endpoint
        self._timeout = timeout
        self._turnstile = Turnstile(concurrency, endpoint.limiter)
        self._attempts = Attempts(
            f"The endpoint {endpoint.place}",
            self._turnstile,
            max_attempts,
            backoff=backoff,
            sleep=sleep,
            clean=lambda said: redact(endpoint.clean(said)),
        )
        self._most = window
        self._extra = dict(extra or {})
        self._redact = redact
        self._limit = max(UNREACHABLE_LIMIT, 2 * concurrency)
        self._unanswered: Counter[str] = Counter()  # in a row, by path: who counts tokens may have lost the model
        self._plain = False  # whether fields that only some servers know are left out
        self._closed = False
        self._offer: Offer | None = None
        self._offers: Once[Offer] = Once()
        self._tokens: Once[tuple[Token, ...]] = Once(_TOKENS_KEPT)
        self._echoes: Once[Echo] = Once(_ECHOES_KEPT)

    async def offer(self) -> Offer:
        """What the server offers; asked for once."""
        found = self._offer or await self._offers.get((), self._find_out)
        self._offer = self._offer or found  # by now, more may have been learnt
        return self._offer

    async def window(self) -> int | None:
        """How many tokens of a text are read, places left for what stands before and behind; None when nobody says."""
        offer = await self.offer()
        said = [size for size in (self._most, offer.window) if size]
        return max(1, min(said) - GENERATED - offer.begins) if said else None

    def learn(self, window: int | None) -> None:
        """Take the server's word for its window, from a refusal, where it is less than what was known."""
        if window and self._offer is not None and window < (self._offer.window or sys.maxsize):
            self._offer = replace(self._offer, window=window)

    async def tokens(self, text: str) -> tuple[Token, ...]:
        """The tokens of a text; by number, or where the server turns no text into tokens by what it calls them.

        Raises:
            TooLong: the server turns no text into tokens and does not read one as long as this.
        """
        text = readable(text)
        return await self._tokens.get(text, lambda: self._find_tokens(text)) if text else ()

    async def read(self, text: str) -> Echo:
        """A text's tokens as ``tokens`` has them, each with its log-probability; for servers that take text alone."""
        if not text:
            return Echo((), ())
        text = readable(text)
        if not (await self.offer()).begins:
            return await self._echoes.get(text, lambda: self.echo(text))
        tokens = await self.tokens(text)
        return Echo(tokens, (await self.echo(text, len(tokens))).logprobs)

    async def echo(self, prompt: str | Sequence[int], count: int | None = None) -> Echo:
        """The log-probabilities of a prompt, of so many tokens where that is known. Raises TooLong, see there."""
        given = readable(prompt) if isinstance(prompt, str) else prompt

        def read(answer: object) -> Echo:
            echo = read_echo(answer, count)
            if isinstance(given, str):
                echo = echo.without_beginning(given)
            elif is_another_prompt(given, echo.tokens):
                raise NoPromptLogprobs("it scored other tokens than those it was sent")
            echo.sum(1, len(echo.tokens))  # raises where one is missing
            return echo

        def meaning(status: int, told: str) -> Exception | None:
            return refusal(status, self._redact(told))

        def optional(status: int, told: str) -> Exception | None:
            return meaning(status, told) or (_NotOffered() if status in _NOT_TAKEN else None)

        body = self._extra | scoring_request(self._endpoint.model, given)
        if not self._plain:
            with contextlib.suppress(_NotOffered):
                return await self._ask(COMPLETIONS, body | dict(VLLM_FIELDS), read, optional)
        answer = await self._ask(COMPLETIONS, body, read, meaning)
        self._plain = True  # it was because of the fields, not of the prompt
        return answer

    def open(self) -> None:
        """Make the client, half a second that no request should pay for."""
        self._endpoint.open()

    async def close(self) -> None:
        """Give up what goes on, and leave the endpoint; the last user closes its connections."""
        for under_way in (self._offers, self._tokens, self._echoes):
            under_way.cancel()
        if not self._closed:
            self._closed = True
            await self._endpoint.close()

    async def _find_out(self) -> Offer:
        model = {"model": self._endpoint.model}
        try:
            said = await self._probe("/tokenize", model | texts(_PROBE))
            if numbers(said):
                size = size_of(said, "max_model_len")
                return Offer("vllm", size) if size else Offer("llama.cpp", await self._context_size())
            begun = await self._probe("/extras/tokenize", model | {"input": ""})
        except ModelUnavailable as error:  # nothing was ever heard of it
            self._stop(str(error))
            raise
        if begun is None:
            return Offer("other")
        if not numbers(begun):
            raise self._stopped(NoPromptLogprobs(_OFF_BY_ONE))
        return Offer("llama-cpp-python")

    async def _find_tokens(self, text: str) -> tuple[Token, ...]:
        kind = (await self.offer()).kind
        if kind == "other":
            return (await self.read(text)).tokens
        path, fields = (
            ("/extras/tokenize", {"input": text}) if kind == "llama-cpp-python" else ("/tokenize", texts(text))
        )

        def read(answer: object) -> tuple[Token, ...]:
            found = numbers(answer)
            if found is None:
                raise AttemptFailed("no tokens in place of a text")
            # The token that begins every text is not told with values, wherever it stands.
            return tuple(token for token in found if token != found[0]) if kind == "llama-cpp-python" else found

        return await self._ask(path, {"model": self._endpoint.model} | fields, read)

    async def _probe(self, path: str, body: Mapping[str, object]) -> object:
        """What is said at a path; None when there is nothing."""

        def meaning(status: int, _: str) -> Exception | None:
            return _NotOffered() if status in _NOT_OFFERED else None

        try:
            answer = await self._ask(path, body, lambda answer: answer, meaning)
        except _NotOffered:
            return None
        return answer if isinstance(answer, dict) and isinstance(answer.get("tokens"), list) else None

    async def _context_size(self) -> int | None:
        """How many tokens llama.cpp reads."""
        with contextlib.suppress(Exception):  # a courtesy of the server; whatever fails, it isn't known
            async with asyncio.timeout(self._timeout):
                told = await self._endpoint.open().get("/props")
            return size_of(told.get("default_generation_settings"), "n_ctx") if isinstance(told, dict) else None
        return None

    async def _ask(
        self, path: str, body: Mapping[str, object], read: Callable[[object], T], meaning: Meaning | None = None
    ) -> T:
        """Send until it goes well; what shows that nothing can go well stops all that comes."""

        async def send() -> T:
            return read(await self._endpoint.ask(body, self._timeout, path=path, meaning=meaning))

        if self.problem:
            raise TurnedAway(self.problem)
        try:
            answer, _ = await self._attempts.until_answered(send)
        except TurnedAway:
            raise
        except BotMisconfigured as error:
            raise self._stopped(error) from None
        except BotRefused as error:
            raise ModelUnavailable(self._redact(str(error))) from None
        except Exhausted as error:
            self._count_unanswered(path, str(error))
            raise ModelUnavailable(str(error)) from None
        self._unanswered[path] = 0
        return answer

    def _stopped(self, error: BotMisconfigured) -> BotMisconfigured:
        self._stop(self._redact(str(error)))
        return BotMisconfigured(self.problem)

    def _stop(self, problem: str) -> None:
        """Ask nothing more, also not what waits at the turnstile; the first problem counts."""
        self.problem = self.problem or problem
        self._turnstile.shut(self.problem)

    def _count_unanswered(self, path: str, why: str) -> None:
        """A burst may lose all that is under way at once, and more than that is no burst."""
        self._unanswered[path] += 1
        if self._unanswered[path] >= self._limit:
            self._stop(f"{self._unanswered[path]} requests in a row got no answer, and no more were sent. {why}")
