"""Model drafts: questions that a chat model writes of passages, each held against the text it quotes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Final

from ...knowledge.documents import Document, Passage
from ...knowledge.drafting.blocks import title_of
from ...knowledge.drafting.checking import understood_alone
from ...knowledge.drafting.draft import Draft
from ...knowledge.drafting.drafting import around
from ...knowledge.evidence import EvidenceFinder
from ...knowledge.searching.sentence_cutting import cut_at_sentences
from ...metrics.score import JudgeUnavailable, NotApplicable, Unreadable
from ...reports.store import Store
from ...reports.writer import RowWriter
from ..engine.interrupts import Interrupts
from ..engine.undisturbed import undisturbed
from .draft_call import DraftCall, Written

if TYPE_CHECKING:
    from ..engine.judging import Judging

OF_A_PASSAGE: Final = 3  # questions that are asked of one
KIND: Final = "model"
_PASSAGE: Final = 2_000  # characters
_FEWEST: Final = 80  # characters, below which a passage holds nothing worth asking for
_KEPT_SHARE: Final = 0.6  # of what a model writes, about


@dataclass(slots=True)
class ModelDrafts:
    """What a model wrote.

    Attributes:
        drafts: those whose quotes stand in their passages, and that can stand alone.
        paid: requests that were made.
        kept: replies that were kept from before.
        dropped: how many were dropped, by why.
        unread: passages for which there is no reply that can be read.
        problem: why the model was stopped; blank while it works.
    """

    drafts: list[Draft] = field(default_factory=list)
    paid: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    problem: str = ""


def passages_to_ask(
    documents: Sequence[Document], asked_of: Mapping[str, int], count: int, per_document: int | None
) -> list[Passage]:
    """The passages of which a model is asked: one call each, those of documents of which least is asked first.

    Args:
        documents: all of them.
        asked_of: how many questions there are of each already.
        count: drafts that are wanted in all.
        per_document: drafts that are wanted of one document; None for any number.
    """
    most = ceil(count / (OF_A_PASSAGE * _KEPT_SHARE))
    of_one = most if per_document is None else ceil(per_document / (OF_A_PASSAGE * _KEPT_SHARE))
    passages = {
        document.id: [
            passage for passage in cut_at_sentences(document, _PASSAGE, 0) if len(passage.text.strip()) >= _FEWEST
        ][:of_one]
        for document in documents
    }
    order = {document.id: place for place, document in enumerate(documents)}
    turns = [
        (asked_of.get(document, 0) + OF_A_PASSAGE * place, order[document], passage)
        for document, of_document in passages.items()
        for place, passage in enumerate(of_document)
    ]
    return [passage for _, _, passage in sorted(turns, key=lambda turn: turn[:2])[:most]]


def calls_for(documents: Sequence[Document], passages: Sequence[Passage]) -> list[DraftCall]:
    """What a model is asked, a call for each passage."""
    titles = {document.id: title_of(document) or document.id for document in documents}
    return [DraftCall(titles[passage.document], passage.text, OF_A_PASSAGE) for passage in passages]


def model_drafts(
    judging: Judging, documents: Sequence[Document], passages: Sequence[Passage], store: Store, *, fresh: bool = False
) -> ModelDrafts:
    """Have a model write questions of passages; what it replies is kept at once, and not asked again.

    Args:
        judging: a language model; it is closed.
        documents: those of the passages, at least.
        passages: of which questions are wanted.
        store: where replies are kept and found again.
        fresh: take no reply that was kept before.
    """
    writer = RowWriter(store.path, None, {})
    try:
        writer.find_left_calls()
        judging.bind(store.path, writer, fresh=fresh)
        with Interrupts() as interrupts, undisturbed():
            replies = interrupts.run(_ask_all(judging, calls_for(documents, passages)))
    finally:
        writer.close()
        judging.shelf.close()
    made = ModelDrafts(paid=judging.shelf.paid, kept=judging.shelf.kept, problem=judging.problem)
    finder = EvidenceFinder(documents)
    by_id = {document.id: document for document in documents}
    for passage, reply in zip(passages, replies, strict=True):
        if reply is None:
            made.unread += 1
            continue
        for written in reply:
            draft = _draft(written, passage, by_id[passage.document], finder)
            if isinstance(draft, str):
                made.dropped[draft] += 1
            else:
                made.drafts.append(draft)
    return made


async def _ask_all(judging: Judging, calls: Sequence[DraftCall]) -> list[tuple[Written, ...] | None]:
    await judging.prepare()
    try:
        return list(await asyncio.gather(*(_ask(judging, call) for call in calls)))
    finally:
        await judging.close()


async def _ask(judging: Judging, call: DraftCall) -> tuple[Written, ...] | None:
    judge, _ = judging.for_row()
    if judge is None:
        return None
    try:
        return await judge.ask(call)
    except (JudgeUnavailable, NotApplicable, Unreadable):
        return None


def _draft(written: Written, passage: Passage, document: Document, finder: EvidenceFinder) -> Draft | str:
    """The draft, or why there is none."""
    _, span = finder.place(document.id, written.quote, passage.start, passage.start + len(written.quote))
    is_there = span is not None and passage.start <= span.start and span.end <= passage.end
    if span is None or not is_there or not _stands(document, written.quote, span.start, span.end):
        return "its quote does not stand in the passage"
    if reason := understood_alone(written.question, written.answer):
        return reason
    shown = around(document.text, span.start, span.end)
    return Draft(written.question, written.answer, document.id, span.start, span.end, KIND, shown)


def _stands(document: Document, quote: str, start: int, end: int) -> bool:
    return document.text[start:end].split() == quote.split()
