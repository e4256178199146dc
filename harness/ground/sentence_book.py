"""SentenceBook: every sentence of the documents, read once, and the stretches of them that may hold an answer."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ...knowledge.cutting import cut
from ...knowledge.documents import Document, Passage
from ...knowledge.searching.bm25 import Bm25Index
from ...knowledge.searching.sentence_cutting import sentence_spans
from ...metrics.judge.embedded.wording import wording

_LONGEST: Final = 1_000  # characters of a sentence; what is longer is no prose and is cut
_CUT_TO: Final = 400
_WIDEST: Final = 3  # neighbouring sentences that are looked at together
_SEARCHED: Final = 4  # times as many sentences are searched where some documents are left out


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring sentences of one document, ``first`` to ``last`` of the book, both within."""

    first: int
    last: int

    @property
    def sentences(self) -> range:
        """The numbers of its sentences."""
        return range(self.first, self.last + 1)


class SentenceBook:
    """The sentences of some documents, searchable by their words."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Cut and read the documents, in their order."""
        self.documents = tuple(documents)
        found = [(place, span) for place, document in enumerate(documents) for span in _spans(document)]
        self._owners = [place for place, _ in found]
        self._spans = [span for _, span in found]
        self.words = tuple(wording(documents[place].text[start:end]) for place, (start, end) in found)
        self._index = Bm25Index([Passage(documents[place].id, *span, self.words[at].text)
                                 for at, (place, span) in enumerate(found)])  # fmt: skip
        self._having: dict[str, int] = {}
        for words in self.words:
            for key in words.content:
                self._having[key] = self._having.get(key, 0) + 1

    @cached_property
    def _document_words(self) -> tuple[frozenset[str], ...]:
        held = [set(wording(f"{each.title}. {each.id}").content) for each in self.documents]
        for at, place in enumerate(self._owners):
            held[place] |= self.words[at].content
        return tuple(map(frozenset, held))

    def rarity(self, key: str) -> float:
        """How telling a word is, from 0 to 1: the fewer of the sentences hold it, the more."""
        count = max(1, len(self.words))
        return math.log1p(count / (1 + self._having.get(key, 0))) / math.log1p(count)

    def document(self, sentence: int) -> Document:
        """The document in which a sentence stands."""
        return self.documents[self._owners[sentence]]

    def document_words(self, sentence: int) -> frozenset[str]:
        """Content words of the whole document in which a sentence stands, with its title and its name."""
        return self._document_words[self._owners[sentence]]

    def span(self, stretch: Stretch) -> tuple[int, int]:
        """The characters of its document in which a stretch stands."""
        return self._spans[stretch.first][0], self._spans[stretch.last][1]

    def text(self, stretch: Stretch) -> str:
        """What a stretch says, letter for letter."""
        start, end = self.span(stretch)
        return self.document(stretch.first).text[start:end]

    def content(self, sentences: Iterable[int]) -> frozenset[str]:
        """Content words of some sentences together."""
        return frozenset[str]().union(*(self.words[at].content for at in sentences))

    def pairs(self, stretch: Stretch) -> frozenset[tuple[str, str]]:
        """Neighbouring content words of a stretch."""
        return frozenset[tuple[str, str]]().union(*(self.words[at].pairs for at in stretch.sentences))

    def search(self, text: str, count: int, without: Collection[str] = ()) -> list[int]:
        """At most so many sentences that share words with the text, best first, but for those of some documents."""
        wide = count * _SEARCHED if without else count
        found = [at for at, _ in self._index.search(text, wide)]
        return [at for at in found if self.document(at).id not in without][:count] if without else found

    def around(self, sentence: int) -> Iterator[Stretch]:
        """The stretches that hold a sentence: alone, and with its neighbours."""
        for length in range(1, _WIDEST + 1):
            for first in range(sentence - length + 1, sentence + 1):
                stretch = Stretch(first, first + length - 1)
                if self._stands(stretch):
                    yield stretch

    def _stands(self, stretch: Stretch) -> bool:
        if stretch.first < 0 or stretch.last >= len(self.words):
            return False
        return self._owners[stretch.first] == self._owners[stretch.last]


def _spans(document: Document) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(document.text):
        if end - start <= _LONGEST:
            yield start, end
            continue
        for piece in cut(Document(document.id, document.text[start:end]), _CUT_TO, 0):
            yield start + piece.start, start + piece.end
