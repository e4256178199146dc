"""Retrieving: what every setting of a grid retrieves for every question, each search made once for all its k."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, cast

from ... import InputError
from ...bots.building import index_folder
from ...bots.langchain_retriever import open_retriever
from ...bots.retrieval import Retrieval, SearchFinder
from ...bots.targets import find_target
from ...knowledge.index import PassageIndex
from ...knowledge.searching.passage_search import FEWEST_CANDIDATES, RETRIEVERS, PassageSearch, Retriever
from ...knowledge.searching.reranked import candidates
from ...knowledge.searching.shared_vectors import SharedVectors
from ...knowledge.searching.splitting import Splitter, Splitting
from ...metrics.messages import exception_line
from ..exams.rerankers import open_rerankers

if TYPE_CHECKING:
    from ...bots.base import Context
    from ...bots.faq import FreshEmbedder
    from ...bots.retrieval import Finder
    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.documents import Passage
    from ...knowledge.local_models.reranker import Reranker
    from ...metrics.tools import Embedded
    from ...reports.surveys.grid import Setting
    from ..ground.ground import Ground

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What one search found for every question.

    Attributes:
        settings: places of the settings that it serves, which differ in k alone.
        found: contexts by question, best first, as many as the greatest k wants.
        ms: milliseconds by question with the greatest k, its embedding included.
        passages: how many there were to find; None for a retriever that doesn't tell.
    """

    settings: tuple[int, ...]
    found: tuple[tuple[Context, ...], ...]
    ms: tuple[float, ...]
    passages: int | None


class Retrieving:
    """Makes the searches of a grid, splitting by splitting, so that one index is in memory at a time.

    Attributes:
        warnings: what could not be read or saved.
    """

    def __init__(
        self, ground: Ground, questions: Sequence[str], embedders: Mapping[str, BatchingEmbedder],
        told: Told | None = None, local_models: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Take the parts; nothing is loaded.

        Args:
            ground: the documents, and where the suite's bots keep their indexes.
            questions: their texts.
            embedders: by the ids of their models.
            told: told a sentence before what takes long.
            local_models: other models for some roles, as ``ROLE=MODEL``.

        Raises:
            InputError: an override names no role, or one that its model can't take.
        """
        self.warnings: list[str] = []
        self._ground = ground
        self._questions = questions
        self._embedders = {model: QuestionVectors(embedder) for model, embedder in embedders.items()}
        self._told = told or (lambda _: None)
        self._shared = {model: SharedVectors(embedder) for model, embedder in embedders.items()}
        loaded = ground.loaded
        self._rerankers = open_rerankers(loaded.suite.local_models, loaded.base, local_models, told)
        self._taken: dict[str, Reranker] = {}
        self._distinct: set[bytes] = set()
        self._cut: tuple[Splitting, Sequence[Passage]] | None = None
        self._index: tuple[Splitting, str, PassageIndex] | None = None

    @property
    def distinct_passages(self) -> int:
        """How many passages of different text there were so far, over all splittings."""
        return len(self._distinct)

    async def made(self, settings: Sequence[Setting]) -> AsyncIterator[Retrieved]:
        """What each search of these settings finds, one after the other.

        Raises:
            InputError: a model can't be had, or a retriever of the user's own fails.
        """
        wanted = searches(settings)
        for name in {search.reranker: None for search in wanted if search.reranker}:
            self._taken[name] = self._rerankers.named(name).take()
        order = list(dict.fromkeys(_cut_of(search) for search in wanted))
        for search in sorted(wanted, key=lambda one: (order.index(_cut_of(one)), one.embedder)):
            yield await self._made(search, wanted[search])

    def close(self) -> None:
        """Drop the rerankers."""
        for reranker in self._taken.values():
            reranker.close()
        self._taken.clear()

    async def _made(self, search: Setting, places: tuple[int, ...]) -> Retrieved:
        retrieval, size = await self._retrieval(search)
        if search.embedder:
            await self._embedders[search.embedder].all(self._questions, self._told)
        if search.reranker:
            self._told(f"Re-ranking for {len(self._questions):,} questions: {search.name}")
        found, took = [], []
        for number, question in enumerate(self._questions):
            if not number:
                await self._found(retrieval, question, search)  # what is loaded with the first takes no time of its own
            contexts, ms = await self._found(retrieval, question, search)
            found.append(contexts)
            took.append(ms)
        return Retrieved(places, tuple(found), tuple(took), size)

    async def _found(self, retrieval: Retrieval, question: str, search: Setting) -> tuple[tuple[Context, ...], float]:
        """What is found for a question, and the milliseconds that it takes with the question's embedding."""
        try:
            contexts, steps = await retrieval.retrieve(question, search.top_k)
        except InputError:
            raise
        except Exception as raised:
            if search.retriever in RETRIEVERS:
                raise
            raise InputError(
                f"The retriever {search.retriever} failed on the question {question[:60]!r}: {exception_line(raised)}"
            ) from raised
        least = search.min_score
        kept = tuple(one for one in contexts if least is None or (one.score is not None and one.score >= least))
        embedding = self._embedders[search.embedder].ms(question) if search.embedder else 0.0
        return kept, sum(float(str(ms)) for ms in steps.values()) + embedding

    async def _retrieval(self, search: Setting) -> tuple[Retrieval, int | None]:
        """What a rag bot of this setting retrieves with, and how many passages there are."""
        finder, size = await asyncio.to_thread(self._finder, search)
        reranker = self._taken.get(search.reranker)
        if reranker is not None:
            await reranker.load()
        return Retrieval(finder, reranker), size

    def _finder(self, search: Setting) -> tuple[Finder, int | None]:
        if search.retriever not in RETRIEVERS:
            return self._own(search), None
        made = self._search(search)
        # Where no model takes part, none is asked.
        embedder = self._embedders[search.embedder] if search.embedder else self._ground.embedder
        return SearchFinder(made, embedder), made.size

    def _search(self, search: Setting) -> PassageSearch:
        """The search, with the index by meaning that is shared by all that cut and embed alike."""
        splitting, retriever = _cut_of(search), cast("Retriever", search.retriever)
        if retriever == "bm25":
            return PassageSearch(self._passages(splitting), retriever)
        if self._index is None or self._index[:2] != (splitting, search.embedder):
            self._index = None  # the one before is let go first
            self._index = (splitting, search.embedder, self._opened(splitting, search.embedder))
        index = self._index[2]
        return PassageSearch(index.passages, retriever, index)

    def _own(self, search: Setting) -> Finder:
        """A retriever of the user's own, made as a rag bot makes it."""
        target = find_target(search.retriever, self._ground.loaded.base)
        passages = self._passages(_cut_of(search)) if search.splitter else ()
        wanted = candidates(search.top_k) if search.reranker else search.top_k
        try:
            return open_retriever(target, self._ground.documents, passages, wanted)
        except InputError:
            raise
        except (Exception, SystemExit) as raised:
            why = exception_line(raised)
            raise InputError(f"The retriever {search.retriever} could not be made: {why}") from raised

    def _opened(self, splitting: Splitting, model: str) -> PassageIndex:
        self._told(f"Indexing passages of {splitting.key}")
        folder = index_folder(self._ground.loaded.base, self._ground.cache)
        shared = self._shared[model]
        index = PassageIndex.open(folder, self._ground.documents, splitting.cut, splitting.key, shared)
        self.warnings += index.warnings
        self._note(splitting, index.passages)
        return index

    def _passages(self, splitting: Splitting) -> Sequence[Passage]:
        """The passages of a splitting, which may have been cut for its index."""
        if self._cut is not None and self._cut[0] == splitting:
            return self._cut[1]
        return self._note(splitting, [one for each in self._ground.documents for one in splitting.cut(each)])

    def _note(self, splitting: Splitting, passages: Sequence[Passage]) -> Sequence[Passage]:
        self._cut = (splitting, passages)
        self._distinct.update(
            blake2b(one.text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for one in passages
        )
        return passages


class QuestionVectors:
    """An embedder for questions that are known beforehand: each is embedded once, as a bot does it, and timed.

    Args:
        embedder: who embeds.
    """

    def __init__(self, embedder: FreshEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[Embedded, float]] = {}

    async def all(self, questions: Sequence[str], told: Told) -> None:
        """Embed those that are new, one after the other."""
        new = [question for question in dict.fromkeys(questions) if question not in self._known]
        if not new:
            return
        told(f"Embedding {len(new):,} questions")
        await self._embedder.embed_fresh(new[:1])  # loads the model
        for question in new:
            began = time.perf_counter()
            made = await self._embedder.embed_fresh([question])
            self._known[question] = (made, (time.perf_counter() - began) * 1000)

    def ms(self, question: str) -> float:
        """How long a question took."""
        return self._known[question][1]

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._embedder.model_id

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The same as ``embed_fresh``."""
        return await self.embed_fresh(texts)

    async def embed_fresh(self, texts: Sequence[str]) -> Embedded:
        """The vector of the question in the list."""
        (question,) = texts
        return self._known[question][0]


def _cut_of(setting: Setting) -> Splitting:
    return Splitting(cast("Splitter", setting.splitter), setting.chunk_size or 0, setting.chunk_overlap or 0)


def searches(settings: Sequence[Setting]) -> dict[Setting, tuple[int, ...]]:
    """The searches that settings come to, each with the greatest k of those that it serves, and their places.

    A smaller k gets the beginning of what a greater one gets, unless the number of candidates grows with k: those that
    are fused or put in a better order are 50 up to k = 50, and k above. A retriever of one's own may rank as it likes.
    """
    served: dict[tuple[Setting, int], list[int]] = {}
    for place, setting in enumerate(settings):
        served.setdefault((replace(setting, top_k=1), _depth(setting)), []).append(place)
    return {
        replace(setting, top_k=max(settings[place].top_k for place in places)): tuple(places)
        for (setting, _), places in served.items()
    }


def _depth(setting: Setting) -> int:
    """What has to be equal of settings that a search with one k can serve."""
    if setting.reranker:
        return candidates(setting.top_k)
    if setting.retriever not in RETRIEVERS:
        return setting.top_k
    return max(setting.top_k, FEWEST_CANDIDATES) if setting.retriever == "hybrid" else 0
