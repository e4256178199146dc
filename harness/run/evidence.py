"""Places: gold evidence and retrieved contexts as facts, on the characters of the documents."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...metrics.facts import Place, is_blank
from ...reports.store.encoding import to_json

if TYPE_CHECKING:
    from ...bots import Context
    from ...knowledge import Evidence, EvidenceFinder, Knowledge, Question, Questions
    from ...metrics.plan import Plan

NEEDS = frozenset({"gold", "retrieved"})
NAMED = 3  # pieces of stale evidence that are named in a warning


@dataclass(frozen=True, slots=True)
class Places:
    """Says where evidence and contexts stand; without documents it takes their spans as they are told."""

    finder: EvidenceFinder | None = None

    def located(self, question: Question) -> Question:
        """The question with the spans of its evidence in today's documents."""
        return question if self.finder is None or not question.evidence else self.finder.locate(question).question

    def gold(self, question: Question) -> list[list[Place]]:
        """The groups of evidence of a located question."""
        groups = ([_gold(one) for one in group if _is_placed(one)] for group in question.evidence)
        return [group for group in groups if group]

    def retrieved(self, contexts: Sequence[Context] | None) -> list[Place] | None:
        """The places of contexts, in their order; empty when all are blank, None without a retriever."""
        if contexts is None:
            return None
        if all(is_blank(context.text) for context in contexts):
            return []
        return [self._place(context) for context in contexts]

    def _place(self, context: Context) -> Place:
        if self.finder is None:
            known = context.start is not None and context.end is not None
            return Place(context.document, context.start, context.end) if known else Place(context.document)
        document, span = self.finder.place(context.document, context.text, context.start, context.end)
        return Place(document) if span is None else Place(document, *span)


@dataclass(frozen=True, slots=True)
class LocatedQuestions:
    """The questions of a set with their evidence located, streamed; without places they are as they stand."""

    questions: Questions
    places: Places | None = None

    @property
    def count(self) -> int:
        """How many there are."""
        return self.questions.count

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions) if self.places is None else map(self.places.located, self.questions)


def _is_placed(evidence: Evidence) -> bool:
    """False for a quote that was not located: as long as nobody knows where it stands, it can't be hit."""
    return evidence.start is not None or is_blank(evidence.quote)


def _gold(evidence: Evidence) -> Place:
    return Place(evidence.document, evidence.start, evidence.end)


@dataclass(slots=True)
class GoldEvidence:
    """What the evidence of a question set comes to in today's documents.

    Attributes:
        places: says where evidence and contexts stand; None when no metric asks for it.
        fingerprint: hash over all located evidence: where the evidence has moved, a run is another one.
        warnings: sentences about evidence that doesn't stand in the documents.
    """

    places: Places | None = None
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()


def gold_evidence(plan: Plan, questions: Questions, knowledge: Callable[[], Knowledge] | None) -> GoldEvidence:
    """Locate the evidence of all questions, before anybody is asked; the knowledge is read if a metric needs it."""
    if not NEEDS & plan.needs:
        return GoldEvidence()
    if not questions.has["evidence"]:
        return GoldEvidence(Places())
    if knowledge is None:
        problem = "has evidence, but the suite names no knowledge in which its quotes could be located"
        return GoldEvidence(Places(), "", (f"{questions.path} {problem}; retrieval is measured without them.",))
    from ...knowledge import EvidenceFinder

    finder = EvidenceFinder(knowledge().documents)
    hashed, stale, named = hashlib.sha256(), 0, list[str]()
    for question in questions:
        if question.evidence:
            located = finder.locate(question)
            hashed.update(to_json([question.id, located.question.evidence]).encode())
            stale += len(located.stale)
            if len(named) < NAMED:
                named += _sentences(question, located.stale, finder)
    return GoldEvidence(Places(finder), hashed.hexdigest(), tuple(_warnings(questions, stale, named[:NAMED])))


def _warnings(questions: Questions, stale: int, named: Sequence[str]) -> Iterator[str]:
    if stale:
        pieces = "1 piece of evidence does" if stale == 1 else f"{stale} pieces of evidence do"
        which = f"; the first {len(named)}" if stale > len(named) else ""
        yield (
            f"{questions.path}: {pieces} not stand in the knowledge and can't count{which}: {'; '.join(named)}. "
            "Quote the documents as they are now."
        )


def _sentences(question: Question, stale: Iterable[Evidence], finder: EvidenceFinder) -> Iterator[str]:
    where = f"question {question.id!r}" if question.line is None else f"line {question.line}, question {question.id!r}"
    for evidence in stale:
        if finder.has(evidence.document):
            yield f"{where}: {evidence.document} does not hold {_shortened(evidence)}"
        else:
            near = difflib.get_close_matches(evidence.document, finder.names, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            yield f"{where}: there is no document {evidence.document}{hint}"


def _shortened(evidence: Evidence) -> str:
    quote = " ".join(evidence.quote.split())
    if not quote:
        return f"characters {evidence.start} to {evidence.end}"
    return f'"{quote[:60]}..."' if len(quote) > 63 else f'"{quote}"'
