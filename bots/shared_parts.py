"""SharedParts: a model and an index that several bots use, opened by the first of them and closed by the last."""

from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from .chat.limits import SingleFlight

T = TypeVar("T")


class SharedParts(Generic[T]):
    """Parts that are opened once for all bots that use them. Bots that were garbage-collected do not count.

    Args:
        opens: opens the parts; a failure is raised to all who wait for it, and the next call tries again.
        closes: releases what is open and what was never opened.
    """

    def __init__(
        self, opens: Callable[[], Coroutine[Any, Any, T]], closes: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._opens = opens
        self._closes = closes
        self._users: WeakSet[object] = WeakSet()
        self._opening: SingleFlight[T] = SingleFlight()
        self._opened: T | None = None

    def add(self, user: object) -> None:
        """Keep the parts for this bot until it leaves."""
        self._users.add(user)

    async def open(self, user: object) -> T:
        """The parts, opened now if they are not, and kept for this bot until it leaves."""
        self.add(user)
        opened = self._opened
        if opened is None:
            opened = await self._opening.get(None, self._opens)
            if user in self._users:
                self._opened = opened
        return opened

    async def leave(self, user: object) -> None:
        """This bot no longer needs the parts: they are closed when it was the last."""
        if user not in self._users:
            return
        self._users.discard(user)
        if not self._users:
            self._opened = None
            self._opening.cancel()
            await self._closes()
