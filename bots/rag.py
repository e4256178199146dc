"""The RAG bot: the passages nearest to the question in the prompt."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ..knowledge.cutting import cut
from ..knowledge.documents import Document, Passage
from ..knowledge.index import BulkEmbedder, PassageIndex
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
    """Retrieves by the cosine of embeddings, and asks the model with what was found.

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
        self._index: PassageIndex | None = None

    @property
    def identity(self) -> Identity:
        """The knowledge, how it is cut and retrieved, the prompt, the embedder and the model."""
        retrieval = self._settings.model_dump(include={"chunk_size", "chunk_overlap", "top_k", "min_score"})
        return Identity(
            kind="rag",
            settings={**retrieval, "model": dict(self._model.settings)},
            model=self._model.name,
            embedded=self._model.embedded,
            parts={"knowledge": self._digest},
            prompts={"prompt": self._template.text},
            models={"chat": self._model.name, "embedder": self._embedder.model_id},
        )

    async def prepare(self) -> None:
        """Open the index, embedding what is new in the knowledge, and let the model work ahead."""
        index = await asyncio.to_thread(self._open_index)
        self.warnings = (*self._template.warnings, *index.warnings)
        await self._model.prepare(await asyncio.to_thread(self._worked_ahead, index.size))
        self._index = index

    async def reply(self, question: str) -> Reply:
        """Retrieve and ask the model; ``contexts`` is empty when nothing was near enough."""
        if self._index is None:
            await self.prepare()
        started = time.perf_counter()
        contexts = await self._retrieve(question)
        trace = {"retrieve_ms": (time.perf_counter() - started) * 1000}
        rendered = render_contexts(contexts, self._titles)
        return await answer_from(self._model, self._template, question, contexts, rendered, trace)

    async def close(self) -> None:
        """Close the model and forget the index."""
        self._index = None
        await self._model.close()

    async def _retrieve(self, question: str) -> tuple[Context, ...]:
        index = self._index
        if index is None or not index.size:
            return ()
        embedded = await self._embedder.embed_fresh([question])
        least = self._settings.min_score
        return tuple(
            Context(passage.text, passage.document, passage.start, passage.end, score)
            for passage, score in index.search(embedded.vectors[0], self._settings.top_k)
            if least is None or score >= least
        )

    def _open_index(self) -> PassageIndex:
        key = f"recursive {self._settings.chunk_size} {self._settings.chunk_overlap}"
        return PassageIndex.open(self._folder, self._documents, self._cut, key, self._embedder)

    def _worked_ahead(self, size: int) -> list[str]:
        if not self._model.embedded or size > _WORKED_AHEAD:
            return []
        return [passage.text for document in self._documents for passage in self._cut(document)]

    def _cut(self, document: Document) -> list[Passage]:
        return cut(document, self._settings.chunk_size, self._settings.chunk_overlap)
