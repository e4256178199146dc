"""Retrieval: what a RAG bot finds for a question, by a search of ours or a retriever of the user's, in which order."""

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Protocol

from ..knowledge.index import BulkEmbedder
from ..knowledge.local_models.reranker import Reranker
from ..knowledge.searching.passage_search import PassageSearch
from ..knowledge.searching.reranked import candidates, reordered
from .base import Context
from .faq import FreshEmbedder


class RetrievalEmbedder(FreshEmbedder, BulkEmbedder, Protocol):
    """Embeds passages in bulk and questions one by one; a BatchingEmbedder does both."""


class Finder(Protocol):
    """Finds contexts for a question."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read or saved."""
        ...

    async def find(self, question: str, k: int, without: Collection[str] = ()) -> tuple[Context, ...]:
        """At most k contexts, best first, none of them of some documents."""
        ...


class SearchFinder:
    """A search of ours. The question is embedded afresh, so that its latency is what a user would see."""

    def __init__(self, search: PassageSearch, embedder: FreshEmbedder) -> None:
        """The embedder must be that of the passages."""
        self.warnings = search.warnings
        self._search = search
        self._embedder = embedder

    async def find(self, question: str, k: int, without: Collection[str] = ()) -> tuple[Context, ...]:
        """At most k passages, best first, none of them of some documents; see ``PassageSearch.find``."""
        search = self._search
        if not search.size:
            return ()
        vector = (await self._embedder.embed_fresh([question])).vectors[0] if search.needs_vector else None
        return tuple(
            Context(passage.text, passage.document, passage.start, passage.end, score)
            for passage, score in search.find(question, vector, k, without)
        )


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What is opened for a RAG bot: what finds, and what puts that in order, where there is such a model."""

    finder: Finder
    reranker: Reranker | None = None

    async def retrieve(
        self, question: str, k: int, without: Collection[str] = ()
    ) -> tuple[tuple[Context, ...], dict[str, object]]:
        """At most k contexts, best first, and the milliseconds of each step."""
        started = time.perf_counter()
        found = await self.finder.find(question, candidates(k) if self.reranker else k, without)
        took: dict[str, object] = {"retrieve_ms": (time.perf_counter() - started) * 1000}
        if self.reranker is None:
            return found, took
        started = time.perf_counter()
        scores = await self.reranker.scores(question, [context.text for context in found])
        best = [replace(context, score=score) for context, score in reordered(found, scores.tolist())[:k]]
        return tuple(best), {**took, "rerank_ms": (time.perf_counter() - started) * 1000}
