"""ServerLanguageModel: how likely a text is under a model behind a server that tells prompt log-probabilities."""

import asyncio
import json
import math
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from .. import InputError
from ..knowledge.local_models.causal import Stretch, sliding
from ..knowledge.local_models.language_model import Continued, Likelihood
from ..metrics.score import ModelUnavailable
from .likelihood_server import LikelihoodServer
from .models import ModelSettings, endpoint_of
from .once import Once
from .openai_endpoint import Endpoints
from .prompt_logprobs import Token, TooLong
from .redaction import redacted, redacted_url
from .retrying import Backoff

CONCURRENCY: Final = 16  # a prompt's log-probabilities take a server much more memory than an answer
_TAKEN: Final = (
    "model",
    "base_url",
    "api_key_env",
    "timeout",
    "max_attempts",
    "concurrency",
    "max_reply_mb",
    "context_tokens",
    "extra",
)


class ServerLanguageModel:
    """A language model behind a server; the same value as the model would give here, where it can be had.

    Where the server takes prompts as tokens (vLLM, SGLang, llama.cpp), prefix and completion are tokenized each by
    itself, without special tokens, and put together, and what is too long is cut, just as by a model on this machine
    (``knowledge.local_models.causal``).

    Others take text alone. Then prefix and completion are tokenized as one text, before which the server may put a
    token of its own; scored are the tokens that are not those of the prefix by itself, so a token that holds the end of
    the prefix and the beginning of the completion is scored. Where both together are too long, texts are cut between
    characters, and of a completion without a prefix only what fits is scored, whatever ``stride`` says.

    The first token of a completion without a prefix is never scored. Of the window one place is left for the token
    that servers write. Equal texts in flight are asked about once.
    """

    def __init__(self, server: LikelihoodServer, model_id: str) -> None:
        self._server = server
        self._model_id = model_id
        self._likelihoods: Once[Likelihood] = Once()

    @property
    def model_id(self) -> str:
        """Name and address of the model, and what of its settings may change values."""
        return self._model_id

    @property
    def problem(self) -> str:
        """Why the server is asked nothing more; blank while it is."""
        return self._server.problem

    async def load(self) -> None:
        """Find out what the server offers. Raises InputError or ModelUnavailable when it is no use."""
        self._server.open()
        await self._server.offer()

    async def likelihoods(self, texts: Sequence[Continued]) -> list[Likelihood]:
        """How likely each completion is, in their order.

        Raises:
            InputError: no request can succeed: wrong key, unknown model, a server that tells no such thing.
            ModelUnavailable: the server gave no answer, or refused this text.
        """
        return list(await asyncio.gather(*(self._once(text) for text in texts)))

    def step_back(self) -> None:
        """Nothing to do: no work is done on this machine."""

    async def close(self) -> None:
        """Give up what goes on, and give back the connections."""
        self._likelihoods.cancel()
        await self._server.close()

    async def _once(self, text: Continued) -> Likelihood:
        key = (text.completion, text.before, text.source, text.after, text.stride)
        return await self._likelihoods.get(key, lambda: self._likelihood(text))

    async def _likelihood(self, text: Continued) -> Likelihood:
        """Score it, and again where the server's refusal says how much it reads."""
        takes_tokens = (await self._server.offer()).takes_tokens
        while True:
            known = await self._server.window()
            try:
                return await (self._by_tokens(text) if takes_tokens else self._by_text(text))
            except TooLong as error:
                self._server.learn(error.window)
                # What is learnt is always a smaller window, so this comes to an end.
                if await self._server.window() == known:
                    raise ModelUnavailable(_too_long(self._model_id, str(error))) from None

    async def _by_tokens(self, text: Continued) -> Likelihood:
        stretches, truncated = await self._stretches(text)
        scored = [stretch for stretch in stretches if len(stretch.tokens) > stretch.scored]
        sums = await asyncio.gather(*(self._sum(stretch) for stretch in scored))
        return _likelihood(sum(sums), sum(len(one.tokens) - one.scored for one in scored), truncated)

    async def _sum(self, stretch: Stretch) -> float:
        count = len(stretch.tokens)
        return (await self._server.echo(stretch.tokens, count)).sum(stretch.scored, count)

    async def _stretches(self, text: Continued) -> tuple[list[Stretch], bool]:
        """What has to be read to score a completion, and whether something was cut."""
        completion, prefix = await self._numbers(text.completion), await self._numbers(_prefix(text))
        window = await self._server.window() or len(prefix) + len(completion)
        if not prefix:
            if text.stride and len(completion) > window:
                return list(sliding(completion, window, text.stride)), False
            return [Stretch(completion[:window], 1)], len(completion) > window
        is_cut = len(prefix) + len(completion) > window
        if is_cut:
            fitting = await self._shortened(text, window - len(completion))
            if fitting is not None:
                prefix = await self._numbers(fitting)
            else:
                prefix = (await self._numbers(text.before + text.after))[-(window // 2) :]
        return [Stretch((prefix + completion)[:window], max(1, len(prefix)))], is_cut

    async def _numbers(self, text: str) -> list[int]:
        return [token for token in await self._server.tokens(text) if isinstance(token, int)]

    async def _by_text(self, text: Continued) -> Likelihood:
        prefix, completion, truncated = await self._fitting(text)
        echo = await self._server.read(prefix + completion)
        start = max(1, _alike(echo.tokens, await self._server.tokens(prefix)))
        end = len(echo.tokens)
        return _likelihood(echo.sum(start, end), max(0, end - start), truncated)

    async def _fitting(self, text: Continued) -> tuple[str, str, bool]:
        """Prefix and completion as they fit the window, and whether something was cut."""
        prefix, completion = _prefix(text), text.completion
        window = await self._server.window()
        if window is None or await self._count(prefix + completion) <= window:
            return prefix, completion, False
        if prefix:
            fitting = await self._shortened(text, window - await self._count(completion))
            rest = text.before + text.after
            prefix = await self._end(rest, window // 2) if fitting is None else fitting
        read = await _largest(len(completion), lambda n: self._fits(prefix + completion[:n], window))
        return prefix, completion[:read], True

    async def _shortened(self, text: Continued, room: int) -> str | None:
        """The prefix with as much of the source's beginning as has room, see ``completions.shortened``."""
        before, source, after = text.before, text.source, text.after
        if await self._count(before + after) > room:
            return None
        read = await _largest(len(source), lambda n: self._fits(before + source[:n] + after, room))
        return before + source[:read] + after

    async def _end(self, text: str, room: int) -> str:
        """As much of a text's end as has room."""
        read = await _largest(len(text), lambda n: self._fits(text[len(text) - n :], room))
        return text[len(text) - read :]

    async def _fits(self, text: str, room: int) -> bool:
        return await self._count(text) <= room

    async def _count(self, text: str) -> int:
        try:
            return len(await self._server.tokens(text))
        except TooLong:  # of a server that counts only what it reads
            return sys.maxsize


def open_server_language_model(
    settings: ModelSettings,
    environ: Mapping[str, str],
    endpoints: Endpoints | None = None,
    *,
    redact: Callable[[str], str] = str,
    backoff: Backoff | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> ServerLanguageModel:
    """Make a language model behind a server; nothing is loaded or sent before it is asked.

    Args:
        settings: ``openai:NAME`` with the address of the server.
        environ: where the API key is looked up, and ``OPENAI_BASE_URL`` when no address is given.
        endpoints: shared by all models of a suite, so that equal ones share their limits and connections.
        redact: takes secrets out of what the server says.
        backoff: waits between attempts.
        sleep: waits for some seconds.

    Raises:
        InputError: the settings are those of a model that can't be asked, or that writes.
    """
    if settings.kind != "openai":
        raise InputError(
            f"{settings.model!r} can't say how likely a text is; name the model of a server, as 'openai:NAME' with "
            "its base_url, or one on this machine."
        )
    if wrong := sorted(settings.model_fields_set.difference(_TAKEN)):
        raise InputError(
            f"{wrong[0]} means nothing to the model {settings.model!r} here: it scores texts, and writes none."
        )
    endpoint = endpoint_of(settings, environ, endpoints or Endpoints())
    server = LikelihoodServer(
        endpoint,
        timeout=settings.timeout,
        max_attempts=settings.max_attempts,
        concurrency=settings.concurrency if "concurrency" in settings.model_fields_set else CONCURRENCY,
        window=settings.context_tokens,
        extra=settings.extra,
        redact=redact,
        backoff=backoff,
        sleep=sleep,
    )
    return ServerLanguageModel(server, _model_id(settings, endpoint.url))


def _model_id(settings: ModelSettings, url: str) -> str:
    """All that may change values; what looks secret is hidden."""
    told = {"context_tokens": settings.context_tokens, "extra": redacted(settings.extra)}
    said = json.dumps({name: value for name, value in told.items() if value}, sort_keys=True, default=str)
    return f"{settings.model} at {redacted_url(url)}" + (f" {said}" if said != "{}" else "")


def _too_long(model: str, told: str) -> str:
    return (
        f"A text is too long for the model {model} ({told}). Texts are cut where it is known how much the model reads: "
        "set context_tokens in its settings."
    )


def _prefix(text: Continued) -> str:
    return text.before + text.source + text.after


def _likelihood(total: float, tokens: int, truncated: bool) -> Likelihood:
    return Likelihood(-total / tokens if tokens else math.nan, tokens, truncated)


def _alike(one: Sequence[Token], other: Sequence[Token]) -> int:
    """How many tokens two texts begin with that are the same.

    >>> _alike(["a", "b", "c"], ["a", "b"])
    2
    """
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


async def _largest(size: int, fits: Callable[[int], Awaitable[bool]]) -> int:
    """The largest number up to ``size`` that fits, found by halving; 0 is taken to fit."""
    least, too_large = 0, size + 1
    while too_large - least > 1:
        middle = (least + too_large) // 2
        if await fits(middle):
            least = middle
        else:
            too_large = middle
    return least
