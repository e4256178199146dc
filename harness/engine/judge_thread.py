"""Judge thread: a judge that reckons for itself, moved off the event loop on which bots are timed."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from .daemon_threads import DaemonThreads

if TYPE_CHECKING:
    from ...metrics.judge.call import Answer, JudgeCall
    from ...metrics.tools import Judge


class JudgeThread:
    """Hands each call to an event loop in a thread of its own, which is started by the first one.

    A judge that is asked over a network only waits; the embedded one works for milliseconds, and whatever a bot
    answers meanwhile would seem to come late.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def model_id(self) -> str:
        """The judge's."""
        return self._judge.model_id

    @property
    def embedded(self) -> bool:
        """The judge's."""
        return self._judge.embedded

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:
        """What the judge says; see ``metrics.tools.Judge``."""
        asked = asyncio.run_coroutine_threadsafe(self._judge.ask(call, vote, votes), self._open())
        return await asyncio.wrap_future(asked)

    def close(self) -> None:
        """End the thread; calls that are under way stay without an answer. It may be asked again afterwards."""
        loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_stop_all(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _open(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._loop.set_default_executor(DaemonThreads())
            self._thread = threading.Thread(target=self._loop.run_forever, name="proctor-judge", daemon=True)
            self._thread.start()
        return self._loop


async def _stop_all() -> None:
    """Cancel what is under way on this loop, and let it end."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
