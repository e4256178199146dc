"""Attempts: a request that is made again until it goes well, with what each try took."""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from .deadline import standing_still
from .limits import Gate
from .retrying import LONGEST_WAIT, AttemptFailed, Backoff, EndpointFailed, EndpointTimedOut

THROTTLED_PATIENCE = 3  # a 429 says "later", not "no": it is borne so many times as often as a failure

T = TypeVar("T")


@dataclass(slots=True)
class Effort:
    """What one question has taken so far: our own waiting, each attempt, and what went wrong."""

    queue_ms: float = 0.0
    attempts_ms: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    throttled: int = 0


class Attempts:
    """Makes requests to one place, within its limiter.

    ``queue_ms`` is what our limits and the place's 429 answers made a request wait; a wait after any other
    failure is part of the bot's latency.
    """

    def __init__(
        self,
        place: str,
        limiter: Gate,
        max_attempts: int,
        *,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clean: Callable[[str], str] = str,
    ) -> None:
        """``place`` is what messages call it; ``clean`` takes secrets out of what the place says."""
        self._clean = clean
        self._place = place
        self._limiter = limiter
        self._max_attempts = max_attempts
        self._backoff = backoff or Backoff()
        self._sleep = sleep

    async def until_answered(self, send: Callable[[], Awaitable[T]]) -> tuple[T, Effort]:
        """Send until it goes well.

        Args:
            send: makes one attempt; raises AttemptFailed when another one may go well.

        Raises:
            EndpointFailed, EndpointTimedOut: no attempt went well.
        """
        effort = Effort()
        while True:
            try:
                return await self._once(send, effort), effort
            except AttemptFailed as failed:
                effort.failures.append(self._clean(str(failed)))
                effort.throttled += failed.throttled
                if self._hopeless(failed, effort):
                    raise self._exhausted(failed, effort) from None
                await self._wait(failed, effort)

    async def _once(self, send: Callable[[], Awaitable[T]], effort: Effort) -> T:
        async with self._limiter.slot() as slot:
            effort.queue_ms += slot.waited * 1000
            started = time.perf_counter()
            try:
                answer = await send()
            except AttemptFailed as failed:
                if failed.throttled:
                    self._limiter.throttled(slot, _bearable(failed.retry_after))
                raise
            finally:
                effort.attempts_ms.append((time.perf_counter() - started) * 1000)
            self._limiter.succeeded()
            return answer

    def _hopeless(self, failed: AttemptFailed, effort: Effort) -> bool:
        if (failed.retry_after or 0) > LONGEST_WAIT:
            return True
        failures = len(effort.failures) - effort.throttled
        return failures >= self._max_attempts or effort.throttled >= self._max_attempts * THROTTLED_PATIENCE

    async def _wait(self, failed: AttemptFailed, effort: Effort) -> None:
        if failed.retry_after is not None:
            return  # the limiter holds the next attempt back, and everyone else's
        started = time.perf_counter()
        with standing_still() if failed.throttled else contextlib.nullcontext():
            await self._sleep(self._backoff.wait(len(effort.failures)))
        if failed.throttled:
            effort.queue_ms += (time.perf_counter() - started) * 1000

    def _exhausted(self, failed: AttemptFailed, effort: Effort) -> EndpointFailed | EndpointTimedOut:
        happened = ", ".join(_grouped(effort.failures))
        attempts = "1 attempt" if len(effort.failures) == 1 else f"{len(effort.failures)} attempts"
        message = f"{self._place} gave no answer in {attempts}: {happened}."
        if (failed.retry_after or 0) > LONGEST_WAIT:
            message += f" It asks to be left alone for {failed.retry_after:.0f} s; run again after that."
        kind = EndpointTimedOut if failed.timed_out else EndpointFailed
        return kind(message, attempts_ms=tuple(effort.attempts_ms), queue_ms=effort.queue_ms)


def _bearable(retry_after: float | None) -> float | None:
    """A wait for everyone; one that is too long ends the question instead of holding up all others."""
    return retry_after if retry_after is None or retry_after <= LONGEST_WAIT else None


def _grouped(failures: Sequence[str]) -> list[str]:
    """Equal failures in a row as one: ``HTTP 500 (4 times)``."""
    groups = [(what, len(list(run))) for what, run in itertools.groupby(failures)]
    return [what if count == 1 else f"{what} ({count} times)" for what, count in groups]
