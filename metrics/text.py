"""Text primitives that several metrics share: normal form, token sets, sentences."""

# ruff: noqa: RUF001 - list bullets look alike

import math
import re
from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Final

_TRIMMED: Final = ".,!?;:()[]{}\"'"
_BULLET: Final = re.compile(r"\s*(?:[-*+•◦▪‣⁃∙●○■□–—]|\d{1,3}[.)]|[a-zA-Z]\))\s+")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ELIGIBLE_LENGTH: Final = 10  # more than this many characters
MOST_MISSING: Final = 30  # words that details name
_LONGEST_WORD: Final = 40  # characters of each
_SHOWN: Final = 300  # characters of a text that are kept as evidence
_CACHED_LENGTH: Final = 4_096  # longer texts are split anew, so that the cache stays small


def normalise(text: str) -> str:
    """Lower-case and trimmed, with every run of white space as one blank; punctuation stays.

    >>> normalise("  The Refund takes 5  days ")
    'the refund takes 5 days'
    """
    return " ".join(text.lower().split())


def token_set(text: str) -> frozenset[str]:
    """The distinct lower-case words of a text without the punctuation at their ends.

    >>> sorted(token_set('"Refunds" (within 14 days).'))
    ['14', 'days', 'refunds', 'within']
    """
    return frozenset([piece.strip(_TRIMMED) for piece in text.lower().split()]) - {""}


def in_order(text: str, words: Set[str]) -> list[str]:
    """Those of its distinct lower-case words as they come in a text, at most ``MOST_MISSING``.

    >>> in_order("Refunds (within 14 days)", {"days", "14"})
    ['14', 'days']
    """
    found = dict.fromkeys(piece.strip(_TRIMMED) for piece in text.lower().split())
    return [word[:_LONGEST_WORD] for word in found if word in words][:MOST_MISSING]


def token_cosine(first: Set[str], second: Set[str]) -> float:
    """Cosine of two token sets as binary vectors over their union, 0 when either is empty.

    >>> round(token_cosine(token_set("reset password"), token_set("How do I reset my password?")), 4)
    0.5774
    """
    if not first or not second:
        return 0.0
    return len(first & second) / math.sqrt(len(first) * len(second))


def sentences(text: str, language: str = "en") -> tuple[str, ...]:
    """The sentences of each line, without list bullets, trimmed, blank ones dropped.

    Args:
        text: any text; line breaks end a sentence.
        language: ISO 639 code. A language that the library sentencex doesn't know is split as English.

    >>> sentences("- See Dr. Roe. She knows.")
    ('See Dr. Roe.', 'She knows.')
    """
    return _sentences_cached(text, language) if len(text) <= _CACHED_LENGTH else _sentences(text, language)


def _sentences(text: str, language: str) -> tuple[str, ...]:
    from sentencex import segment

    found: list[str] = []
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        body = line[bullet.end() :] if bullet else line
        try:
            found += segment(language, body)
        except UnicodeEncodeError:  # it refuses half characters
            found += _cut_like(body, segment(language, _SURROGATE.sub("\ufffd", body)))
    return tuple(trimmed for sentence in found if (trimmed := sentence.strip()))


_sentences_cached = lru_cache(maxsize=8_192)(_sentences)


def _cut_like(text: str, pieces: Iterable[str]) -> list[str]:
    """The text cut where a copy of equal length was cut."""
    cut: list[str] = []
    for piece in pieces:
        cut.append(text[: len(piece)])
        text = text[len(piece) :]
    return cut


def shown(text: str) -> str:
    """What of a text is kept as evidence: its first 300 characters, so that details don't repeat whole documents."""
    return text[:_SHOWN]


def eligible(sentence: str) -> bool:
    """Whether a sentence is long enough for the metrics that compare sentences: more than 10 characters."""
    return len(sentence) > _ELIGIBLE_LENGTH
