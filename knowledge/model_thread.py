"""ModelThread: the one thread that runs a model on texts, and the queues before it."""

import contextlib
import logging
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from .model_requests import Request, Runner, VectorKeeper
from .vector_memory import VectorMemory

CHARACTERS_A_BATCH: Final = 4096  # handed to an encoder at once: more than enough for full speed on one core
_SORTED_TOGETHER = 512  # texts put in order of length before they are batched; none waits for more than these
_SAVED_TOGETHER = 256
NICENESS = 10  # of a thread that stepped back: about a tenth of a processor for which others fight
_GATHERED_SECONDS = 0.03  # for which a thread that stepped back lets texts come together: full batches cost less
_IDLE_SECONDS = 0.5  # without work, before what is unsaved is saved

_CLOSED: Final = "The model was closed."


@dataclass(slots=True, eq=False)
class _Job:
    text: str
    key: bytes | None
    takers: list[tuple[Request, int]] = field(default_factory=list)

    def is_wanted(self) -> bool:
        return not all(request.done.done() for request, _ in self.takers)


Opened = TypeVar("Opened", bound=Runner)


class ModelThread(Generic[Opened]):
    """Takes requests from any thread. Starts with the first one; the model is opened when a text needs it."""

    def __init__(
        self,
        open_model: Callable[[], Opened],
        model_id: str,
        keeper: VectorKeeper | None,
        memory_bytes: int,
        max_batch: int,
        max_characters: int = CHARACTERS_A_BATCH,
    ) -> None:
        self._open_model = open_model
        self._model_id = model_id
        self._keeper = keeper
        self._max_batch = max_batch
        self._max_characters = max_characters
        self._memory = VectorMemory(memory_bytes)
        self._change = threading.Condition()  # guards all below but the last three, which are the thread's own
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._open_wanted = False
        self._steps_back = False
        self._in_flight: dict[bytes, _Job] = {}
        self._arrived: deque[_Job] = deque()
        self._model: Future[Opened] = Future()
        self._looked_up: deque[_Job] = deque()
        self._sorted: deque[_Job] = deque()
        self._unsaved: list[tuple[bytes, bytes]] = []

    def submit(self, request: Request) -> None:
        """Queue what is not in memory and not in flight already. Raises RuntimeError after ``stop``."""
        with self._change:
            self._start()
            for place, (text, key) in enumerate(zip(request.texts, request.keys, strict=True)):
                known = self._memory.get(key) if key is not None else None
                if known is not None:
                    request.fill(place, known)
                    continue
                job = self._in_flight.get(key) if key is not None else None
                if job is None:
                    job = _Job(text, key)
                    self._arrived.append(job)
                    if key is not None:
                        self._in_flight[key] = job
                job.takers.append((request, place))
            self._change.notify()

    def model(self) -> Future[Opened]:
        """The model, opened now if it was not. To be shared: don't cancel it."""
        with self._change:
            if not self._model.done():
                self._start()
                self._open_wanted = True
                self._change.notify()
        return self._model

    def step_back(self) -> None:
        """Let other threads go before, on systems where a thread can be told to (Linux)."""
        with self._change:
            self._steps_back = True

    def stop(self) -> None:
        """End after the batch in progress, save what is not saved, fail those who still wait, and drop the model."""
        with self._change:
            self._stopping = True
            self._change.notify()
        # The garbage collector may call this from the thread itself.
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        closed = RuntimeError(_CLOSED)
        self._fail([*self._arrived, *self._looked_up, *self._sorted], closed)
        opened, self._model = self._model, Future()  # whoever still holds this object no longer holds the model
        self._model.set_exception(closed)
        if not opened.done():
            opened.set_exception(closed)

    def _start(self) -> None:
        if self._stopping:
            raise RuntimeError(_CLOSED)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="model", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        is_back = False
        while self._await_work():
            if self._steps_back and not is_back:
                is_back = True
                _step_back()
            if is_back and not self._looked_up and not self._sorted and len(self._arrived) < self._max_batch:
                time.sleep(_GATHERED_SECONDS)
            if self._open_wanted:
                self._open_wanted = False
                self._open()
                continue  # to open may have taken long enough to be stopped meanwhile
            self._look_up(self._take_arrived())
            if batch := self._next_batch():
                self._run_batch(batch)
            if len(self._unsaved) >= _SAVED_TOGETHER:
                self._save()
        self._save()

    def _await_work(self) -> bool:
        """Wait for something to do; False when it is time to stop."""
        with self._change:
            if self._change.wait_for(self._has_work, _IDLE_SECONDS if self._unsaved else None):
                return not self._stopping
        self._save()
        return True

    def _has_work(self) -> bool:
        queues = (self._arrived, self._looked_up, self._sorted)
        return self._stopping or self._open_wanted or any(queues)

    def _take_arrived(self) -> list[_Job]:
        with self._change:
            jobs = list(self._arrived)
            self._arrived.clear()
        return jobs

    def _look_up(self, jobs: list[_Job]) -> None:
        keys = [job.key for job in jobs if job.key is not None]
        kept: dict[bytes, bytes] = {}
        if keys and self._keeper is not None:
            try:
                kept = self._keeper.load(self._model_id, keys)
            except Exception as error:  # noqa: BLE001 - a keeper is given from outside, and we can do without
                self._do_without_keeper("read", error)
        found: list[tuple[_Job, bytes]] = []
        for job in jobs:
            packed = kept.get(job.key) if job.key is not None else None
            if packed is not None and len(packed) > 1 and len(packed) % 4 == 1:
                found.append((job, packed))
            else:
                self._looked_up.append(job)
        self._finish(found)

    def _next_batch(self) -> list[_Job]:
        with self._change:
            if not self._sorted:
                count = min(len(self._looked_up), _SORTED_TOGETHER)
                together = [self._looked_up.popleft() for _ in range(count)]
                self._sorted.extend(sorted(together, key=lambda job: len(job.text)))
            return self._take()

    def _take(self) -> list[_Job]:
        queue = self._sorted
        batch: list[_Job] = []
        characters = 0
        while queue and len(batch) < self._max_batch:
            if not queue[0].is_wanted():
                self._forget(queue.popleft())
                continue
            characters += len(queue[0].text)
            if batch and characters > self._max_characters:
                break
            batch.append(queue.popleft())
        return batch

    def _forget(self, job: _Job) -> None:
        if job.key is not None:
            self._in_flight.pop(job.key, None)

    def _open(self) -> None:
        if self._model.done():
            return
        try:
            self._model.set_result(self._open_model())
        except BaseException as error:  # noqa: BLE001 - every caller is told, now and later
            self._model.set_exception(error)

    def _run_batch(self, batch: list[_Job]) -> None:
        try:
            self._open()
            if self._stopping:
                raise RuntimeError(_CLOSED)  # noqa: TRY301
            packed = self._model.result().run([job.text for job in batch])
            if len(packed) != len(batch):
                raise ValueError(f"{self._model_id} gave {len(packed)} results for {len(batch)} texts.")  # noqa: TRY301
        except BaseException as error:  # noqa: BLE001 - a failing model fails those who wait for it, not the thread
            self._fail(batch, error)
            return
        if self._keeper is not None:
            self._unsaved += [(job.key, value) for job, value in zip(batch, packed, strict=True) if job.key]
        self._finish(zip(batch, packed, strict=True))

    def _finish(self, jobs: Iterable[tuple[_Job, bytes]]) -> None:
        with self._change:
            for job, packed in jobs:
                self._forget(job)
                if job.key is not None:
                    self._memory.put(job.key, packed)
                for request, place in job.takers:
                    request.fill(place, packed)

    def _fail(self, jobs: list[_Job], error: BaseException) -> None:
        with self._change:
            for job in jobs:
                self._forget(job)
                for request, _ in job.takers:
                    request.fail(error)

    def _save(self) -> None:
        items, self._unsaved = self._unsaved, []
        if items and self._keeper is not None:
            try:
                self._keeper.save(self._model_id, items)
            except Exception as error:  # noqa: BLE001 - a keeper is given from outside, and we can do without
                self._do_without_keeper("written", error)

    def _do_without_keeper(self, what: str, error: Exception) -> None:
        self._keeper = None
        logging.getLogger(__name__).warning(
            "Kept vectors can't be %s (%s: %s); texts are embedded again.", what, type(error).__name__, error
        )


def _step_back() -> None:
    if sys.platform == "linux":  # where priorities belong to threads
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
