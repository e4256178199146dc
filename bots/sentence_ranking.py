"""Ranking sentences by how well they answer a question: nearness of meaning, and shared words that are rare."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..metrics.porter import stem
from .passage_sentences import Sayable

# Chosen on the answerable questions of CLAPNQ and on XQuAD English, where the best sentence is a right one for
# 78 % and 86 % (cosine alone: 76 % and 77 %); between 0.3 and 0.7 hardly anything changes.
WORDS_SHARE = 0.5
# Half of the way to a topic that is nearer to the question than the sentence under it.
TOPIC_SHARE = 0.5
FIRST_PASSAGE = 0.03  # for a sentence of the first passage that was retrieved, 1/2 of it for the second, and so on
FRAGMENT = 0.05  # off for what a passage's edge has cut
_WORD = re.compile(r"\w+")
_EMPTY_WORDS = frozenset({
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "of",
    "on", "or", "our", "shall", "should", "so", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "whom",
    "whose", "why", "will", "with", "would", "you", "your",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ranked:
    """Sentences of one passage, ready to be compared with questions.

    Attributes:
        said: the sentences.
        vectors: shape (n, dimensions), rows of unit length.
        topics: shape (t, dimensions), one row for each distinct topic.
        topic_of: shape (n,), the row of a sentence's topic; -1 where it has none.
        places: word stem -> numbers of the sentences that have it.
        topic_places: word stem -> numbers of the sentences whose topic has it.
        whole: shape (n,), False for fragments.
    """

    said: Sequence[Sayable]
    vectors: NDArray[np.float32]
    topics: NDArray[np.float32]
    topic_of: NDArray[np.intp]
    places: dict[str, NDArray[np.intp]]
    topic_places: dict[str, NDArray[np.intp]]
    whole: NDArray[np.bool_]


def index_sentences(
    said: Sequence[Sayable], vectors: NDArray[np.float32], topics: Sequence[str], topic_vectors: NDArray[np.float32]
) -> Ranked:
    """Put sentences and their vectors together with what is looked up for each question."""
    numbers = {topic: number for number, topic in enumerate(topics)}
    return Ranked(
        said=said,
        vectors=vectors,
        topics=topic_vectors,
        topic_of=np.array([numbers.get(each.topic, -1) for each in said], dtype=np.intp),
        places=_places(each.text for each in said),
        topic_places=_places(each.topic for each in said),
        whole=np.array([each.whole for each in said], dtype=bool),
    )


def score_sentences(
    question: str, vector: NDArray[np.float32], passages: Sequence[Ranked], *, in_order: bool
) -> NDArray[np.float64]:
    """How well each sentence answers the question.

    ``(1 - WORDS_SHARE)`` x cosine + ``WORDS_SHARE`` x the share of the question's words that the sentence has,
    weighted by how rare they are among these sentences (idf). A topic's words count half, and a nearer topic
    lifts the cosine half of the way.

    Args:
        question: the question.
        vector: its embedding, of unit length.
        passages: what to rank.
        in_order: whether the passages stand in the order in which a retriever ranked them.

    Returns:
        Shape (number of sentences in all passages,), in their order; about 0 to 1, higher is better.
    """
    cosine: NDArray[np.float64] = np.concatenate([_cosine(passage, vector) for passage in passages], dtype=np.float64)
    if words := {stem(word) for word in _content_words(question)}:
        shared = _shared_words(words, passages, len(cosine))
        scores = (1 - WORDS_SHARE) * cosine + WORDS_SHARE * shared
    else:
        scores = cosine
    scores -= FRAGMENT * ~np.concatenate([passage.whole for passage in passages])
    if in_order:
        bonus = [FIRST_PASSAGE / rank for rank in range(1, len(passages) + 1)]
        scores += np.repeat(bonus, [len(passage.said) for passage in passages])
    return scores


def _cosine(passage: Ranked, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    own: NDArray[np.float32] = passage.vectors @ vector
    if not len(passage.topics):
        return own
    topic = np.append(passage.topics @ vector, np.float32(-1))[passage.topic_of]  # -1 finds the last: no topic
    own += np.maximum(topic - own, 0) * np.float32(TOPIC_SHARE)
    return own


def _shared_words(words: set[str], passages: Sequence[Ranked], count: int) -> NDArray[np.float64]:
    """The share of the question's words in each sentence, by weight."""
    shared = np.zeros(count)
    total = 0.0
    for word in sorted(words):
        said = np.zeros(count)
        start = 0
        for passage in passages:
            if (under := passage.topic_places.get(word)) is not None:
                said[under + start] = TOPIC_SHARE
            if (inside := passage.places.get(word)) is not None:
                said[inside + start] = 1
            start += len(passage.said)
        weight = math.log(1 + count / (0.5 + np.count_nonzero(said)))
        shared += weight * said
        total += weight
    return shared / total


def _places(texts: Iterable[str]) -> dict[str, NDArray[np.intp]]:
    found: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        for word in {stem(word) for word in _content_words(text)}:
            found.setdefault(word, []).append(number)
    return {word: np.array(numbers, dtype=np.intp) for word, numbers in found.items()}


def _content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _EMPTY_WORDS]
