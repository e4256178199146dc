"""Interrupts: Ctrl-C and SIGTERM end a run cleanly; threads and settings of the interpreter while one is under way."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import FrameType, TracebackType
from typing import Any, Final, ParamSpec, Self, TypeVar

from .isolation import close_loop, new_loop, run_until_done, steady_recursion_limit

Taken = ParamSpec("Taken")
Given = TypeVar("Given")


class DaemonThreads(ThreadPoolExecutor):
    """For an event loop whose bots wait in threads, such as chains of LangChain that are not asynchronous.

    One more thread starts whenever none is free, so that no question waits for a thread. The standard executor waits
    at the end for a function that hangs, for ever, although its question was given up on long ago; this one does not.
    """

    def __init__(self, limit: int = 1000) -> None:
        """``limit`` is the most threads at once, those included that hang."""
        super().__init__(1)
        self._limit = limit
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._free = threading.Semaphore(0)
        self._started = 0

    def submit(
        self, function: Callable[Taken, Given], /, *arguments: Taken.args, **options: Taken.kwargs
    ) -> Future[Given]:
        """Run the function in a thread."""
        future: Future[Given] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                given = function(*arguments, **options)
            except BaseException as error:  # noqa: BLE001 - raised again where the result is awaited
                future.set_exception(error)
            else:
                future.set_result(given)

        self._jobs.put(job)
        if not self._free.acquire(blocking=False) and self._started < self._limit:
            self._started += 1
            threading.Thread(target=self._work, name="proctor-waiting", daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - as in the base
        """Let threads end as soon as they are done; nothing waits for them."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # or it would be held until the next one comes
            self._free.release()
        self._jobs.put(None)  # the next thread is to end as well


SIGNALS = (signal.SIGINT, signal.SIGTERM)
PATIENCE = 3  # so many ask for an end that waits for nothing; what was committed is safe even so
EXIT = 130


class Stop:
    """Ends from another thread what goes on in this one: a notebook's Ctrl-C never reaches the thread of a run.

    It is found through ``STOP`` by whatever runs in the context in which that was set.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._running: list[Interrupts] = []

    def ask(self) -> None:
        """End what is running, and all that would begin later."""
        self.wanted = True
        for running in list(self._running):
            running.stop()

    def begins(self, running: Interrupts) -> None:
        """Have it ended with the others."""
        self._running.append(running)

    def ended(self, running: Interrupts) -> None:
        """Forget it."""
        self._running.remove(running)


STOP: contextvars.ContextVar[Stop | None] = contextvars.ContextVar("proctor_stop", default=None)


class Interrupts:
    """While it is entered, signals never raise in the middle of whatever is going on.

    ``asyncio.run`` alone raises KeyboardInterrupt at the second Ctrl-C wherever the loop stands, and a callback that
    gets lost there leaves a task that never ends. The first it lets cancel the work in the middle of whatever callback
    is running: a future that has just been found to be waiting is cancelled before its result is set. Here each signal
    has the loop cancel the work between two callbacks; the third leaves at once.

    What bots and metrics do to the loop does not end the work: see ``apart``.
    """

    def __init__(self) -> None:
        self._count = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None
        self._before: dict[signal.Signals, Any] = {}
        self._context = contextvars.copy_context()  # a signal may come while code of users runs in one of its own
        self._stop = STOP.get()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():  # no other may set handlers
            self._before = {each: signal.signal(each, self._came) for each in SIGNALS}
        if self._stop is not None:
            self._stop.begins(self)
            if self._stop.wanted:
                self.stop()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)
        if self._stop is not None:
            self._stop.ended(self)

    def stop(self) -> None:
        """Cancel the work as a signal does, from any thread; asking again changes nothing."""
        self._count = max(self._count, 1)
        self._cancel()

    def run(self, work: Coroutine[Any, Any, Given]) -> Given:
        """As ``asyncio.run``; raises KeyboardInterrupt when the work was cancelled by a signal."""
        loop = new_loop()
        try:
            asyncio.set_event_loop(loop)
            with steady_recursion_limit():
                return run_until_done(loop, self._watched(work), self._interrupted)
        except asyncio.CancelledError:
            if self._count:
                raise KeyboardInterrupt from None
            raise
        finally:
            asyncio.set_event_loop(None)
            close_loop(loop)

    async def _watched(self, work: Coroutine[Any, Any, Given]) -> Given:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._count:  # it came before there was anything to cancel
            self._cancel()
        try:
            return await work
        finally:
            self._loop = self._task = None

    def _came(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - the form of a handler
        self._count += 1
        if self._count >= PATIENCE:
            os._exit(EXIT)
        self._cancel()

    def _interrupted(self) -> None:
        """A KeyboardInterrupt came out of the loop: the user's own where a bot took our handlers away."""
        if self._before and signal.getsignal(signal.SIGINT) != self._came:
            self._came(signal.SIGINT, None)

    def _cancel(self) -> None:
        task, loop = self._task, self._loop  # another thread may end them meanwhile
        if task is not None and loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: there is nothing left to cancel
                loop.call_soon_threadsafe(task.cancel, context=self._context)  # which also wakes the loop


TURN = 0.0005  # seconds until a thread that waits for the interpreter gets it, where Python has 0.005


@dataclass(slots=True)
class _Runs:
    """Runs under way in this process, and the interval between turns of threads before the first of them."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    under_way: int = 0
    interval: float = 0.0


_RUNS: Final = _Runs()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let threads hand over the interpreter sooner, and undo at the end what ``settle`` did.

    The event loop gives the interpreter away with every packet that it sends or receives. With hundreds of requests
    under way it would wait a whole turn for it each time that the writer or the embedder is at work.
    """
    with _RUNS.lock:
        _RUNS.under_way += 1
        if _RUNS.under_way == 1:
            _RUNS.interval = sys.getswitchinterval()
            sys.setswitchinterval(min(_RUNS.interval, TURN))
    try:
        yield
    finally:
        with _RUNS.lock:
            _RUNS.under_way -= 1
            if not _RUNS.under_way:  # of runs in several threads the last puts back what the first found
                sys.setswitchinterval(_RUNS.interval)
                gc.unfreeze()


def settle() -> None:
    """Take all that is loaded by now out of the garbage collector's sight.

    Client libraries bring hundreds of thousands of objects that stay. Looking through them takes a tenth of a second
    each time, in which no answer is read; requests by the hundred make it look often.
    """
    gc.freeze()
