"""Facing: pairs of statements that are about the same thing and don't say the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .shared_pairs import shared_pairs
from .statements import Statement
from .tokens import words_of

LEAST_SHARED: Final = 0.5  # of all words that either has, numbers left out
_LEAST_HELD: Final = 0.8  # or of the shorter one's words
_RAREST: Final = 5  # words of a statement by which others are looked up, two at a time
_NEIGHBOURS: Final = 12  # in the list of those that share two rare words
_MOST_ALIKE: Final = 60  # statements that share two rare words; beyond, these are a form that says nothing
_MOST_COMMON: Final = 0.2  # share of all statements that have a word which can still be rare
_FEW: Final = 200  # statements among which no word counts as common
_MOST_PAIRS: Final = 1_000_000  # that are compared, those that share most rare words


class Facing(NamedTuple):
    """Two statements, by their places in the list, and the share of words that they have in common."""

    first: int
    second: int
    shared: float


class Faced(NamedTuple):
    """Pairs that face each other.

    Attributes:
        pairs: in the order of the list.
        left_out: how many more share rare words and were not compared.
    """

    pairs: list[Facing]
    left_out: int


def facing(told: Sequence[Statement], most: int = _MOST_PAIRS) -> Faced:
    """Pairs of statements that share most of their words, numbers aside, and differ in some.

    Of statements with the same words only the first is paired. Pairs are looked up by two of their rarest words, so
    that the time grows with the number of statements and not with its square; of these the ``most`` are compared that
    share the most rare words.
    """
    distinct, sets = _distinct(told)
    pairs, left_out = _pairs(*_keys(_rarest(sets)), len(distinct), most)
    found: list[Facing] = []
    for first, second in pairs:
        one, other = sets[first], sets[second]
        common = len(one & other)
        shared = common / len(one | other)
        if shared >= LEAST_SHARED or (common >= 3 and common >= _LEAST_HELD * min(len(one), len(other))):
            found.append(Facing(distinct[first], distinct[second], shared))
    return Faced(found, left_out)


def _distinct(told: Sequence[Statement]) -> tuple[list[int], list[frozenset[int]]]:
    """Places of statements with words of their own, and the numbers of these words; figures left out."""
    seen: set[tuple[str, tuple[int, ...]]] = set()
    numbers: dict[str, int] = {}
    figures: dict[str, int] = {}
    places: list[int] = []
    sets: list[frozenset[int]] = []
    for place, statement in enumerate(told):
        words: list[int] = []
        for word in words_of(statement.text):
            if word[0].isdigit():
                words.append(-1 - figures.setdefault(word, len(figures)))
            else:
                words.append(numbers.setdefault(word, len(numbers)))
        key = (statement.heading.casefold(), tuple(words))
        if key in seen:
            continue
        seen.add(key)
        plain = frozenset(word for word in words if word >= 0)
        if plain:
            places.append(place)
            sets.append(plain)
    return places, sets


def _rarest(sets: Sequence[frozenset[int]]) -> list[tuple[int, ...]]:
    """Of each statement the rarest words that another one has too, rarest first."""
    size = max((max(words) for words in sets), default=-1) + 1
    counts = np.zeros(size, np.int64)
    for words in sets:
        counts[list(words)] += 1
    most = max(_FEW, _MOST_COMMON * len(sets))
    held = counts.tolist()
    return [
        tuple(sorted((word for word in words if 1 < held[word] <= most), key=lambda word: (held[word], word))[:_RAREST])
        for words in sets
    ]


def _keys(rare: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    keys: list[int] = []
    owners: list[int] = []
    for owner, words in enumerate(rare):
        for place, word in enumerate(words):
            low = [(min(word, other) << 31) | max(word, other) for other in words[place + 1 :]]
            keys += low
            owners += [owner] * len(low)
        if len(words) == 1:
            keys.append((words[0] << 31) | words[0])
            owners.append(owner)
    return np.array(keys, np.int64), np.array(owners, np.int32)


def _pairs(
    keys: NDArray[np.int64], owners: NDArray[np.int32], size: int, most: int
) -> tuple[list[tuple[int, int]], int]:
    order = np.lexsort((owners, keys))
    keys, owners = keys[order], owners[order]
    _, counts = np.unique(keys, return_counts=True)
    kept = np.repeat((counts > 1) & (counts <= _MOST_ALIKE), counts)
    pairs, shared = shared_pairs(keys[kept], owners[kept], max(size, 1), _NEIGHBOURS)
    best = np.sort(np.argsort(-shared, kind="stable")[:most])
    return [(int(pair // size), int(pair % size)) for pair in pairs[best]], len(pairs) - len(best)
