"""best_sentences: the sentences of a long text that bear on a claim, chosen by words that they share."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"\w+")
_CUT: Final = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_LONGEST: Final = 60  # words of a piece without a full stop: beyond, it is cut
_PIECE: Final = 45
_MOST: Final = 24  # pieces that are looked for: more never fit
_LEAST_ROOM: Final = 8
_STOP_WORDS: Final = frozenset(
    {
        *("the", "a", "an", "of", "in", "on", "at", "to", "and", "or", "is", "was", "are", "were"),
        *("be", "been", "by", "for", "with", "as", "it", "its", "that", "this", "from", "his", "her", "he"),
        *("she", "they", "them", "their", "i", "you", "we", "not", "have", "has", "had", "do", "does", "did"),
        *("but", "which", "who"),
    }
)
_ENDINGS: Final = ("ing", "ed", "es", "s", "ly")


@lru_cache(maxsize=4096)
def pieces(text: str) -> tuple[str, ...]:
    """The sentences and lines of a text; those of more than sixty words are cut, so that any fits a window."""
    found: list[str] = []
    for sentence in _CUT.split(text):
        words = sentence.split()
        while len(words) > _LONGEST:
            found.append(" ".join(words[:_PIECE]))
            words = words[_PIECE:]
        if words:
            found.append(" ".join(words))
    return tuple(found)


def ranked(query: str, texts: Sequence[str]) -> list[int]:
    """Places of the texts, best first: those that share words with the query which few share, and no other has yet."""
    bags = [_stems(text) for text in texts]
    having = Counter(stem for bag in bags for stem in bag)
    # Sorted, for a sum of floats depends on its order and a set's order is different in each process.
    wanted = sorted(stem for stem in _stems(query) if stem in having)
    weight = {stem: math.log(1 + len(texts) / (having[stem] + 0.5)) + 0.1 for stem in wanted}
    left = dict(weight)
    rest, order = list(range(len(texts))), []
    while rest and len(order) < _MOST:
        best = max(rest, key=lambda place: (_gain(bags[place], wanted, left, weight), -place))
        order.append(best)
        rest.remove(best)
        for stem in wanted:
            if stem in bags[best]:
                left[stem] *= 0.3
    return order


def best_sentences(
    query: str, text: str, tokens_of: Callable[[str], list[int]], budget: int, keep_first: bool = False
) -> list[int]:
    """Tokens of the text, or of those of its sentences that bear on the query, in their order.

    Args:
        query: the claim, with its question where it has one.
        text: any length.
        tokens_of: the tokenizer.
        budget: most tokens that are returned.
        keep_first: the first line is a title, and is kept.
    """
    whole = tokens_of(text) if len(text) <= budget * 12 else []
    if whole and len(whole) <= budget:
        return whole
    parts = pieces(text)
    order = ranked(query, parts)
    if keep_first:
        order = [0, *(place for place in order if place)]
    taken: dict[int, list[int]] = {}
    room = budget
    for place in order:
        tokens = tokens_of(parts[place])
        if len(tokens) > room and (not taken or (keep_first and set(taken) == {0})):
            tokens = tokens[:room]
        if len(tokens) <= room:
            taken[place] = tokens
            room -= len(tokens)
        if room < _LEAST_ROOM:
            break
    return [token for place in sorted(taken) for token in taken[place]]


def _gain(bag: frozenset[str], wanted: Sequence[str], left: dict[str, float], weight: dict[str, float]) -> float:
    shared = sum(left[stem] + 0.3 * weight[stem] for stem in wanted if stem in bag)
    return float(shared / (len(bag) + 8) ** 0.3)


@lru_cache(maxsize=16384)
def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
