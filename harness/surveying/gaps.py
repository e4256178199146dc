"""Gaps: what is missing: stale gold, unsupported answers, thin topics, unanswerable questions answered anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...reports.surveys.survey import Gaps
from ..ground.answer_signals import THRESHOLD
from ..ground.sentence_book import SentenceBook
from ..ground.support import AnswerSupport, ClaimSupport, SupportFinder, evidence_of
from .answered_anyway import answered_anyway
from .stale_gold import Supported, stale_gold
from .topics import thin_topics, topics_of
from .unsupported import unsupported_answers

if TYPE_CHECKING:
    from ...knowledge.questions import Question
    from ..ground.answers import Answers
    from ..ground.ground import Ground


def find_gaps(ground: Ground, answers: Answers | None) -> Gaps:
    """What is missing from the documents, kind by kind in the order of the questions, the worst topics first.

    This blocks.

    Args:
        ground: with the supports that were found (``with_supports``).
        answers: what the bots of a run said; None where there is none.
    """
    looked = [one for one in ground.questions if _is_looked_for(one, ground)]
    finder = SupportFinder(SentenceBook(ground.documents if looked else ()), ground.embedder)
    found = finder.find(looked)
    supported = {
        one.id: Supported(
            tuple(evidence_of(place.stretch, finder.book) for each in _held(found[one.id]) for place in each.places),
            found[one.id].score >= THRESHOLD,
        )
        for one in looked
        if one.id in found
    }
    topics = topics_of(ground, answers)
    findings = [
        *stale_gold(ground, supported),
        *unsupported_answers(ground, found, finder),
        *thin_topics(ground, answers, topics),
        *(answered_anyway(ground, answers) if answers is not None else ()),
    ]
    return Gaps(tuple(findings), topics)


def _held(found: AnswerSupport) -> list[ClaimSupport]:
    """The claims that the documents support, the best first."""
    return sorted((one for one in found.claims if one.holds), key=lambda one: -one.score)


def _is_looked_for(question: Question, ground: Ground) -> bool:
    """Whether a finding may rest on the support of its expected answer; of a supported one only its figures count."""
    gold = ground.gold.get(question.id)
    if gold is not None and gold.stale:
        return True
    kind = "none" if gold is None else gold.kind
    has_figure = any(sign.isdecimal() for text in question.expected for sign in text)
    return kind == "unsupported" or (kind == "support" and has_figure)
