"""Threads: plain functions run beside the event loop, with their waiting and their own time kept apart."""

import asyncio
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from ..metrics.messages import exception_line


@dataclass(frozen=True, slots=True)
class Ran:
    """What a function returned, the milliseconds it took, and those it spent waiting for us."""

    value: object
    run_ms: float
    wait_ms: float


class _Once:
    """Something that only one of two threads can have: list.pop is atomic."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = [True]

    def claim(self) -> bool:
        """True for the first who asks."""
        try:
            return self._left.pop()
        except IndexError:
            return False


@dataclass(slots=True, eq=False)
class _Job:
    call: Callable[[], object]
    future: asyncio.Future[None]
    handed_in: float
    start: _Once = field(default_factory=_Once)
    end: _Once = field(default_factory=_Once)
    value: object = None
    error: BaseException | None = None
    run_ms: float = 0.0


class Threads:
    """A pool of daemon threads for one event loop; one more is started whenever none is free.

    The standard executor costs about four times as much for each call. Its threads also hold up the exit of the
    process, and one that hangs is never replaced; here a function that is given up on loses its thread.
    """

    def __init__(self, limit: int = 1000) -> None:
        """``limit`` is the most threads that run at once."""
        self._limit = limit
        self._pool: _Pool | None = None

    async def run(self, call: Callable[[], object]) -> Ran:
        """Run the function in a thread; what it raises is raised here.

        When the waiting is cancelled, a function that has not begun never will; one that has is left alone.
        """
        loop = asyncio.get_running_loop()
        if self._pool is None or self._pool.loop is not loop:
            self.close()
            self._pool = _Pool(loop, self._limit)
        return await self._pool.run(call)

    def close(self) -> None:
        """Let the threads end as soon as they are done; nothing waits for them."""
        if self._pool is not None:
            self._pool.jobs.put(None)
            self._pool = None


class _Pool:
    """The threads of one loop. Counts are touched by the loop's thread only."""

    def __init__(self, loop: asyncio.AbstractEventLoop, limit: int) -> None:
        self.loop = loop
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._limit = limit
        self._done: deque[_Job] = deque()
        self._waking = False
        self._busy = 0
        self._threads = 0

    async def run(self, call: Callable[[], object]) -> Ran:
        job = _Job(call, self.loop.create_future(), time.perf_counter())
        self._busy += 1
        if self._busy > self._threads and self._threads < self._limit:
            self._threads += 1
            threading.Thread(target=self._work, name="proctor-bot", daemon=True).start()
        self.jobs.put(job)
        try:
            await job.future
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        whole_ms = (time.perf_counter() - job.handed_in) * 1000
        if job.error is not None:
            raise job.error
        return Ran(job.value, job.run_ms, max(whole_ms - job.run_ms, 0.0))

    def _give_up(self, job: _Job) -> None:
        """Forget a job: before it starts, or with the thread that it occupies."""
        started = not job.start.claim()
        if started and job.end.claim():
            self._threads -= 1
        self._busy -= 1

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            if not job.start.claim():
                continue
            started = time.perf_counter()
            try:
                job.value = job.call()
            except (Exception, SystemExit) as raised:  # noqa: BLE001 - the user's code; raised again in the loop
                job.error = raised
            except BaseException as raised:  # noqa: BLE001 - in the loop these would mean the end of our own tasks
                job.error = RuntimeError(exception_line(raised))
            job.run_ms = (time.perf_counter() - started) * 1000
            if not job.end.claim():
                return  # given up on meanwhile; another thread has the place
            self._deliver(job)
        self.jobs.put(None)  # the next thread is to end as well

    def _deliver(self, job: _Job) -> None:
        """Hand a job back; results that come close together wake the loop once."""
        self._done.append(job)
        if not self._waking:
            self._waking = True
            try:
                self.loop.call_soon_threadsafe(self._take_in)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self.jobs.put(None)

    def _take_in(self) -> None:
        self._waking = False  # before looking: whoever delivers from here on wakes the loop again
        while self._done:
            job = self._done.popleft()
            if not job.future.done():
                self._busy -= 1
                job.future.set_result(None)
