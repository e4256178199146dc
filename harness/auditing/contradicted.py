"""Contradicted answers: expected answers of which the very documents that should hold them say otherwise.

Precision comes first. An answer is called contradicted only where none of the accepted ones is held, a sentence of the
evidence is about the same matter (it has most of the content words of question and answer), and in the place of the
answer's figure, date, name or word it has another one, which the documents of the evidence don't have beside the same
unit anywhere. Where a question has no evidence and no document supports its answer, the sentences that share most with
it are looked at, and must share more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ...knowledge.documents import Document, Passage
from ...knowledge.searching.bm25 import Bm25Index
from ...metrics.judge.embedded.claims import claims_of
from ...metrics.judge.embedded.matching import declines, refuses
from ...metrics.judge.embedded.signals import Conflict
from ...metrics.judge.embedded.wording import wording
from ...metrics.text import sentences
from ...reports.surveys.finding import Excerpt, Finding
from .asked_twice import shortened
from .claim_conflicts import conflicts, held_elsewhere, is_said, shared_matter

if TYPE_CHECKING:
    from ...knowledge.questions import Question
    from ..ground.ground import Ground, QuestionGold

_SAME_MATTER: Final = 0.5  # of the content words of question and claim that a sentence of the evidence must have
_SURELY_SAME: Final = 0.75  # likewise of a sentence that nobody named as evidence
_LOOKED_AT: Final = 8  # such sentences
_LONGEST: Final = 600  # characters of a sentence; longer ones are tables and lists, in which anything stands
_SPOKEN: Final = {
    "number": "another number", "date": "another date", "name": "another name", "negation": "the opposite",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a document, and where it stands."""

    document: str
    start: int
    text: str

    @property
    def excerpt(self) -> Excerpt:
        return Excerpt(self.document, self.start, self.start + len(self.text), self.text)


@dataclass(frozen=True, slots=True)
class _Contradiction:
    claim: str
    sentence: _Sentence
    conflict: Conflict
    shared: float


def contradicted_answers(ground: Ground) -> tuple[Finding, ...]:
    """The questions whose expected answers the documents contradict, in their order."""
    loose: _Loose | None = None
    found = []
    for question in ground.questions:
        gold = ground.gold.get(question.id)
        if gold is None or not question.expected or question.answerable is False:
            continue
        if gold.kind == "evidence":
            near, whole = _evidence_sentences(gold, ground), _texts_of(gold, ground)
            against = _against(question, near, whole, _SAME_MATTER)
        elif gold.kind == "unsupported":
            loose = loose or _Loose(ground.documents)
            near = loose.near(f"{question.text} {question.expected[0]}")
            whole = [ground.by_id[document].text for document in dict.fromkeys(one.document for one in near)]
            against = _against(question, near, whole, _SURELY_SAME)
        else:
            continue
        if against is not None:
            found.append(_finding(question, against, gold.kind == "evidence"))
    return tuple(found)


def _against(
    question: Question, near: Sequence[_Sentence], whole: Sequence[str], least: float
) -> _Contradiction | None:
    """What contradicts every accepted answer; None where one of them is not contradicted."""
    first: _Contradiction | None = None
    for answer in question.expected:
        if declines(answer) or refuses(answer):
            return None
        each = (_contradiction(question, claim, near, whole, least) for claim in claims_of(answer) or (answer,))
        found = next(filter(None, each), None)
        if found is None:
            return None
        first = first or found
    return first


def _contradiction(
    question: Question, claim: str, near: Sequence[_Sentence], whole: Sequence[str], least: float
) -> _Contradiction | None:
    """The sentence that says otherwise than a claim, where no sentence says it."""
    asked, said = wording(question.text[:2_000]), wording(claim[:2_000])
    if not said.words:
        return None
    best: _Contradiction | None = None
    for sentence in near:
        text = wording(sentence.text)
        if is_said(asked, said, text):
            return None
        shared = shared_matter(asked, said, text)
        if shared < least or (best is not None and shared <= best.shared):
            continue
        found = (one for one in conflicts(asked, said, text, shared) if not held_elsewhere(one, said, whole))
        if (conflict := next(found, None)) is not None:
            best = _Contradiction(claim, sentence, conflict, round(shared, 4))
    return best


def _evidence_sentences(gold: QuestionGold, ground: Ground) -> list[_Sentence]:
    """The sentences of the documents that the evidence touches."""
    found: dict[tuple[str, int], _Sentence] = {}
    for group in gold.groups:
        for member in group:
            document = ground.by_id.get(member.document)
            if document is None or member.start is None or member.end is None:
                continue
            for one in _sentences(document):
                if one.start < member.end and member.start < one.start + len(one.text) and len(one.text) <= _LONGEST:
                    found[one.document, one.start] = one
    return list(found.values())


def _texts_of(gold: QuestionGold, ground: Ground) -> list[str]:
    return [ground.by_id[document].text for document in sorted(gold.documents) if document in ground.by_id]


@lru_cache(maxsize=4_096)
def _sentences(document: Document) -> tuple[_Sentence, ...]:
    """The sentences of a document with their places."""
    found, after = [], 0
    for text in sentences(document.text):
        start = document.text.find(text, after)
        if start >= 0:
            found.append(_Sentence(document.id, start, text))
            after = start + len(text)
    return tuple(found)


class _Loose:
    """All sentences of the documents, found by their words."""

    def __init__(self, documents: Sequence[Document]) -> None:
        every = [one for document in documents for one in _sentences(document)]
        self._sentences = [one for one in every if len(one.text) <= _LONGEST]
        passages = [Passage(one.document, one.start, one.start + len(one.text), one.text) for one in self._sentences]
        self._index = Bm25Index(passages)

    def near(self, text: str) -> list[_Sentence]:
        """The sentences that share most with a text."""
        return [self._sentences[place] for place, _ in self._index.search(text, _LOOKED_AT)]


def _finding(question: Question, against: _Contradiction, named: bool) -> Finding:
    conflict = against.conflict
    instead = f'instead of "{conflict.claimed}" there stands "{conflict.found}"'
    if conflict.kind == "negation":
        instead = "one of them denies what the other says"
    where = "The evidence" if named else "A passage"
    return Finding(
        kind="contradicted_answer",
        severity="high" if named else "medium",
        what=(
            f"{where} of question {question.id} in {against.sentence.document} says {_SPOKEN[conflict.kind]} than the "
            f'expected answer "{shortened(against.claim)}": {instead}. Bots that answer by the document '
            "are marked wrong."
        ).replace("A passage of question", "A passage on question"),
        action=f"Correct the expected answer of {question.id}, or the document if that is what is wrong.",
        places=(against.sentence.excerpt,),
        questions=(question.id,),
        score=against.shared,
        details={
            "expected": list(question.expected), "claim": against.claim, "conflict": conflict.kind,
            "claimed": conflict.claimed, "found": conflict.found, "shared": against.shared,
        },
    )  # fmt: skip
