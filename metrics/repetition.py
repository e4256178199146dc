"""Repetition: the longest piece of a text that stands in it twice without overlapping itself."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

# The sort key of two ranks and a position has to fit into 63 bits.
LONGEST_TEXT: Final = 2**21 - 1
# Below this length looking piece by piece is quicker than a dozen calls of numpy.
_SHORT: Final = 768

Positions = NDArray[np.int64]
Ranks = NDArray[np.int64]


def longest_repeat(text: str) -> tuple[int, int]:
    """Place and length of the longest substring with two occurrences that don't overlap; the first of equals.

    Args:
        text: at most ``LONGEST_TEXT`` characters.

    Returns:
        Where it begins and how long it is; ``(0, 0)`` when no character stands twice.

    >>> longest_repeat("say no, say no!")
    (0, 6)
    """
    return _by_looking(text) if len(text) <= _SHORT else _by_ranks(text)


def _by_looking(text: str) -> tuple[int, int]:
    """Grow a window while it is found again behind itself; quadratic, but in C."""
    place = length = 0
    for start in range(len(text)):
        while text.find(text[start : start + length + 1], start + length + 1) >= 0:
            place, length = start, length + 1
    return place, length


def _by_ranks(text: str) -> tuple[int, int]:
    """Double the length while something is repeated, then add ever smaller lengths: O(n log² n).

    A rank numbers the distinct substrings of one length. Positions whose substring is not repeated get -1: nothing
    that is longer, or that holds it further on, can be repeated either.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64)
    ranks = _repeated(codes, np.arange(len(codes)), 1, len(codes))
    if ranks is None:
        return 0, 0
    levels = [ranks]
    while (doubled := _joined(levels[-1], levels[-1], 2 ** (len(levels) - 1), 2 ** len(levels))) is not None:
        levels.append(doubled)
    length, ranks = 2 ** (len(levels) - 1), levels[-1]
    for level in range(len(levels) - 2, -1, -1):
        longer = _joined(ranks, levels[level], length, length + 2**level)
        if longer is not None:
            length, ranks = length + 2**level, longer
    return int(np.argmax(ranks >= 0)), length


def _joined(first: Ranks, second: Ranks, offset: int, length: int) -> Ranks | None:
    """Ranks of the substrings of ``length`` that begin like ``first`` and, ``offset`` later, go on like ``second``."""
    here = first[: max(len(first) - offset, 0)]
    there = second[offset:]
    kept = np.flatnonzero((here >= 0) & (there >= 0))
    keys = here[kept] * (int(second.max()) + 1) + there[kept]
    return _repeated(keys, kept, length, len(first))


def _repeated(keys: NDArray[np.int64], positions: Positions, length: int, size: int) -> Ranks | None:
    """Ranks by key, -1 where no two occurrences are ``length`` apart; None when that is so everywhere."""
    shift = size.bit_length()
    packed = (keys << shift) | positions
    packed.sort()
    keys, positions = packed >> shift, packed & ((1 << shift) - 1)
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    ends = np.append(starts[1:], len(keys)) - 1
    apart = positions[ends] - positions[starts] >= length if len(keys) else np.zeros(0, dtype=bool)
    if not apart.any():
        return None
    numbers = np.where(apart, np.cumsum(apart) - 1, -1)
    ranks = np.full(size, -1, dtype=np.int64)
    ranks[positions] = np.repeat(numbers, ends - starts + 1)
    return ranks
