"""Metrics of looping answers: repeated sentences, repeated text, compressibility."""

import zlib
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .declaration import metric
from .score import Measured, NotApplicable, Reason

# The sort key of two ranks and a position has to fit into 63 bits.
LONGEST_TEXT: Final = 2**21 - 1
# Below this length a plain search is faster than a dozen calls of numpy.
_SHORT: Final = 768

Positions = NDArray[np.int64]
Ranks = NDArray[np.int64]


def longest_repeat(text: str) -> tuple[int, int]:
    """Place and length of the longest substring with two occurrences that don't overlap; the first of equals.

    Args:
        text: at most ``LONGEST_TEXT`` characters.

    Returns:
        Where it begins and how long it is; ``(0, 0)`` when no character occurs twice.

    >>> longest_repeat("say no, say no!")
    (0, 6)
    """
    return _by_looking(text) if len(text) <= _SHORT else _by_ranks(text)


def _by_looking(text: str) -> tuple[int, int]:
    """Grow a window while it occurs again after itself; quadratic, but in C."""
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
    valid = np.flatnonzero((here >= 0) & (there >= 0))
    keys = here[valid] * (int(second.max()) + 1) + there[valid]
    return _repeated(keys, valid, length, len(first))


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


_SOURCE: Final = "H2O evaluators page, Looping detection"
_LEAST_LENGTH: Final = 10  # characters of a sentence that counts; other sentence metrics want more than 10
_SHOWN: Final = 200  # characters of a repeated piece in the details


@metric(threshold=0.75, blank_answer=Reason.NO_SENTENCES, source=_SOURCE)
def unique_sentences(answer_sentences: tuple[str, ...]) -> Measured:
    """Share of the answer's sentences of at least 10 characters that are distinct.

    Sentences are compared exactly: a paraphrase counts as a new sentence. The details name the most frequent sentence,
    if one occurs twice.

    >>> unique_sentences.score(answer="I can help with that. I can help with that. Please wait a moment.").details
    {'most_repeated': 'I can help with that.', 'times': 2}
    """
    counts = Counter(sentence for sentence in answer_sentences if len(sentence) >= _LEAST_LENGTH)
    if not counts:
        raise NotApplicable(Reason.NO_SENTENCES)
    ((sentence, times),) = counts.most_common(1)
    details = {"most_repeated": sentence[:_SHOWN], "times": times} if times > 1 else {}
    return Measured(len(counts) / counts.total(), details)


@metric(threshold=0.75, better="lower", blank_answer="not_applicable", source=_SOURCE)
def longest_repeated_substring(answer: str) -> Measured:
    """Share of the answer that its longest repeated piece covers, counting all occurrences that don't overlap.

    The piece is the longest one that occurs twice without overlapping itself, the first of equals; the value is its
    length times the number of occurrences from the left, divided by the length of the answer. It falls with length:
    answers without loops in our data give about 0.15 at 30 characters, 0.11 at 200 and 0.06 at 900. Of an answer with
    more than 2,097,151 characters only these are read, and ``truncated`` is set.

    >>> longest_repeated_substring.score(answer="no no yes").details
    {'piece': 'no ', 'length': 3, 'times': 2}
    """
    text = answer[:LONGEST_TEXT]
    place, length = longest_repeat(text)
    piece = text[place : place + length]
    times = text.count(piece) if piece else 0
    details: dict[str, object] = {"piece": piece[:_SHOWN], "length": length, "times": times} if piece else {}
    return Measured(length * times / len(text), details | ({"truncated": True} if len(text) < len(answer) else {}))


@metric(threshold=0.75, blank_answer="not_applicable", source=_SOURCE)
def compression_ratio(answer: str) -> Measured:
    """Size of the answer after compression by zlib, as a share of its size before, at most 1.

    It falls with length for any text: ordinary prose gives about 0.87 at 100 characters, 0.71 at 200 and 0.61 at
    555, so the threshold of 0.75 fails any normal answer of more than about 180 characters. Compare only answers of
    similar length, or set the threshold to 0.35 for long ones. The length is in the details.

    >>> compression_ratio(answer="Yes.")
    1.0
    """
    given = answer.encode("utf-8", "surrogatepass")
    size = len(zlib.compress(given, 9))
    details = {"characters": len(answer), "bytes": len(given), "compressed_bytes": size}
    return Measured(min(1.0, size / len(given)), details)
