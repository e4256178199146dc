"""Question clusters: which questions stand and fall together in every statistic of a survey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...knowledge.questions import Question
    from .ground import QuestionGold


def question_clusters(questions: Iterable[Question], gold: Mapping[str, QuestionGold]) -> NDArray[np.intp]:
    """Codes of the questions' clusters in order of appearance: what they are drawn from, and so not independent.

    A question's cluster is its ``source_document``; without one the first document in which its answer stands, or
    stood when its evidence was written; without any the question itself.

    Args:
        questions: in the order of the codes.
        gold: where their answers stand, by their keys.
    """
    codes: dict[tuple[bool, str], int] = {}
    made = []
    for question in questions:
        document = question.source_document or _document(gold.get(question.id))
        made.append(codes.setdefault((True, document) if document else (False, question.id), len(codes)))
    return np.array(made, np.intp)


def _document(gold: QuestionGold | None) -> str:
    if gold is None:
        return ""
    places = (*(one for group in gold.groups for one in group), *gold.stale)
    return next((place.document for place in places), "")
