"""Answer signals: how far a stretch of a document says what a question expects, by a fitted formula."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...metrics.judge.embedded.wording import Word, Wording, wording
from .sentence_book import SentenceBook, Stretch

WEIGHTS: Final = {
    "bias": -6.4,
    "held": 0.3,  # share of the claim's content words that the stretch holds, rarer ones counting more
    "phrases": 1.3,  # share of its neighbouring content words that are neighbours there too
    "told": 4.9,  # how unlikely it is that what is expected and asked stands together by chance
    "asked": 0.7,  # share of the question's other words that the document holds
    "figures elsewhere": -2.6,  # the claim has a number or year that the whole document lacks
    "missing names": -0.45,  # each capitalised word that the stretch lacks, up to three
    "cosine": 1.8,  # of the question and the claim with the stretch
}
"""Log-odds that a stretch supports an expected claim, for each unit of a signal.

Fitted on one half of the documents of four sets, rounded, and reported on the other half
(``tests/benchmarks/prove_support.py``).
"""

THRESHOLD: Final = 0.5
_OF_QUESTION: Final = 0.2  # weight of a word of the claim that the question gave, beside 1 for one that it did not
_TOLD: Final = 2.5  # rarities from which on words don't stand together by chance
_MOST_COUNTED: Final = 3
_USUAL_COSINE: Final = 0.6
# By how much nearly every cosine moves the log-odds away from those with the usual one.
_COSINE_RANGE: Final = WEIGHTS["cosine"] * 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A claim of an expected answer, beside its question, and how much each word tells.

    Attributes:
        claim: the claim.
        question: what was asked.
        shares: share of each of the claim's content words; they add up to 1.
        asked: likewise of the question's content words that the claim lacks.
        figures: keys of its numbers and years in digits that the question did not give.
    """

    claim: Wording
    question: Wording
    shares: Mapping[str, float]
    asked: Mapping[str, float]
    figures: frozenset[str]


def wanted(claim: str, question: str, book: SentenceBook) -> Wanted:
    """Weigh the words of a claim and of its question by how few sentences of the documents hold them."""
    read, put = wording(claim), wording(question)
    weights = {key: book.rarity(key) * (_OF_QUESTION if key in put.content else 1.0) for key in sorted(read.content)}
    asked = {key: book.rarity(key) for key in sorted(put.content - read.content)}
    figures = frozenset(word.key for word in read.of_kind("number", "date") if _is_figure(word, put))
    return Wanted(read, put, _shares(weights), _shares(asked), figures)


def _is_figure(word: Word, question: Wording) -> bool:
    """Whether a number or a date is written in digits, and the question did not give it."""
    return word.text[:1].isdecimal() and word.key not in question.content


def _shares(weights: Mapping[str, float]) -> Mapping[str, float]:
    total = math.fsum(weights.values()) or 1.0
    return {key: weight / total for key, weight in weights.items()}


def signals(one: Wanted, stretch: Stretch, book: SentenceBook, cosine: float | None = None) -> dict[str, float]:
    """The signals by name, as ``WEIGHTS`` weighs them; without a cosine the usual one is taken."""
    content = book.content(stretch.sentences)
    whole = book.document_words(stretch.first)
    held = _share(one.shares, content)
    pairs = one.claim.pairs
    names = sum(word.key not in content for word in one.claim.of_kind("name"))
    return {
        "bias": 1.0,
        "held": held,
        "phrases": len(pairs & book.pairs(stretch)) / len(pairs) if pairs else held,
        "told": _told(one, content, book),
        "asked": _share(one.asked, whole),
        "figures elsewhere": float(not one.figures <= whole),
        "missing names": float(min(names, _MOST_COUNTED)),
        "cosine": _USUAL_COSINE if cosine is None else max(0.0, cosine),
    }


def _told(one: Wanted, content: frozenset[str], book: SentenceBook) -> float:
    """How unlikely it is that what is wanted and asked stands together by chance: 0 to 1."""
    told = math.fsum(book.rarity(key) for key in sorted((one.claim.content | one.question.content) & content))
    return min(1.0, told / _TOLD)


def _share(shares: Mapping[str, float], held: frozenset[str]) -> float:
    """Share of the weight that the texts hold; 1 where there is nothing to hold."""
    return math.fsum(share for key, share in shares.items() if key in held) if shares else 1.0


def weighed(found: Mapping[str, float]) -> float:
    """The log-odds that signals add up to."""
    return math.fsum(WEIGHTS[name] * value for name, value in found.items())


def probability(log_odds: float) -> float:
    """Log-odds as a number between 0 and 1."""
    return 1 / (1 + math.exp(-log_odds))


def cosine_can_decide(log_odds: float) -> bool:
    """Whether log-odds with the usual cosine are so near to even that the true one may turn them."""
    return abs(log_odds) <= _COSINE_RANGE
