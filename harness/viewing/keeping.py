"""Keeping: what was made of a database and still holds, so that no page is worked out twice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

Made = TypeVar("Made")

MOST_BYTES: Final = 128 * 1024**2


class Kept(Generic[Made]):
    """Things by a key that changes with all that they were made of; the one that lay longest goes first.

    Args:
        most: how much is kept, by the measure of ``size``.
        size: how much a thing takes; left out, each counts as one.
    """

    def __init__(self, most: int, size: Callable[[Made], int] = lambda _: 1) -> None:
        self._most = most
        self._size = size
        self._total = 0
        self._things: OrderedDict[Hashable, Made] = OrderedDict()
        self._turns: dict[Hashable, threading.Lock] = {}  # of what is being made
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The thing of that key, made where it is not there; what ``make`` raises is not kept.

        Whoever wants what another is making waits for it: a reader who loads a slow page again costs nothing.
        """
        with self._lock:
            if key in self._things:
                return self._found(key)
            turn = self._turns.setdefault(key, threading.Lock())
        with turn:
            with self._lock:
                if key in self._things:
                    return self._found(key)
            try:
                made = make()
                with self._lock:
                    self._keep(key, made)
            finally:
                with self._lock:
                    self._turns.pop(key, None)
        return made

    def _found(self, key: Hashable) -> Made:
        self._things.move_to_end(key)
        return self._things[key]

    def _keep(self, key: Hashable, made: Made) -> None:
        if key not in self._things:  # it may be, where a first try was in vain and two others began
            self._things[key] = made
            self._total += self._size(made)
        while self._total > self._most and len(self._things) > 1:
            _, gone = self._things.popitem(last=False)
            self._total -= self._size(gone)
