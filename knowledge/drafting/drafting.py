"""Drafting: all questions that rules make of documents, and a choice of them that is spread over the documents."""

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Final

from ..documents import Document
from ..perturbing.english import is_english
from ..perturbing.units import words
from .block_questions import Placed, asked_in_text, asked_of_list, asked_of_table
from .blocks import Block, blocks_of, sentences_of, title_of
from .checking import AskedAlready, content, stands_alone
from .draft import Draft
from .sentence_questions import questions_of

_AROUND: Final = 160  # characters before and behind the evidence that are shown with it
_SPEAKS: Final = 3  # times that a text says you or we, from which it speaks to its reader
_ENOUGH_TO_TELL: Final = 2_000  # characters, of which language a text is
_MOST_SENTENCE: Final = 400  # characters
_SMALL_LETTERS: Final = re.compile(r"(?<!\w)[a-z][a-z-]+")
_TO_READER: Final = re.compile(r"\b(?:you|your|we|our)\b", re.IGNORECASE)


def drafts_of(documents: Sequence[Document]) -> Iterator[Draft]:
    """The drafts of documents in the order of their text, at most one of a sentence; only English is read."""
    common = frozenset(word for document in documents for word in _SMALL_LETTERS.findall(document.text))
    for document in documents:
        yield from _of_one(document, common)


def is_read(document: Document) -> bool:
    """Whether its text is English, as far as its beginning tells."""
    return is_english(words(document.text[:_ENOUGH_TO_TELL]))


def _of_one(document: Document, common: Collection[str]) -> Iterator[Draft]:
    text = document.text
    if not is_read(document):
        return
    blocks = list(blocks_of(text))
    title = content(title_of(document))
    speaks = len(_TO_READER.findall(text)) >= _SPEAKS
    for asked, start, end, heading in _all_asked(text, blocks, common):
        known = title | content(heading)
        if stands_alone(asked, known, speaks):
            yield Draft(asked.question, asked.answer, document.id, start, end, asked.kind, around(text, start, end))


def _all_asked(text: str, blocks: Sequence[Block], common: Collection[str]) -> Iterator[tuple[*Placed, str]]:
    for placed in asked_in_text(text, blocks):
        yield (*placed, "")
    for placed in asked_of_list(text, blocks):
        yield (*placed, "")
    for block in blocks:
        if block.kind == "table":
            for placed in asked_of_table(text, block):
                yield (*placed, block.heading)
        elif block.kind in ("text", "item"):
            for sentence in islice(sentences_of(text, block), None if block.kind == "text" else 1):
                if len(sentence.text) <= _MOST_SENTENCE:
                    first = next(questions_of(sentence.text, common), None)
                    if first:
                        yield first, sentence.start, sentence.end, block.heading


def around(text: str, start: int, end: int) -> str:
    """A piece of a text with what stands around it, in whole words, the piece between brackets of its own."""
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    before = before.partition(" ")[2] if start > _AROUND else before
    after = after.rpartition(" ")[0] if end + _AROUND < len(text) else after
    return f"{before}⟦{text[start:end]}⟧{after}"


def chosen(
    drafts: Iterable[Draft], existing: Iterable[str], asked_of: Mapping[str, int], count: int | None,
    per_document: int | None,
) -> list[Draft]:  # fmt: skip
    """Drafts that ask what nobody asked yet, spread: the documents of which least is asked come first.

    Args:
        drafts: of all documents.
        existing: texts of the questions that there are.
        asked_of: how many of these ask of each document.
        count: how many are wanted in all; None for all.
        per_document: how many of one document; None for all.
    """
    there = AskedAlready(existing)
    left: dict[str, deque[Draft]] = {}
    for draft in _unambiguous(list(drafts)):
        left.setdefault(draft.document, deque()).append(draft)
    left = {document: deque(_mixed(of_one)) for document, of_one in left.items()}
    order = {document: place for place, document in enumerate(left)}
    next_ones = [(asked_of.get(document, 0), order[document], document) for document in left]
    heapify(next_ones)
    taken: list[Draft] = []
    number: Counter[str] = Counter()
    while next_ones and (count is None or len(taken) < count):
        asked, place, document = heappop(next_ones)
        found = _next_new(left[document], there)
        if found is None:
            continue
        taken.append(found)
        there.add(found.question)
        number[document] += 1
        if per_document is None or number[document] < per_document:
            heappush(next_ones, (asked + 1, place, document))
    return sorted(taken, key=lambda draft: (order[draft.document], draft.start, draft.question))


def _unambiguous(drafts: Sequence[Draft]) -> Iterator[Draft]:
    """Those whose question has one answer only: two price lists do not agree on what a thing costs."""
    answers: dict[frozenset[str], set[frozenset[str]]] = {}
    for draft in drafts:
        answers.setdefault(content(draft.question), set()).add(content(draft.answer))
    return (draft for draft in drafts if len(answers[content(draft.question)]) == 1)


def _next_new(drafts: deque[Draft], there: AskedAlready) -> Draft | None:
    while drafts:
        draft = drafts.popleft()
        if not there.has(draft.question):
            return draft
    return None


def _mixed(drafts: Iterable[Draft]) -> list[Draft]:
    """Drafts of a document with their kinds taking turns."""
    number: Counter[str] = Counter()
    turns: list[tuple[int, Draft]] = []
    for draft in drafts:
        turns.append((number[draft.kind], draft))
        number[draft.kind] += 1
    return [draft for _, draft in sorted(turns, key=lambda turn: turn[0])]
