"""Ids of rows: made from the content where the file gives none, and never twice."""

import hashlib
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class IdMaker:
    """Makes ids for rows that have none; the second row that would get the same one gets ``-2``, and so on.

    Only hashes are kept, and counts only for those that ``repeated`` names: a million rows stay small.
    """

    def __init__(self, repeated: frozenset[int] = frozenset()) -> None:
        self._repeated = repeated
        self._seen: Counter[int] = Counter()

    def make(self, content: str, group: Hashable = None) -> str:
        """The id for this content; the same for equal content in different groups."""
        made = made_id(content)
        key = hash((made, group))
        if key in self._repeated:
            self._seen[key] += 1
            if self._seen[key] > 1:
                return f"{made}-{self._seen[key]}"
        return made


def made_id(content: str) -> str:
    """A short id that depends on the content alone, whatever else is in the file."""
    return f"q-{hashlib.blake2b(content.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def hashes() -> "array[int]":
    """An empty list of 64-bit hashes, eight bytes each."""
    return array("q")


def repeated(hashes: "array[int]") -> frozenset[int]:
    """The hashes that occur more than once."""
    import numpy as np

    if len(hashes) < 2:
        return frozenset()
    ordered = np.sort(np.frombuffer(hashes, dtype=np.int64))
    return frozenset(ordered[1:][ordered[1:] == ordered[:-1]].tolist())


def first_clash(keys: Iterable[tuple[Key, int]], suspects: frozenset[int]) -> tuple[Key, int, int] | None:
    """The first key that comes twice, and both lines; None when only hashes were equal."""
    seen: dict[Key, int] = {}
    for key, line in keys:
        if hash(key) in suspects:
            if key in seen:
                return key, seen[key], line
            seen[key] = line
    return None
