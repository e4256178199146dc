"""Reading: which documents an answer was made from, and which of its words stand in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...metrics.text import token_set

if TYPE_CHECKING:
    from ...bots.base import Context
    from ...knowledge.documents import Document
    from ...knowledge.questions import Evidence, Question
    from ..ground.answers import Answer

# Of a bot that reads every document, so many are tried: what an answer says rarely stands in more of them, and each
# costs an answer.
CANDIDATES = 5
MOST_GOLD = 3  # of them
# Share of an answer's telling words that a document has in order to have led to it, against the one that has most.
NEARLY_ALL = 0.8
# Share of a document's words that stand in another of which it is a copy or a version.
COPIED = 0.8

_words: Final = lru_cache(maxsize=2_048)(token_set)  # of documents, which are looked at for every answer


def is_copy(document: str, of: str) -> bool:
    """Whether a text says in other words, or in the same, what another says: most of its words stand there."""
    words = _words(document)
    return bool(words) and len(words & _words(of)) >= COPIED * len(words)


def has_read(answer: Answer, groups: Sequence[Sequence[Evidence]]) -> bool:
    """Whether a place of each group stands in what the bot had before it; False without groups."""
    return bool(groups) and all(
        any(_overlap(context, member) for context in answer.contexts or () for member in group) for group in groups
    )


def _overlap(context: Context, member: Evidence) -> bool:
    if context.document != member.document:
        return False
    if None in (context.start, context.end, member.start, member.end):
        return True  # nobody knows where in the document
    return max(context.start or 0, member.start or 0) < min(context.end or 0, member.end or 0)


def candidates(
    answer: Answer, known: Collection[str], gold: Collection[str], documents: Iterable[Document]
) -> tuple[str, ...]:
    """The documents that are taken away, one at a time.

    Args:
        answer: what the bot said.
        known: ids of the documents that can be taken away.
        gold: ids of those in which the answer stands.
        documents: all, in their order.

    Returns:
        What was retrieved, best first. Where that is more than so few, as with a bot that reads everything: those of
        the gold, and those with which the answer shares most of its words that few of them have.
    """
    read = [document for document in answer.documents if document in known]
    if len(read) <= CANDIDATES:
        return tuple(read)
    among = set(read)
    words = {document.id: _words(document.text) for document in documents if document.id in among}
    said = token_set(answer.text)
    counts = {word: sum(word in held for held in words.values()) for word in said}
    shared = {id: sum(1 / counts[word] for word in said & words.get(id, frozenset())) for id in read}
    ranked = sorted(read, key=lambda id: -shared[id])
    first = [id for id in ranked if id in gold][:MOST_GOLD]
    return (*first, *[id for id in ranked if id not in gold][: CANDIDATES - len(first)])


def held_words(answer: Answer, question: Question) -> Mapping[str, float]:
    """The share of an answer's telling words that each document has in what the bot read of it.

    Telling are those that neither the question has nor the expected answer, so that they are what is wrong; where
    none is left, all but those of the question. An answer without any says nothing of where it comes from: then the
    mapping is empty.
    """
    said = token_set(answer.text) - token_set(question.text)
    expected = frozenset[str]().union(*(token_set(each) for each in question.expected))
    telling = said - expected or said
    if not telling or answer.declined:
        return {}
    read: dict[str, frozenset[str]] = {}
    for context in answer.contexts or ():
        read[context.document] = read.get(context.document, frozenset()) | token_set(context.text)
    return {document: len(telling & words) / len(telling) for document, words in read.items()}


def led_to(answer: Answer, question: Question) -> frozenset[str] | None:
    """The documents from which the answer may have been taken; None where its words can't tell."""
    held = held_words(answer, question)
    most = max(held.values(), default=0.0)
    if not most:
        return None
    return frozenset(document for document, share in held.items() if share >= NEARLY_ALL * most)
