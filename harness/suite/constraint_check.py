"""Constraint check: a pattern that can't be used is found before any question is asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ... import InputError

if TYPE_CHECKING:
    from ...knowledge.questions import Question
    from ...metrics.plan import Plan


def check_constraints_of(questions: Iterable[Question], path: Path, plan: Plan) -> None:
    """See that the constraints of all questions can be checked, where a metric asks for them.

    Raises:
        InputError: a constraint can't be used; with file and line.
    """
    if "constraints" not in plan.needs:
        return
    from ...metrics.presence import check_constraints

    for question in questions:
        if question.constraints:
            try:
                check_constraints(question.constraints)
            except InputError as error:
                place = f"{path}:{question.line}" if question.line else str(path)
                raise InputError(f"{place}: {error}") from error
