"""PassageSearch: the passages that fit a question best, by meaning, by words, or by both."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..documents import Document, Passage
from ..index import BulkEmbedder, PassageIndex
from .bm25 import Bm25Index
from .document_places import DocumentPlaces
from .fusion import reciprocal_rank_fusion
from .splitting import Splitting

Retriever = Literal["dense", "bm25", "hybrid"]
RETRIEVERS: Final[tuple[Retriever, ...]] = get_args(Retriever)
FEWEST_CANDIDATES: Final = 50  # of each ranking that is fused; below that agreement of the two is a matter of chance


class PassageSearch:
    """Passages under one or two indexes.

    Attributes:
        retriever: how they are searched.
        warnings: what could not be read or saved, for the manifest.
    """

    def __init__(self, passages: Sequence[Passage], retriever: Retriever, dense: PassageIndex | None = None) -> None:
        """Index the passages by words where the retriever asks for it; ``dense`` is their index by meaning."""
        self.retriever = retriever
        self.warnings = dense.warnings if dense else ()
        self._passages = passages
        self._dense = dense
        self._lexical = None if retriever == "dense" else Bm25Index(passages)
        self._places = DocumentPlaces(passages)

    @classmethod
    def open(
        cls,
        retriever: Retriever,
        documents: Sequence[Document],
        splitting: Splitting,
        embedder: BulkEmbedder,
        folder: Path | None,
    ) -> "PassageSearch":
        """Cut and index documents; this blocks.

        Args:
            retriever: how they will be searched; the embedder is not called for ``bm25``.
            documents: all that is to be found, in the order that decides between equal passages.
            splitting: how they are cut.
            embedder: for passages; the same must embed the questions.
            folder: where their vectors are kept, or None.
        """
        if retriever == "bm25":
            return cls([passage for document in documents for passage in splitting.cut(document)], retriever)
        dense = PassageIndex.open(folder, documents, splitting.cut, splitting.key, embedder)
        return cls(dense.passages, retriever, dense)

    @property
    def passages(self) -> Sequence[Passage]:
        """All passages, in the order of the documents."""
        return self._passages

    @property
    def size(self) -> int:
        """How many passages there are."""
        return len(self._passages)

    @property
    def needs_vector(self) -> bool:
        """Whether a question has to be embedded."""
        return self._dense is not None and self.size > 0

    def find(
        self, question: str, vector: NDArray[np.float32] | None, k: int, without: Collection[str] = ()
    ) -> list[tuple[Passage, float]]:
        """At most k passages, best first, with their score.

        That is the cosine for ``dense``, BM25 for ``bm25``, and for ``hybrid`` the sum of reciprocal ranks.

        Args:
            question: the text.
            vector: its embedding; None where ``needs_vector`` is False.
            k: how many.
            without: ids of documents whose passages are as if they were not there, before rankings are fused. For
                ``dense`` that is just what an index without them would find. For ``bm25`` and ``hybrid`` how rare a
                word is and how long passages are stay as counted over all documents, so that a search without one
                document differs from that with it by nothing else.
        """
        kept = self._places.kept(without)
        near = max(k, FEWEST_CANDIDATES) if self.retriever == "hybrid" else k
        by_meaning = self._dense.search_places(vector, near, kept) if self._dense and vector is not None else []
        by_words = self._lexical.search(question, near, kept) if self._lexical else []
        ranked = by_meaning or by_words
        if self.retriever == "hybrid":
            ranked = reciprocal_rank_fusion([[place for place, _ in each] for each in (by_meaning, by_words)])
        return [(self._passages[place], score) for place, score in ranked[:k]]
