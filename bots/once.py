"""Once: work that is done once for all who want it at the same time."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Does what is asked for under a key once while it goes on; the last results are kept.

    Args:
        keep: how many results.
    """

    def __init__(self, keep: int = 0) -> None:
        self._keep = keep
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._under_way: dict[Hashable, asyncio.Task[T]] = {}

    async def get(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work under this key, begun unless it goes on already; raises what the work raises."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(work())
            self._under_way[key] = task
            task.add_done_callback(lambda done: self._end(key, done))
        # Shielded, because the work is everybody's, and a cancelled caller would cancel it.
        return await asyncio.shield(task)

    def cancel(self) -> None:
        """Give up all that goes on."""
        for task in self._under_way.values():
            task.cancel()

    def _end(self, key: Hashable, task: "asyncio.Task[T]") -> None:
        del self._under_way[key]
        if task.cancelled() or task.exception() is not None:
            return
        self._kept[key] = task.result()
        while len(self._kept) > self._keep:
            self._kept.popitem(last=False)
