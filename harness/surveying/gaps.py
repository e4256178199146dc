"""Gaps: what is missing: stale gold, unsupported answers, thin topics, unanswerable questions answered anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...reports.surveys.survey import Gaps
from ..ground.sentence_book import SentenceBook
from ..ground.support import SupportFinder, evidence_of
from .answered_anyway import answered_anyway
from .stale_gold import stale_gold
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
        one.id: evidence_of(best.places[0].stretch, finder.book)
        for one in looked
        if ground.gold[one.id].kind == "stale" and one.id in found and (best := found[one.id].best).holds
    }
    topics = topics_of(ground, answers)
    findings = [
        *stale_gold(ground, supported),
        *unsupported_answers(ground, found, finder),
        *thin_topics(ground, answers, topics),
        *(answered_anyway(ground, answers) if answers is not None else ()),
    ]
    return Gaps(tuple(findings), topics)


def _is_looked_for(question: Question, ground: Ground) -> bool:
    """Whether a finding may rest on the support of its expected answer; of a supported one only its figures count."""
    kind = ground.gold[question.id].kind if question.id in ground.gold else "none"
    has_figure = any(sign.isdecimal() for text in question.expected for sign in text)
    return kind in {"unsupported", "stale"} or (kind == "support" and has_figure)
