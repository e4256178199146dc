"""Tokens: the words of documents as numbers, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
"""Letters of scripts that put no blanks between words, for a class of a pattern; they are read sign by sign."""
_WORD: Final = re.compile(rf"[{UNSPACED}]|\d+(?:[.,]\d+)*|[^\W\d_{UNSPACED}]+")
_LONGEST_WORD: Final = 64  # characters that tell a word from others; longer ones are no words


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The words of one text.

    Attributes:
        ids: one number for each distinct word, shape (words,), int32.
        starts: where each begins, in characters, int32.
        ends: where each ends.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.ids)

    def without(self, spans: Sequence[tuple[int, int]]) -> Tokens:
        """Those that begin in none of the spans, which are sorted and don't overlap."""
        if not spans or not len(self):
            return self
        begins = np.array([start for start, _ in spans])
        finishes = np.array([end for _, end in spans])
        place = np.searchsorted(begins, self.starts, side="right") - 1
        kept = (place < 0) | (self.starts >= finishes[place])
        return Tokens(self.ids[kept], self.starts[kept], self.ends[kept])


class Vocabulary:
    """Gives every distinct word a number, in the order in which they are met; letter case counts for nothing."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def read(self, text: str) -> Tokens:
        """The words of a text."""
        numbers = self.numbers
        ids: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        for found in _WORD.finditer(text):
            ids.append(numbers.setdefault(found[0][:_LONGEST_WORD].casefold(), len(numbers)))
            starts.append(found.start())
            ends.append(found.end())
        return Tokens(np.array(ids, np.int32), np.array(starts, np.int32), np.array(ends, np.int32))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words_of("A full service: 119.50 euros")
    ['a', 'full', 'service', '119.50', 'euros']
    """
    return [found[0][:_LONGEST_WORD].casefold() for found in _WORD.finditer(text)]


def lines_of(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines of a text stand, without blanks at their ends; blank lines are left out."""
    start = 0
    for line in text.split("\n"):
        bare = line.strip()
        if bare:
            begin = start + line.index(bare)
            yield begin, begin + len(bare)
        start += len(line) + 1


def joined_spans(spans: Iterable[tuple[int, int]], apart: int = 0) -> list[tuple[int, int]]:
    """The spans in order, those that touch or stand at most ``apart`` characters from each other made one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= apart:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found
