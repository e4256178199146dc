"""Stolen ranks: places among the passages found for a question that go to copies of what stands above."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...bots.base import Context
from ...bots.building import index_folder
from ...knowledge.examining.copies import PassagePrints
from ...knowledge.searching.passage_search import RETRIEVERS, PassageSearch, Retriever
from ...knowledge.searching.splitting import Splitting
from ..ground.answers import Answers
from ..ground.ground import Ground
from .concerned import tells

_MOST_PLACES: Final = 20  # of one list that are compared
Pair = tuple[str, str]


@dataclass(slots=True)
class Stolen:
    """What copies of two documents cost.

    Attributes:
        places: how many places went to a copy of something above it, over all lists.
        questions: keys of the questions in whose lists that is, in the order met.
    """

    places: int = 0
    questions: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StolenRanks:
    """How many places went to copies.

    Attributes:
        by_pair: by the ids of two documents in their order, the same twice for one document.
        places: how many places there are in all.
        lists: how many lists were looked at.
        from_answers: whether they are what bots were handed; else a search was made for every question.
    """

    by_pair: Mapping[Pair, Stolen]
    places: int
    lists: int
    from_answers: bool


def stolen_ranks(ground: Ground, answers: Answers | None) -> StolenRanks:
    """Count them in the contexts of the answers; where none has any, in what the present setting finds; this blocks."""
    lists = list(_handed(ground, answers))
    from_answers = bool(lists)
    if not from_answers:
        lists = list(_found(ground))
    order = {document.id: place for place, document in enumerate(ground.documents)}
    prints = PassagePrints()
    by_pair: defaultdict[Pair, Stolen] = defaultdict(Stolen)
    for key, contexts in lists:
        for first, second in _copies(contexts, prints):
            low, high = sorted((first, second), key=lambda name: order.get(name, len(order)))
            stolen = by_pair[low, high]
            stolen.places += 1
            if key not in stolen.questions:
                stolen.questions.append(key)
    return StolenRanks(dict(by_pair), sum(len(contexts) for _, contexts in lists), len(lists), from_answers)


def _copies(contexts: Sequence[Context], prints: PassagePrints) -> Iterator[Pair]:
    """For each context that repeats one above it, the documents of both; parts of one passage are no copies."""
    for place, context in enumerate(contexts):
        for above in contexts[:place]:
            if not _overlap(context, above) and prints.are_copies(context.text, above.text):
                yield above.document, context.document
                break


def _overlap(first: Context, second: Context) -> bool:
    if first.document != second.document:
        return False
    if first.start is None or first.end is None or second.start is None or second.end is None:
        return True
    return first.start < second.end and second.start < first.end


def _handed(ground: Ground, answers: Answers | None) -> Iterator[tuple[str, Sequence[Context]]]:
    for answer in answers.rows if answers else ():
        contexts = [one for one in answer.contexts or () if one.document in ground.by_id]
        if len(contexts) > 1 and tells(answer, len(ground.documents)):
            yield answer.question, contexts[:_MOST_PLACES]


def _found(ground: Ground) -> Iterator[tuple[str, Sequence[Context]]]:
    if not ground.documents or not ground.questions:
        return
    present = ground.present
    retriever: Retriever = next((name for name in RETRIEVERS if name == present.retriever), "dense")
    splitting = Splitting(present.splitter, present.chunk_size, present.chunk_overlap)
    folder = index_folder(ground.loaded.base, ground.cache)
    search = PassageSearch.open(retriever, ground.documents, splitting, ground.embedder, folder)
    texts = [question.text for question in ground.questions]
    vectors = ground.embedder.embed_now(texts).vectors if search.needs_vector else [None] * len(texts)
    for question, vector in zip(ground.questions, vectors, strict=True):
        passages = [passage for passage, _ in search.find(question.text, vector, min(present.top_k, _MOST_PLACES))]
        yield question.id, [Context(one.text, one.document, one.start, one.end) for one in passages]
