"""How much two token lists share: clipped n-grams, and the longest common subsequence.

Own code, because rouge-score and NLTK take seconds to import and count 26 times slower (`bench_metrics.py`); the
values are theirs, and tests hold them to it: ROUGE of rouge-score, BLEU of NLTK.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from .porter import stem
from .text import MOST_MISSING

_WORD: Final = re.compile("[a-z0-9]+")
_STEMMED_LENGTH: Final = 3  # only longer words are stemmed
_KEPT_LENGTH: Final = 40  # longer ones are no words; keeping them would cost memory without bound
_MOST_ORDERS: Final = 4


@dataclass(frozen=True, slots=True)
class NgramMatches:
    """Clipped n-gram matches for the orders 1 to 4, and the lengths of both texts in tokens."""

    matches: tuple[int, int, int, int]
    answer_length: int
    expected_length: int


def rouge_tokens(text: str) -> list[str]:
    """Runs of a-z and 0-9 after lower-casing, stemmed when longer than three letters, as rouge-score does.

    >>> rouge_tokens("The cats were running.")
    ['the', 'cat', 'were', 'run']
    """
    words = _WORD.findall(text.lower())
    return list(map(_read if max(map(len, words), default=0) <= _KEPT_LENGTH else _read.__wrapped__, words))


def words_missing(expected: str, stems: Set[str]) -> list[str]:
    """The distinct words of a text as ROUGE reads them whose stems are not among some, at most ``MOST_MISSING``.

    >>> words_missing("The cats were running.", {"the", "run"})
    ['cats', 'were']
    """
    missing: dict[str, None] = {}
    for word in _WORD.findall(expected.lower()):
        read = _read if len(word) <= _KEPT_LENGTH else _read.__wrapped__
        if read(word) not in stems:
            missing.setdefault(word[:_KEPT_LENGTH])
            if len(missing) == MOST_MISSING:
                break
    return list(missing)


@lru_cache(maxsize=65_536)
def _read(word: str) -> str:
    return stem(word) if len(word) > _STEMMED_LENGTH else word


def clipped_matches(answer: Sequence[str], expected: Sequence[str]) -> NgramMatches:
    """Matches of the answer's n-grams, each counted at most as often as the expected answer has it."""
    found = [0] * _MOST_ORDERS
    for order in range(1, _MOST_ORDERS + 1):
        found[order - 1] = shared_ngrams(answer, expected, order)
        if not found[order - 1]:
            break  # no longer n-gram can match either
    return NgramMatches((found[0], found[1], found[2], found[3]), len(answer), len(expected))


def shared_ngrams(first: Sequence[str], second: Sequence[str], order: int) -> int:
    """Size of the multiset intersection of the runs of ``order`` tokens."""
    kinds = set(_ngrams(second, order))
    common = kinds.intersection(_ngrams(first, order))
    if len(kinds) == len(second) - order + 1:
        return len(common)  # where one side repeats nothing, each common kind counts once
    first_counts, second_counts = Counter(_ngrams(first, order)), Counter(_ngrams(second, order))
    return sum([min(first_counts[kind], second_counts[kind]) for kind in common])


def _ngrams(tokens: Sequence[str], order: int) -> Iterable[Hashable]:
    """All runs of ``order`` tokens, as tuples; the tokens themselves for order 1."""
    if order == 1:
        return tokens
    return zip(*[tokens[start:] for start in range(order)], strict=False)


def common_subsequence_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence.

    The columns of the usual table are kept as bits of one whole number, so a step over a token costs
    ``len(first) / 64`` machine words instead of ``len(first)`` comparisons.

    Source: H. Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004.

    >>> common_subsequence_length("the cat sat".split(), "the dog sat".split())
    2
    """
    if first == second:
        return len(first)
    places: dict[Hashable, int] = {}
    bit = 1
    for token in first:
        places[token] = places.get(token, 0) | bit
        bit <<= 1
    everything = bit - 1
    open_places = everything  # a bit goes out where the table grows by one
    for token in second:
        if token in places:
            met = open_places & places[token]
            if met:
                open_places = ((open_places + met) | (open_places - met)) & everything
    return len(first) - open_places.bit_count()
