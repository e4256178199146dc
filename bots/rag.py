"""The RAG bot: the passages that fit the question best in the prompt."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ..knowledge.documents import Document
from ..knowledge.index import BulkEmbedder
from ..knowledge.searching.passage_search import PassageSearch
from ..knowledge.searching.splitting import Splitting
from .answering import answer_from, render_contexts
from .base import Context, Identity, Reply
from .chat import ChatModel
from .faq import FreshEmbedder
from .prompting import Template
from .settings import RagSettings

# Up to so many passages the embedded model works ahead on all, so that no question pays for being the first.
_WORKED_AHEAD = 1000


class RetrievalEmbedder(FreshEmbedder, BulkEmbedder, Protocol):
    """Embeds passages in bulk and questions one by one; a BatchingEmbedder does both."""


class RagBot:
    """Retrieves by embeddings, by words or by both, and asks the model with what was found.

    The question is embedded afresh each time, so that its latency is what a user would see.
    """

    def __init__(
        self,
        name: str,
        documents: Sequence[Document],
        knowledge_digest: str,
        model: ChatModel,
        template: Template,
        embedder: RetrievalEmbedder,
        settings: RagSettings,
        folder: Path | None = None,
    ) -> None:
        """Take the parts; nothing is loaded.

        Args:
            name: the bot's name in reports.
            documents: what is retrieved from.
            knowledge_digest: a hash of all documents, for the identity.
            model: what answers.
            template: its prompt.
            embedder: for passages and questions.
            settings: how documents are cut, and how much is retrieved.
            folder: where the index is kept; None keeps it in memory only.
        """
        self.name = name
        self.warnings = template.warnings
        self._documents = documents
        self._digest = knowledge_digest
        self._model = model
        self._template = template
        self._embedder = embedder
        self._settings = settings
        self._folder = folder
        self._titles = {document.id: document.title for document in documents}
        self._splitting = Splitting(settings.splitter, settings.chunk_size, settings.chunk_overlap)
        self._search: PassageSearch | None = None

    @property
    def identity(self) -> Identity:
        """The knowledge, how it is cut and retrieved, the prompt, the embedder and the model."""
        retrieval = self._settings.model_dump(include={"chunk_size", "chunk_overlap", "top_k", "min_score"})
        # Left out where they are what they were before there was a choice, so that answers of that time still count.
        retrieval |= self._settings.model_dump(include={"splitter", "retriever"}, exclude_defaults=True)
        embedder = {} if self._settings.retriever == "bm25" else {"embedder": self._embedder.model_id}
        return Identity(
            kind="rag",
            settings={**retrieval, "model": dict(self._model.settings)},
            model=self._model.name,
            embedded=self._model.embedded,
            parts={"knowledge": self._digest},
            prompts={"prompt": self._template.text},
            models={"chat": self._model.name, **embedder},
        )

    async def prepare(self) -> None:
        """Open the index, embedding what is new in the knowledge, and let the model work ahead."""
        search = await asyncio.to_thread(self._open_search)
        self.warnings = (*self._template.warnings, *search.warnings)
        await self._model.prepare(await asyncio.to_thread(self._worked_ahead, search.size))
        self._search = search

    async def reply(self, question: str) -> Reply:
        """Retrieve and ask the model; ``contexts`` is empty when nothing was near enough."""
        if self._search is None:
            await self.prepare()
        started = time.perf_counter()
        contexts = await self._retrieve(question)
        trace = {"retrieve_ms": (time.perf_counter() - started) * 1000}
        rendered = render_contexts(contexts, self._titles)
        return await answer_from(self._model, self._template, question, contexts, rendered, trace)

    async def close(self) -> None:
        """Close the model and forget the passages."""
        self._search = None
        await self._model.close()

    async def _retrieve(self, question: str) -> tuple[Context, ...]:
        search = self._search
        if search is None or not search.size:
            return ()
        vector = (await self._embedder.embed_fresh([question])).vectors[0] if search.needs_vector else None
        least = self._settings.min_score
        return tuple(
            Context(passage.text, passage.document, passage.start, passage.end, score)
            for passage, score in search.find(question, vector, self._settings.top_k)
            if least is None or score >= least
        )

    def _open_search(self) -> PassageSearch:
        return PassageSearch.open(
            self._settings.retriever, self._documents, self._splitting, self._embedder, self._folder
        )

    def _worked_ahead(self, size: int) -> list[str]:
        if not self._model.embedded or size > _WORKED_AHEAD:
            return []
        return [passage.text for document in self._documents for passage in self._splitting.cut(document)]
