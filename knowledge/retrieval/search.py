"""Search: the passages that fit a question best, by meaning, by words, or by both, re-ranked or not."""

import math
import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..documents.document import Document, Passage
from ..nearest import did_you_mean
from .index import BulkEmbedder, PassageIndex
from .splitting import Splitting

K1: Final = 1.5
B: Final = 0.75
_WORD: Final = re.compile(r"[^\W_]+")
# Scripts that put no blanks between words: Thai to Myanmar, Khmer, kana, Han.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")


def words(text: str) -> list[str]:
    """The words of a text as they are compared: compatible forms and letter case count as one.

    Of scripts that put no blanks between words, every two characters that stand side by side are one.

    >>> words("How do I reset the P\uff21SSWORD?")
    ['how', 'do', 'i', 'reset', 'the', 'password']
    """
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if not _UNSPACED.search(word):
            found.append(word)
            continue
        for part in _UNSPACED.split(word):
            found += [part] if part else []
        for run in _UNSPACED.findall(word):
            found += [run[place : place + 2] for place in range(max(1, len(run) - 1))]
    return found


class Bm25Index:
    """BM25 as Lucene has it (k1 1.5, b 0.75) over passages, by the library bm25s."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Count the words of the passages."""
        from bm25s import BM25

        counted = [words(passage.text) for passage in passages]
        self._size = len(counted)
        self._index = BM25(k1=K1, b=B, method="lucene") if any(counted) else None
        if self._index is not None:
            self._index.index(counted, show_progress=False)

    def search(self, question: str, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """Places of at most k passages that share a word with the question, with their BM25, highest first.

        Equal ones stand in the order of the passages. Where ``allowed`` of shape (passages,) is given, only
        those are found; how rare a word is and how long a passage on average stay those of all passages.
        """
        asked = words(question)
        if self._index is None or not asked or k < 1:
            return []
        scores = np.asarray(self._index.get_scores(asked))[: self._size]
        places = np.flatnonzero(scores > 0 if allowed is None else (scores > 0) & allowed)
        best = places[np.lexsort((places, -scores[places]))][:k]
        return [(int(place), float(scores[place])) for place in best]


CONSTANT: Final = 60  # of the paper: how little the first ranks stand out


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], constant: int = CONSTANT) -> list[tuple[int, float]]:
    """Items with the sum of ``1 / (constant + rank)`` over the rankings that hold them, highest first.

    Equal sums stand in the order in which the items are met, the first ranking first. Source: Cormack, Clarke and
    Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009.

    Args:
        rankings: places of items, best first, each at most once.
        constant: 60 in the paper.

    >>> reciprocal_rank_fusion([[7, 8], [8]], constant=1)
    [(8, 0.8333333333333333), (7, 0.5)]
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            sums[item] = sums.get(item, 0.0) + 1 / (constant + rank)
    return sorted(sums.items(), key=lambda pair: -pair[1])


_REMEMBERED: Final = 8  # sets of documents; a mask is a byte for each passage


class DocumentPlaces:
    """The positions of each document's passages in a list of passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Note the documents; one may have its passages in several places."""
        names: dict[str, int] = {}
        self._owners = np.fromiter((names.setdefault(each.document, len(names)) for each in passages), dtype=np.int64)
        self._names = names
        self._masks = lru_cache(_REMEMBERED)(self._mask)

    def mask(self, without: Collection[str]) -> NDArray[np.bool_] | None:
        """Shape (passages,), True for those of other documents; None where these have no passages. Not to be changed.

        >>> places = DocumentPlaces([Passage("a.md", 0, 1, "x"), Passage("b.md", 0, 1, "y")])
        >>> places.mask({"a.md"}).tolist()
        [False, True]
        """
        return self._masks(frozenset(without)) if without else None

    def _mask(self, without: frozenset[str]) -> NDArray[np.bool_] | None:
        gone = [self._names[name] for name in without if name in self._names]
        if not gone:
            return None
        is_cached = np.ones(len(self._names), dtype=np.bool_)
        is_cached[gone] = False
        mask = is_cached[self._owners]
        mask.flags.writeable = False
        return mask


CANDIDATES: Final = 50  # that are looked at; a cross-encoder reads each of them with the question
T = TypeVar("T")


def candidates(k: int) -> int:
    """How many a search has to find so that the best k of them are worth choosing."""
    return max(k, CANDIDATES)


def reordered(found: Sequence[T], scores: Sequence[float]) -> list[tuple[T, float]]:
    """What was found with its new score, highest first; equal ones, and those without a number, as they stood.

    Args:
        found: best first, as the search has it.
        scores: one for each; NaN counts as the lowest.

    >>> reordered(["a", "b", "c"], [0.5, 2.0, 0.5])
    [('b', 2.0), ('a', 0.5), ('c', 0.5)]
    """
    pairs = [(each, float(score)) for each, score in zip(found, scores, strict=True)]
    return sorted(pairs, key=lambda pair: math.inf if math.isnan(pair[1]) else -pair[1])


Retriever = Literal["dense", "bm25", "hybrid"]
RETRIEVERS: Final[tuple[Retriever, ...]] = get_args(Retriever)


def known_retriever(given: object) -> object:
    """A retriever as it is written. Raises ValueError where that is neither one of ours nor names code."""
    if not isinstance(given, str) or given in RETRIEVERS or ":" in given:
        return given
    hint = did_you_mean(given.casefold(), RETRIEVERS, "; did you mean {}?")
    raise ValueError(
        f"there is no retriever {given!r}: there are {', '.join(RETRIEVERS)}, and LangChain retrievers of your own as "
        f"file.py:name{hint}"
    )


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
            folder: where their vectors are stored, or None.
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
        allowed = self._places.mask(without)
        near = max(k, FEWEST_CANDIDATES) if self.retriever == "hybrid" else k
        by_meaning = self._dense.search_places(vector, near, allowed) if self._dense and vector is not None else []
        by_words = self._lexical.search(question, near, allowed) if self._lexical else []
        ranked = by_meaning or by_words
        if self.retriever == "hybrid":
            ranked = reciprocal_rank_fusion([[place for place, _ in each] for each in (by_meaning, by_words)])
        return [(self._passages[place], score) for place, score in ranked[:k]]
