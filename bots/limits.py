"""Limiter: how many requests may be under way at one endpoint, learnt from its own 429 answers."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from .base import BotMisconfigured
from .deadline import standing_still


@dataclass(frozen=True, slots=True)
class Slot:
    """Leave to send one request: seconds waited for it, and when it was given (on the limiter's clock)."""

    waited: float
    given_at: float


class Gate(Protocol):
    """Whatever lets requests through, and is told how they went."""

    def slot(self) -> AbstractAsyncContextManager[Slot]:
        """Wait until a request may be sent; the place is given back at the end, come what may."""
        ...

    def succeeded(self) -> None:
        """The endpoint answered."""
        ...

    def throttled(self, slot: Slot, retry_after: float | None = None) -> None:
        """The endpoint said 429, and perhaps for how many seconds it wants quiet."""
        ...


class Limiter:
    """Lets requests through in their order, at most ``limit`` at a time.

    Additive increase, multiplicative decrease, as in congestion control (Chiu and Jain 1989): a 429 halves
    what is under way, a full window of good answers adds one, up to the ceiling that the user configured.
    The 429s of one burst count once: a request that was sent before the last cut says nothing new.
    A Retry-After holds back every request to the endpoint, not only the one that was told.

    Args:
        ceiling: requests under way at most, at the start and ever.
        clock: monotonic seconds.
        sleep: waits for some seconds on that clock.
    """

    def __init__(
        self,
        ceiling: int,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if ceiling < 1:
            raise ValueError(f"a limiter needs room for at least one request, not {ceiling}")
        self._ceiling = ceiling
        self._limit = ceiling
        self._clock = clock
        self._sleep = sleep
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._in_flight = 0
        self._good = 0
        self._cut_at = float("-inf")
        self._open_at = float("-inf")

    @property
    def limit(self) -> int:
        """Requests that may be under way now."""
        return self._limit

    @property
    def in_flight(self) -> int:
        """Requests under way, those included that hold their place while the endpoint wants quiet."""
        return self._in_flight

    @property
    def waiting(self) -> int:
        """Requests in line."""
        return len(self._waiting)

    def lower_ceiling(self, ceiling: int) -> None:
        """Two bots share the endpoint: the more careful setting holds for both."""
        self._ceiling = min(self._ceiling, ceiling)
        self._limit = min(self._limit, self._ceiling)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait until a request may be sent; the place is given back at the end, come what may."""
        asked_at = self._clock()
        with standing_still():
            await self._enter()
        try:
            with standing_still():
                while (quiet := self._open_at - self._clock()) > 0:
                    await self._sleep(quiet)
            now = self._clock()
            yield Slot(now - asked_at, now)
        finally:
            self._in_flight -= 1
            self._let_in()

    def succeeded(self) -> None:
        """The endpoint answered: a window full of such answers makes room for one more."""
        if self._limit == self._ceiling:
            return
        self._good += 1
        if self._good >= self._limit:
            self._good = 0
            self._limit += 1
            self._let_in()

    def throttled(self, slot: Slot, retry_after: float | None = None) -> None:
        """The endpoint said 429.

        Args:
            slot: what the request was sent with.
            retry_after: seconds for which the endpoint wants quiet, where it says so.
        """
        now = self._clock()
        if retry_after is not None:
            self._open_at = max(self._open_at, now + retry_after)
        if slot.given_at > self._cut_at:
            self._cut_at = now
            self._limit = max(1, min(self._limit, self._in_flight) // 2)
            self._good = 0

    async def _enter(self) -> None:
        if self._in_flight < self._limit and not self._waiting:
            self._in_flight += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # the place was given in the same tick: pass it on
                self._in_flight -= 1
                self._let_in()
            raise

    def _let_in(self) -> None:
        while self._waiting and self._in_flight < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)


class TurnedAway(BotMisconfigured):
    """The request was not sent, because one before it showed that none can succeed."""


class Turnstile:
    """Lets at most so many requests of one kind through at a time, leaving room for others, and none once it is shut.

    What the endpoint says of one kind holds for all: it is handed on to the endpoint's own limiter.

    Args:
        places: requests under way at most; a limiter that several turnstiles share, for so many through all of them.
        beyond: where they wait next: the limiter that they share with other kinds; None when there is none.
    """

    def __init__(self, places: int | Limiter, beyond: Gate | None = None) -> None:
        self.reason = ""
        self._own = places if isinstance(places, Limiter) else Limiter(places)
        self.places = self._own.limit
        self._beyond = beyond

    def lead_to(self, beyond: Gate) -> "Turnstile":
        """Put the limiter behind it that its requests share with others; gives the turnstile back."""
        self._beyond = beyond
        return self

    @property
    def waiting(self) -> int:
        """Requests in line here, before the endpoint's own limiter."""
        return self._own.waiting

    def shut(self, reason: str) -> None:
        """Turn away all that wait and all that come."""
        self.reason = reason

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Slot]:
        """Wait for a place here, then for one beyond; both waits are told. Raises TurnedAway once it is shut."""
        async with self._own.slot() as own:
            self._turn_away()
            if self._beyond is None:
                yield own
                return
            async with self._beyond.slot() as slot:
                self._turn_away()
                yield Slot(own.waited + slot.waited, slot.given_at)

    def _turn_away(self) -> None:
        if self.reason:
            raise TurnedAway(self.reason)

    def succeeded(self) -> None:
        """See ``Limiter``."""
        if self._beyond is not None:
            self._beyond.succeeded()

    def throttled(self, slot: Slot, retry_after: float | None = None) -> None:
        """See ``Limiter``."""
        if self._beyond is not None:
            self._beyond.throttled(slot, retry_after)
