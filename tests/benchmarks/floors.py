"""Lexical baselines that an evaluator has to beat: token F1, cosine of word counts, overlap with the contexts."""

import math
import re
from collections import Counter
from collections.abc import Sequence

ARTICLES = frozenset({"a", "an", "the"})
# The stop words of the overlap floor; the data's page gives that floor without its list.
STOP_WORDS = frozenset(
    {
        *("a", "an", "the", "of", "to", "in", "on", "at", "for", "and", "or", "but", "as", "by", "with", "from"),
        *("is", "are", "was", "were", "be", "been", "being", "it", "its", "this", "that", "these", "those"),
        *("i", "you", "he", "she", "they", "we"),
    }
)
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def token_f1(answer: str, accepted: Sequence[str]) -> float:
    """Best F1 of the words without articles, over the accepted answers."""
    return max(_f1(answer, one) for one in accepted)


def _f1(first: str, second: str) -> float:
    one, other = ([word for word in words(text) if word not in ARTICLES] for text in (first, second))
    common = (Counter(one) & Counter(other)).total()
    return 2 * common / (len(one) + len(other)) if common else 0.0


def word_cosine(first: str, second: str) -> float:
    """Cosine of the word counts."""
    one, other = Counter(words(first)), Counter(words(second))
    norm = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return sum(count * other[word] for word, count in one.items()) / norm if norm else 0.0


def content_overlap(text: str, contexts: Sequence[str]) -> float:
    """Share of the text's distinct content words that the contexts hold."""
    wanted = set(words(text)) - STOP_WORDS
    return len(wanted.intersection(*[words(" ".join(contexts))])) / len(wanted) if wanted else 0.0
