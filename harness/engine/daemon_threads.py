"""DaemonThreads: an executor whose threads never hold up the end of the program."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

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
