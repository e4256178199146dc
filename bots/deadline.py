"""Deadline: a time limit for one question that stands still while our own limits make the question wait."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar, copy_context


class _Clock:
    """A limit of asyncio that can be stopped and started; waits that overlap count once."""

    def __init__(self, limit: asyncio.Timeout) -> None:
        self._limit = limit
        # The limit ends the task that set it, which code that runs in a context of its own may not be able to.
        self._context = copy_context()
        self._waits = 0
        self._left: float | None = None
        self.over = False

    def stop(self) -> None:
        """Keep what is left of the time."""
        self._waits += 1
        end = self._limit.when()
        if self._waits == 1 and end is not None and self._is_running():
            self._left = end - asyncio.get_running_loop().time()
            self._context.run(self._limit.reschedule, None)

    def start(self) -> None:
        """Let the time that is left run on."""
        self._waits -= 1
        if self._waits == 0 and self._left is not None and self._is_running():
            self._context.run(self._limit.reschedule, asyncio.get_running_loop().time() + self._left)
            self._left = None

    def _is_running(self) -> bool:
        return not self.over and not self._limit.expired()


_CLOCK: ContextVar[_Clock | None] = ContextVar("proctor_deadline", default=None)


@asynccontextmanager
async def deadline(seconds: float | None) -> AsyncIterator[None]:
    """Give what is inside so many seconds of its own; None sets no limit.

    Raises:
        TimeoutError: it took longer, waits in ``standing_still`` not counted.
    """
    async with asyncio.timeout(seconds) as limit:
        clock = _Clock(limit)
        token = _CLOCK.set(clock)
        try:
            yield
        finally:
            clock.over = True
            _CLOCK.reset(token)


@contextmanager
def standing_still() -> Iterator[None]:
    """What is waited for in here is our doing, and does not count against the deadline around it."""
    clock = _CLOCK.get()
    if clock is None:
        yield
        return
    clock.stop()
    try:
        yield
    finally:
        clock.start()
