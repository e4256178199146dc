"""Chance: draws that depend on what they are drawn for alone, the same on any machine and in any order."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Final, TypeVar

Item = TypeVar("Item")

_RANGE: Final = 2**64


class Chance:
    """A stream of random numbers made by hashing; equal parts give an equal stream.

    Args:
        parts: texts and numbers that name what is drawn: the seed, the question, the kind.
    """

    def __init__(self, *parts: str | float) -> None:
        self._key = blake2b(json.dumps(parts).encode(), digest_size=32).digest()
        self._block = 0
        self._left: list[int] = []

    def below(self, bound: int) -> int:
        """A whole number from 0 to ``bound`` - 1, each equally likely."""
        fair = _RANGE - _RANGE % bound
        while (drawn := self._next()) >= fair:
            pass
        return drawn % bound

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item], most: int | None = None) -> list[Item]:
        """The items in random order; the first ``most`` of that order."""
        left = list(items)
        count = len(left) if most is None else min(most, len(left))
        for place in range(count):
            other = place + self.below(len(left) - place)
            left[place], left[other] = left[other], left[place]
        return left[:count]

    def _next(self) -> int:
        if not self._left:
            block = blake2b(self._block.to_bytes(8, "big"), key=self._key).digest()
            self._block += 1
            self._left = [int.from_bytes(block[start : start + 8], "big") for start in range(0, len(block), 8)]
        return self._left.pop()
