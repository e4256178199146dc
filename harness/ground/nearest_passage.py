"""Nearest passage: where a text that the documents no longer hold stands now, reworded, changed or moved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...knowledge.searching.sentence_cutting import sentence_spans

if TYPE_CHECKING:
    from ...knowledge.documents import Document

_WORD: Final = re.compile(r"[^\W_]+(?:[.,'’][^\W_]+)*")  # noqa: RUF001 - a quote that texts have
_MOST_WORDS: Final = 200  # of a quote that is compared
_STARTS: Final = 4  # places of a document that are looked at closely
_LENGTHS: Final = (0.7, 0.85, 1.0, 1.2, 1.4)  # of a passage, beside the quote's
_STEPS: Final = (-0.25, 0.0, 0.25)  # shares of the quote's length by which a start is moved
_LONGEST_SENTENCE: Final = 500  # characters; of a longer one only the part is shown
_DOCUMENTS: Final = 6  # that share most words with the quote


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage that comes near to a text.

    Attributes:
        document: id of its document.
        start: of its sentences, in characters.
        end: likewise.
        text: what stands there.
        similarity: 2 M / T of the words that both have in the same order; 1 for the same words.
        figures: numbers of the text with what stands in their place.
    """

    document: str
    start: int
    end: int
    text: str
    similarity: float
    figures: tuple[tuple[str, str], ...] = ()


class _Read:
    """A document as the numbers of its words."""

    def __init__(self, document: Document, numbers: dict[str, int]) -> None:
        self.document = document
        found = [(match[0].lower(), match.start(), match.end()) for match in _WORD.finditer(document.text)]
        self.words = [word for word, _, _ in found]
        self.starts = [start for _, start, _ in found]
        self.ends = [end for _, _, end in found]
        self.numbers = np.array([numbers.setdefault(word, len(numbers)) for word in self.words], dtype=np.int64)
        self.distinct = np.unique(self.numbers)

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Where its sentences stand."""
        return sentence_spans(self.document.text)


class PassageFinder:
    """Finds the passages of some documents that come nearest to a text."""

    def __init__(self, documents: Sequence[Document]) -> None:
        """Read the documents, in the order that decides between equal passages."""
        self._numbers: dict[str, int] = {}
        self._read = [_Read(document, self._numbers) for document in documents]
        self._places = {document.id: place for place, document in enumerate(documents)}
        held = np.concatenate([np.empty(0, np.int64), *(one.distinct for one in self._read)])
        owners = np.repeat(np.arange(len(self._read)), [len(one.distinct) for one in self._read])
        self._holders = owners[np.argsort(held, kind="stable")]  # places of documents, word after word
        having = np.bincount(held, minlength=len(self._numbers))
        self._ends = np.concatenate([[0], np.cumsum(having)])
        self._rarity = np.log1p(len(self._read) / (1 + having))

    def nearest(self, text: str, documents: Iterable[str] | None = None) -> NearPassage | None:
        """The passage that comes nearest to a text; None where none shares a word with it.

        Args:
            text: what it should say.
            documents: ids of those that are looked at; None for all.
        """
        words = [match[0].lower() for match in _WORD.finditer(text)][:_MOST_WORDS]
        wanted = np.unique([self._numbers[word] for word in words if word in self._numbers]).astype(np.int64)
        if not len(wanted):
            return None
        shared = self._shared(wanted)
        if documents is not None:
            chosen = np.zeros(len(shared), np.bool_)
            chosen[[self._places[id] for id in documents if id in self._places]] = True
            shared[~chosen] = 0.0
        ranked = np.argsort(-shared, kind="stable")[:_DOCUMENTS].tolist()
        found = [near for at in ranked if shared[at] > 0 and (near := self._within(words, wanted, self._read[at]))]
        return max(found, key=lambda near: near.similarity, default=None)

    def _shared(self, wanted: NDArray[np.int64]) -> NDArray[np.float64]:
        """How rare the words are that each document shares, together."""
        shared = np.zeros(len(self._read))
        for number in wanted:
            shared[self._holders[self._ends[number] : self._ends[number + 1]]] += self._rarity[number]
        return shared

    def _within(self, words: list[str], wanted: NDArray[np.int64], one: _Read) -> NearPassage | None:
        """The nearest passage of one document."""
        weights = np.where(np.isin(one.numbers, wanted), self._rarity[one.numbers], 0.0)
        sums = np.concatenate([[0.0], np.cumsum(weights)])
        length = min(len(words), len(one.words))
        gains = sums[length:] - sums[: len(sums) - length]
        likeness = _Likeness(words, one.words)
        best = (0.0, 0, 0)
        for first, last in dict.fromkeys(_windows(gains, length, len(one.words))):
            best = max(best, (likeness.of(first, last, best[0]), -first, -last))
        if best[0] <= 0:
            return None
        similarity, first, last = likeness.fitted(best[0], -best[1], -best[2])
        start, end = _whole_sentences(one, one.starts[first], one.ends[last - 1])
        return NearPassage(
            one.document.id,
            start,
            end,
            one.document.text[start:end],
            round(similarity, 4),
            tuple(_figures(words, one.words[first:last])),
        )


class _Likeness:
    """How alike a text and stretches of a document's words are."""

    def __init__(self, words: Sequence[str], others: Sequence[str]) -> None:
        self._others = others
        self._matcher = SequenceMatcher(None, autojunk=False)
        self._matcher.set_seq2(words)

    def of(self, first: int, last: int, more_than: float = 0.0) -> float:
        """The similarity of a stretch; 0 where it is not above what is asked for."""
        self._matcher.set_seq1(self._others[first:last])
        if self._matcher.real_quick_ratio() <= more_than or self._matcher.quick_ratio() <= more_than:
            return 0.0
        found = self._matcher.ratio()
        return found if found > more_than else 0.0

    def fitted(self, similarity: float, first: int, last: int) -> tuple[float, int, int]:
        """The stretch with its ends moved word by word as long as that makes it more alike."""
        moved = True
        while moved:
            moved = False
            for start, end in ((first + 1, last), (first, last - 1), (first - 1, last), (first, last + 1)):
                if 0 <= start < end <= len(self._others) and (found := self.of(start, end, similarity)):
                    similarity, first, last, moved = found, start, end, True
                    break
        return similarity, first, last


def _windows(gains: NDArray[np.float64], length: int, count: int) -> Iterable[tuple[int, int]]:
    """Stretches of words about where most of the wanted ones stand together."""
    left = gains.copy()
    for _ in range(_STARTS):
        at = int(np.argmax(left))
        if left[at] <= 0:
            return
        left[max(0, at - length // 2) : at + length // 2 + 1] = -1
        for step in _STEPS:
            for share in _LENGTHS:
                first = min(max(0, at + round(step * length)), count - 1)
                yield first, min(count, first + max(1, round(share * length)))


def _whole_sentences(one: _Read, start: int, end: int) -> tuple[int, int]:
    """The sentences at least half of which lie in a stretch, else the one that holds it if that is not too long."""
    touched = [(first, last) for first, last in one.sentences if first < end and start < last]
    most = [(first, last) for first, last in touched if 2 * (min(last, end) - max(first, start)) >= last - first]
    chosen = most or [(first, last) for first, last in touched[:1] if last - first <= _LONGEST_SENTENCE]
    return (chosen[0][0], chosen[-1][1]) if chosen else (start, end)


def _figures(words: Sequence[str], others: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Numbers of one text beside the number in the same place of the other."""
    for tag, start, end, other_start, other_end in SequenceMatcher(None, words, others, autojunk=False).get_opcodes():
        if tag == "replace":
            ours = [word for word in words[start:end] if word[:1].isdecimal()]
            theirs = [word for word in others[other_start:other_end] if word[:1].isdecimal()]
            yield from zip(ours, theirs, strict=False)
