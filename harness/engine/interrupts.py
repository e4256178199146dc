"""Interrupts: Ctrl-C, SIGTERM, or another thread end a run cleanly, however often they come."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import signal
import threading
from collections.abc import Coroutine
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from .apart import close_loop, new_loop, run_until_done, steady_recursion_limit

Given = TypeVar("Given")
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
