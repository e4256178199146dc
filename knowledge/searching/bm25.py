"""BM25: passages ranked by the words that they share with a question."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..documents import Passage

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

    def search(self, question: str, k: int, kept: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """Places of at most k passages that share a word with the question, with their BM25, highest first.

        Equal ones stand in the order of the passages. Where ``kept`` of shape (passages,) is given, only those that are
        kept are found; how rare a word is and how long a passage on average stay those of all passages.
        """
        asked = words(question)
        if self._index is None or not asked or k < 1:
            return []
        scores = np.asarray(self._index.get_scores(asked))[: self._size]
        places = np.flatnonzero(scores > 0 if kept is None else (scores > 0) & kept)
        best = places[np.lexsort((places, -scores[places]))][:k]
        return [(int(place), float(scores[place])) for place in best]
