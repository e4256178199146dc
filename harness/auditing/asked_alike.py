"""Asked alike: which questions of a set ask the same, in the same words or in others.

Two questions are near when their vectors are and nothing speaks against it: numbers, dates and names are the same, both
deny or neither, they ask for the same sort of thing (who, when, where, why), and each word that only one of them has
comes near to one that only the other has. So "the price of a tandem" and "the price of a trailer" are two questions.

``NEAR`` was chosen on one half of three sets of pairs (questions about an epidemic that experts paired, paraphrases of
technical questions, customers' questions by intent) and measured on the other (``tests/benchmarks/prove_audit.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...metrics.judge.embedded.signals import opposites
from ...metrics.judge.embedded.spelling import likeness
from ...metrics.judge.embedded.wording import Wording, wording

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder

NEAR: Final = 0.88  # cosine from which two questions may ask the same
ALIKE: Final = 0.45  # cosine from which a word may stand for another
_MOST_EXTRA: Final = 3  # content words that one of them has and the other lacks
_ROWS_AT_ONCE: Final = 512
_MOST_NEIGHBOURS: Final = 50  # of a question; a set of a template filled in ten thousand times has millions of pairs
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001
_ASKS: Final = frozenset({"who", "whom", "whose", "when", "where", "why", "which"})
_MEASURES: Final = frozenset({"much", "many", "long", "often", "far", "old", "big", "high"})


@dataclass(frozen=True, slots=True)
class Alike:
    """Two questions that ask the same, by their places.

    Attributes:
        first: place of the one that comes first.
        second: place of the other.
        cosine: of their vectors.
        equal: whether they are the same but for letter case, punctuation and blanks.
        exact: whether each content word of the one has its counterpart in the other, and those of both stand in the
            same order: from here to there is not from there to here.
    """

    first: int
    second: int
    cosine: float
    equal: bool
    exact: bool


def asked(text: str) -> str:
    """A question without letter case, punctuation and blanks, in which equal ones are equal.

    >>> asked("How do I reset  my PIN?") == asked("how do i reset my pin")
    True
    """
    return " ".join(_WORD.findall(text.casefold())) or " ".join(text.split())


def find_alike(
    texts: Sequence[str], embedder: BatchingEmbedder, least: float = NEAR, split: int | None = None
) -> list[Alike]:
    """All pairs of texts that ask the same, in order of their places; blocks while it embeds.

    Args:
        texts: the questions.
        embedder: of questions and words.
        least: cosine from which two may ask the same.
        split: only pairs of a text before this place with one from it on.
    """
    if len(texts) < 2:
        return []
    vectors = embedder.embed_now([text or " " for text in texts], keep=True).vectors
    plain = [asked(text) for text in texts]
    near = list(_near_pairs(vectors, plain, least, split))
    words = sorted({word for one, other, _ in near for word in _to_embed(texts[one], texts[other])})
    known = dict(zip(words, embedder.embed_now(words, keep=True).vectors, strict=True)) if words else {}
    found = []
    for one, other, cosine in near:
        if plain[one] == plain[other]:
            found.append(Alike(one, other, cosine, equal=True, exact=True))
        elif (exact := ask_the_same(texts[one], texts[other], known)) is not None:
            found.append(Alike(one, other, cosine, equal=False, exact=exact))
    return found


def _near_pairs(
    vectors: NDArray[np.float32], plain: Sequence[str], least: float, split: int | None
) -> Iterator[tuple[int, int, float]]:
    """Places of equal or near texts with their cosine; of a text with many neighbours, the nearest that follow it."""
    twin: dict[int, int] = {}  # of each text the next one that is equal
    last: dict[str, int] = {}
    for place, text in enumerate(plain):
        if text in last:
            twin[last[text]] = place
        last[text] = place
    rows = len(vectors) if split is None else split
    for start in range(0, rows, _ROWS_AT_ONCE):
        cosines = vectors[start : min(start + _ROWS_AT_ONCE, rows)] @ vectors[start:].T
        for row, line in enumerate(cosines):
            one = start + row
            after = line[row + 1 :].copy()
            if split is not None:
                after[: max(0, split - one - 1)] = -1.0
            close = np.flatnonzero(after >= least)
            if len(close) > _MOST_NEIGHBOURS:
                close = np.sort(close[np.argsort(-after[close], kind="stable")[:_MOST_NEIGHBOURS]])
            others = [one + 1 + int(place) for place in close]
            for other in sorted({*others, twin.get(one, one)} - {one}):
                if split is None or other >= split:
                    yield one, other, min(1.0, round(float(line[other - start]), 4))


def ask_the_same(first: str, second: str, vectors: Mapping[str, NDArray[np.float32]]) -> bool | None:
    """Whether near questions ask the same; None if not, else whether they do exactly (see ``Alike``).

    Args:
        first: a question.
        second: another one, whose vector is near.
        vectors: of the words that only one of them has, in lower case; a word without one has no meaning but its own.
    """
    one, other = _read(first), _read(second)
    if one.figures != other.figures or one.names - other.content.keys() or other.names - one.content.keys():
        return None
    if one.negated != other.negated:
        return None
    if one.asks and other.asks and one.asks != other.asks:
        return None
    ours = {key: word for key, word in one.content.items() if key not in other.content}
    theirs = {key: word for key, word in other.content.items() if key not in one.content}
    known = opposites()
    if any(known.get(key, frozenset()) & theirs.keys() for key in ours):
        return None
    if max(len(ours), len(theirs)) > _MOST_EXTRA + min(len(ours), len(theirs)):
        return None
    shared = one.content.keys() & other.content.keys()
    ordered = [key for key in one.content if key in shared] == [key for key in other.content if key in shared]
    if not (ours and theirs):
        return ordered and not ours and not theirs
    carried = _carried(ours, theirs, vectors), _carried(theirs, ours, vectors)
    return None if max(carried) < ALIKE else ordered and min(carried) >= ALIKE


def _carried(ours: Mapping[str, str], theirs: Mapping[str, str], vectors: Mapping[str, NDArray[np.float32]]) -> float:
    """How near the loneliest of our words comes to one of theirs."""
    return min(max(_word_likeness(pair, other, vectors) for other in theirs.items()) for pair in ours.items())


def _word_likeness(one: tuple[str, str], other: tuple[str, str], vectors: Mapping[str, NDArray[np.float32]]) -> float:
    spelt = likeness(one[0], other[0])
    first, second = vectors.get(one[1]), vectors.get(other[1])
    return spelt if first is None or second is None else max(spelt, float(first @ second))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, read: content words by key in lower case, figures, names, and what it asks for."""

    content: Mapping[str, str]
    figures: frozenset[str]
    names: frozenset[str]
    negated: bool
    asks: frozenset[str]


@lru_cache(maxsize=8_192)
def _read(text: str) -> _Asked:
    read: Wording = wording(text[:2_000])
    lower = [word.text.lower() for word in read.words]
    measured = {after for before, after in pairwise(lower) if before == "how"}
    return _Asked(
        content={word.key: word.text.lower() for word in read.words if word.kind != "stop"},
        figures=frozenset(
            word.key for word in read.words if word.kind in {"number", "date"} or any(map(str.isdigit, word.key))
        ),
        names=frozenset(word.key for word in read.words if word.kind == "name"),
        negated=len(read.negations) % 2 == 1,
        asks=(frozenset(lower) & _ASKS) | {f"how {word}" for word in measured & _MEASURES},
    )


def _to_embed(first: str, second: str) -> Iterator[str]:
    """The words that only one of two questions has, where each has one."""
    one, other = _read(first).content, _read(second).content
    ours, theirs = one.keys() - other.keys(), other.keys() - one.keys()
    if ours and theirs:
        yield from (one[key] for key in ours)
        yield from (other[key] for key in theirs)
