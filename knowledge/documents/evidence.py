"""Evidence locations: where quotes and retrieved passages are in the current documents."""

import bisect
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

from ..questions.question import Evidence, Question
from ..retrieval.splitting import sentence_spans
from .document import Document

_MOST_OCCURRENCES: Final = 50  # a quote that stands more often is evidence of nothing
_REMEMBERED: Final = 8_192


class Span(NamedTuple):
    """Characters of a document: ``document.text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Located:
    """A question whose evidence has its spans in the current documents, and the evidence that is not there."""

    question: Question
    stale: tuple[Evidence, ...] = ()


def only_quotes(answer: str, groups: Iterable[Iterable[str]]) -> bool:
    """Whether an answer is nothing but sentences of gold evidence, with all those of a member of each group.

    Args:
        answer: what a bot said.
        groups: what stands in the places of the evidence; any member of a group will do.

    >>> only_quotes("It opens at nine.", [["It opens at nine."]]), only_quotes("It opens.", [["It opens at nine."]])
    (True, False)
    """
    said, found = _sentences(answer), set[str]()
    for group in groups:
        fitting = [sentences for text in group if (sentences := _sentences(text)) and sentences <= said]
        if not fitting:
            return False
        found.update(*fitting)
    return bool(found) and found == said


def _sentences(text: str) -> set[str]:
    spans = sentence_spans(text)
    return {plain for start, end in spans if (plain := " ".join(text[start:end].lower().split()).strip(" ."))}


class EvidenceFinder:
    """Finds quotes and passages in documents: letter for letter, else with any run of white space as one blank."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._pages = {document.id: _Page(document) for document in documents}
        self._page = lru_cache(_REMEMBERED)(self._find_page)
        self._spans = lru_cache(_REMEMBERED)(self._find_spans)

    @property
    def names(self) -> tuple[str, ...]:
        """Ids of the documents."""
        return tuple(self._pages)

    def locate(self, question: Question) -> Located:
        """The question with the spans of its evidence; a quote that the documents don't hold stays, without a span.

        A quote that stands several times becomes as many members of its group, because any of them will do; one with
        a span of its own is only the occurrence nearest to it. Evidence without a quote is taken as it is.
        """
        stale: list[Evidence] = []
        groups: list[tuple[Evidence, ...]] = []
        for group in question.evidence:
            members: list[Evidence] = []
            for evidence in group:
                found = list(self._members(evidence))
                members += found or self._unplaced(evidence)
                stale += [] if found else [evidence]
            groups += [tuple(dict.fromkeys(members))] if members else []
        return Located(replace(question, evidence=tuple(groups)), tuple(stale))

    def has(self, document: str) -> bool:
        """Whether there is such a document."""
        return self._page(document) is not None

    def place(self, document: str, text: str, start: int | None, end: int | None) -> tuple[str, Span | None]:
        """The id and span of a passage, from the document, the text and perhaps the span that a bot gives.

        The given span counts when that text is there, or nowhere; else the nearest place of the text. A document may be
        named by the end of its path or by a longer path. The span is None when it can't be found, and the name stays
        as it is when there is no such document.
        """
        given = None if start is None or end is None else Span(start, end)
        page = self._page(document)
        if page is None:
            return document, given
        if given is not None and page.text[given.start : given.end] == text:
            return page.id, given
        spans = self._spans(page.id, text)
        if spans:
            return page.id, _nearest(spans, given)
        return page.id, given if given is not None and given.end <= len(page.text) else None

    def _members(self, evidence: Evidence) -> Iterator[Evidence]:
        page = self._page(evidence.document)
        if page is None:
            return
        given = None if evidence.start is None or evidence.end is None else Span(evidence.start, evidence.end)
        if not evidence.quote.strip():
            if given is None or given.start < len(page.text):
                end = None if given is None else min(given.end, len(page.text))
                yield Evidence(page.id, "", evidence.start, end)
            return
        spans = self._spans(page.id, evidence.quote)
        for span in [_nearest(spans, given)] if spans and given else spans:
            yield Evidence(page.id, evidence.quote, *span)

    def _unplaced(self, evidence: Evidence) -> list[Evidence]:
        page = self._page(evidence.document)
        return [Evidence(page.id if page else evidence.document, evidence.quote)] if evidence.quote.strip() else []

    def _find_page(self, name: str) -> "_Page | None":
        if name in self._pages:
            return self._pages[name]
        wanted = name.replace("\\", "/").removeprefix("./")
        if not wanted.strip("/"):
            return None
        # A loader notes the path as it saw it, and people the end of it.
        longer = [id for id in self._pages if wanted == id or wanted.endswith(f"/{id}")]
        shorter = [id for id in self._pages if id.endswith(f"/{wanted}")]
        if longer:
            return self._pages[max(longer, key=len)]
        return self._pages[shorter[0]] if len(shorter) == 1 else None

    def _find_spans(self, document: str, quote: str) -> tuple[Span, ...]:
        return self._pages[document].spans(quote)


class _Page:
    """A document, searchable with and without its white space."""

    def __init__(self, document: Document) -> None:
        self.id = document.id
        self.text = document.text

    @cached_property
    def _words(self) -> tuple[str, list[int], list[int]]:
        """The text with single blanks, and where each word begins there and in the document."""
        words = list(re.finditer(r"\S+", self.text))
        collapsed, begins = [], []
        at = 0
        for word in words:
            begins.append(at)
            collapsed.append(word.group())
            at += len(word.group()) + 1
        return " ".join(collapsed), begins, [word.start() for word in words]

    def spans(self, quote: str) -> tuple[Span, ...]:
        """Where the quote stands; occurrences don't overlap. None for a blank one."""
        if not quote.strip():
            return ()
        exact = tuple(Span(at, at + len(quote)) for at in _occurrences(self.text, quote))
        if exact:
            return exact
        collapsed, begins, starts = self._words
        wanted = " ".join(quote.split())

        def original(at: int) -> int:
            word = bisect.bisect_right(begins, at) - 1
            return starts[word] + at - begins[word]

        return tuple(Span(original(at), original(at + len(wanted) - 1) + 1) for at in _occurrences(collapsed, wanted))


def _occurrences(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    for _ in range(_MOST_OCCURRENCES):
        if at < 0:
            return
        yield at
        at = text.find(piece, at + len(piece))


def _nearest(spans: tuple[Span, ...], given: Span | None) -> Span:
    return spans[0] if given is None else min(spans, key=lambda span: abs(span.start - given.start))
