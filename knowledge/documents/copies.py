"""Copies: which documents share text word for word, wholly or in part, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .document import Document

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
    """The spans of the lines of a text, without blanks at their ends; blank lines are left out."""
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


Counts = NDArray[np.int64]


def shared_pairs(
    values: NDArray[np.int64] | NDArray[np.uint64], owners: NDArray[np.int32], size: int, neighbours: int
) -> tuple[Counts, Counts]:
    """Pairs of owners that have a value in common, and how many values that is.

    Args:
        values: sorted, so that equal ones stand together.
        owners: of each value a number below ``size``; those of one value in order.
        size: how many owners there are.
        neighbours: how far apart two of one value may stand to be paired.

    Returns:
        The pairs, each as ``first * size + second``, ascending, and their counts; both of shape (pairs,).
    """
    pairs, counts = np.empty(0, np.int64), np.empty(0, np.int64)
    for lag in range(1, neighbours + 1):
        same = values[lag:] == values[:-lag]
        if not same.any():
            break
        found = owners[:-lag][same].astype(np.int64) * size + owners[lag:][same]
        pairs, counts = _added(pairs, counts, *np.unique(found, return_counts=True))
    return pairs, counts


def _added(pairs: Counts, counts: Counts, more: Counts, more_counts: Counts) -> tuple[Counts, Counts]:
    every, places = np.unique(np.concatenate([pairs, more]), return_inverse=True)
    return every, np.bincount(places, np.concatenate([counts, more_counts]), len(every)).astype(np.int64)


SHINGLE: Final = 5  # words in a row that two texts share by chance only in set phrases
LEAST_STRETCH: Final = 12  # words; shorter ones are set phrases
_LEAST_SHARED: Final = 12  # shingles that two documents must share to be looked at
_SHARED: Final = 0.8  # of the shorter passage's shingles, that one like it has
_GAP: Final = 8  # words that may differ within a stretch
_MOST_DOCUMENTS: Final = 20  # that share a shingle; beyond, it is a form of words that all of them use
_MOST_PAIRS: Final = 20_000  # that are looked at, those that share most
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)

Hashes = NDArray[np.uint64]
_NOTHING: Final = np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of text that stands at two places, in characters of each."""

    start: int
    end: int
    other_start: int
    other_end: int
    words: int


@dataclass(frozen=True, slots=True)
class Copied:
    """Two documents, or one with itself, that share text.

    Attributes:
        first: id of the document that comes first.
        second: id of the other; the same for what stands twice in one document.
        share: of the words of the shorter document that stand in the other; set phrases of many documents don't count.
        words: how many that are.
        of_longer: share of the words of the longer document that are shared.
        same: whether the two have the same words from beginning to end.
        stretches: where, longest first; in characters.
    """

    first: str
    second: str
    share: float
    words: int
    of_longer: float
    same: bool
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, eq=False)
class _Page:
    id: str
    tokens: Tokens
    text_length: int

    @cached_property
    def hashes(self) -> Hashes:
        return shingles(self.tokens.ids)


def shingles(ids: NDArray[np.int32]) -> Hashes:
    """A number for every ``SHINGLE`` words in a row; shape (words - SHINGLE + 1,), empty for shorter texts."""
    count = len(ids) - SHINGLE + 1
    if count < 1:
        return _NOTHING
    words = ids.astype(np.uint64) + np.uint64(1)
    mixed = np.zeros(count, np.uint64)
    for place in range(SHINGLE):
        mixed = (mixed ^ words[place : place + count]) * _FACTOR
        mixed ^= mixed >> np.uint64(29)
    return mixed


class CopyFinder:
    """Finds what documents share.

    Args:
        documents: all of them.
        ignored: by id, spans that are not compared (boilerplate), sorted and apart.

    Attributes:
        left_out: once copies were found, how many pairs that share less than others were not looked at.
    """

    def __init__(
        self, documents: Sequence[Document], ignored: Mapping[str, Sequence[tuple[int, int]]] | None = None
    ) -> None:
        vocabulary = Vocabulary()
        left_out = ignored or {}
        self._pages = [
            _Page(one.id, vocabulary.read(one.text).without(left_out.get(one.id, ())), len(one.text))
            for one in documents
        ]
        self.left_out = 0

    def find(self) -> tuple[Copied, ...]:
        """All pairs that share at least a stretch, in the order of the documents.

        Of several documents with the same words each later one is paired with the first, which stands for all of
        them with others.
        """
        first_of: dict[bytes, int] = {}
        pairs: list[tuple[int, int, Copied]] = []
        distinct: list[int] = []
        for number, page in enumerate(self._pages):
            if not len(page.tokens):
                continue
            before = first_of.setdefault(page.tokens.ids.tobytes(), number)
            if before == number:
                distinct.append(number)
            else:
                pairs.append((before, number, _whole(self._pages[before], page)))
        table = _ShingleTable([self._pages[number] for number in distinct])
        looked_at, self.left_out = table.pairs()
        for first, second in looked_at:
            found = _compared(self._pages[distinct[first]], self._pages[distinct[second]], table.common)
            pairs += [(distinct[first], distinct[second], found)] if found else []
        return tuple(found for _, _, found in sorted(pairs, key=lambda one: one[:2]))


def _whole(first: _Page, second: _Page) -> Copied:
    words = len(first.tokens)
    ends = (first.tokens, second.tokens)
    spans = [(int(one.starts[0]), int(one.ends[-1])) for one in ends]
    return Copied(first.id, second.id, 1.0, words, 1.0, True, (Stretch(*spans[0], *spans[1], words),))


class _ShingleTable:
    """All shingles of all pages, sorted, so that equal ones stand together."""

    def __init__(self, pages: Sequence[_Page]) -> None:
        counts = [len(page.hashes) for page in pages]
        owners = np.repeat(np.arange(len(pages), dtype=np.int32), counts)
        hashes = np.concatenate([page.hashes for page in pages]) if pages else _NOTHING
        order = np.lexsort((owners, hashes))
        hashes, owners = hashes[order], owners[order]
        self._repeated = self._within(hashes, owners)
        new = np.ones(len(hashes), bool)
        new[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
        hashes, owners = hashes[new], owners[new]
        values, sizes = np.unique(hashes, return_counts=True)
        self.common = values[sizes > _MOST_DOCUMENTS]
        kept = np.repeat((sizes > 1) & (sizes <= _MOST_DOCUMENTS), sizes)
        self._hashes, self._owners = hashes[kept], owners[kept]
        self._pages = len(pages)

    def pairs(self) -> tuple[list[tuple[int, int]], int]:
        """Numbers of pages that share enough to be looked at, and how many pairs more there are.

        Those that share the most come first; a page may be with itself.
        """
        size = max(self._pages, 1)
        keys, counts = shared_pairs(self._hashes, self._owners, size, _MOST_DOCUMENTS - 1)
        enough = counts >= _LEAST_SHARED
        keys, counts = keys[enough], counts[enough]
        best = np.argsort(-counts, kind="stable")[:_MOST_PAIRS]
        across = [(int(key // size), int(key % size)) for key in keys[best]]
        return across + [(page, page) for page in self._repeated], len(keys) - len(best)

    @staticmethod
    def _within(hashes: Hashes, owners: NDArray[np.int32]) -> list[int]:
        """Pages that have enough shingles twice."""
        again = owners[1:][(hashes[1:] == hashes[:-1]) & (owners[1:] == owners[:-1])]
        pages, counts = np.unique(again, return_counts=True)
        return [int(page) for page in pages[counts >= _LEAST_SHARED]]


def _compared(first: _Page, second: _Page, common: Hashes) -> Copied | None:
    mine, theirs = _matches(first, second, common)
    runs = list(_runs(mine, theirs, len(first.tokens), len(second.tokens)))
    if first is second:
        runs = [run for run in map(_apart, runs) if run[1] - run[0] >= LEAST_STRETCH]
    if not runs:
        return None
    sizes = [_own_words(page, common) for page in (first, second)]
    covered = [sum(run[1] - run[0] for run in runs), sum(run[3] - run[2] for run in runs)]
    shorter = 0 if sizes[0] <= sizes[1] else 1
    shares = [min(1.0, words / size) if size else 0.0 for words, size in zip(covered, sizes, strict=True)]
    stretches = [_stretch(first.tokens, second.tokens, run) for run in runs]
    stretches.sort(key=lambda one: (-one.words, one.start))
    return Copied(first.id, second.id, shares[shorter], covered[shorter], shares[1 - shorter], False, tuple(stretches))


def _own_words(page: _Page, common: Hashes) -> int:
    """Words of a page that stand in no form of words which many use."""
    if not len(common):
        return len(page.tokens)
    shared = np.isin(page.hashes, common, assume_unique=False)
    covered = np.zeros(len(page.tokens), bool)
    for place in range(SHINGLE):
        covered[place : place + len(shared)] |= shared
    return int((~covered).sum())


def _matches(first: _Page, second: _Page, common: Hashes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of the first page's shingles that the second has, and where: for one page with itself, the next place."""
    ours, theirs = first.hashes, second.hashes
    order = np.argsort(theirs, kind="stable")
    if first is second:
        here, there = order[:-1], order[1:]
        equal = theirs[here] == theirs[there]
        here, there = here[equal], there[equal]
        by_place = np.argsort(here, kind="stable")
        return here[by_place], there[by_place]
    place = np.searchsorted(theirs[order], ours)
    place = np.minimum(place, len(theirs) - 1)
    held = (theirs[order][place] == ours) & ~np.isin(ours, common)
    return np.flatnonzero(held), order[place][held]


def _runs(
    mine: NDArray[np.intp], theirs: NDArray[np.intp], length: int, other_length: int
) -> Iterator[tuple[int, int, int, int]]:
    """Stretches, in words: from and to in the first, then in the second; no word of the first is in two."""
    if not len(mine):
        return
    ahead, shift = np.diff(mine), np.diff(theirs)
    breaks = np.flatnonzero((ahead > SHINGLE + _GAP) | (shift < 1) | (shift > SHINGLE + _GAP)) + 1
    reached = 0
    for part, other in zip(np.split(mine, breaks), np.split(theirs, breaks), strict=True):
        start, end = max(int(part[0]), reached), min(int(part[-1]) + SHINGLE, length)
        other_start, other_end = int(other[0]), min(int(other[-1]) + SHINGLE, other_length)
        if end - start >= LEAST_STRETCH and other_end - other_start >= LEAST_STRETCH:
            reached = end
            yield start, end, other_start, other_end


def _apart(run: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """As much of a stretch of one document as ends before it is repeated."""
    start, end, other_start, other_end = run
    length = min(end - start, other_start - start, other_end - other_start)
    return start, start + length, other_start, other_start + length


def _stretch(first: Tokens, second: Tokens, run: tuple[int, int, int, int]) -> Stretch:
    start, end, other_start, other_end = run
    return Stretch(
        int(first.starts[start]),
        int(first.ends[end - 1]),
        int(second.starts[other_start]),
        int(second.ends[other_end - 1]),
        end - start,
    )


class PassageFingerprints:
    """Tells passages that are copies of one another; each distinct text is read once."""

    def __init__(self) -> None:
        self._vocabulary = Vocabulary()
        self._known: dict[str, frozenset[int]] = {}

    def are_copies(self, first: str, second: str) -> bool:
        """Whether most of what the shorter of two passages says stands in the other, word by word."""
        one, other = self._print(first), self._print(second)
        fewer = min(len(one), len(other))
        return fewer > 0 and len(one & other) >= _SHARED * fewer

    def _print(self, text: str) -> frozenset[int]:
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = frozenset(shingles(self._vocabulary.read(text).ids).tolist())
        return found
