"""Question list: questions that were made in memory, where others come from a file."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from .question_writing import question_row
from .questions import Question


class Questions(Protocol):
    """What an exam must know of a set of questions; for the attributes see ``QuestionSet``."""

    @property
    def path(self) -> Path:
        """Where they come from."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of all that they are."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences for the user."""
        ...

    @property
    def has_expected(self) -> int:
        """How many have an expected answer."""
        ...

    @property
    def has_constraints(self) -> int:
        """How many have constraints."""
        ...

    @property
    def has_evidence(self) -> int:
        """How many have gold evidence."""
        ...

    @property
    def has_answerable(self) -> int:
        """For how many it is said whether the knowledge answers them."""
        ...

    @property
    def misspelt(self) -> Mapping[str, str]:
        """By what it should fill (such as ``expected``), a key that is not known."""
        ...

    def __iter__(self) -> Iterator[Question]:
        """From the first, each time."""
        ...


class QuestionList:
    """A set of questions in memory.

    Args:
        path: the file of which they were made, for messages.
        questions: all of them.
        warnings: sentences for the user.
    """

    def __init__(self, path: Path, questions: Sequence[Question], warnings: Sequence[str] = ()) -> None:
        self.path = path
        self.warnings = tuple(warnings)
        self._questions = tuple(questions)
        self.count = len(self._questions)
        self.has_expected = sum(bool(question.expected) for question in questions)
        self.has_constraints = sum(bool(question.constraints) for question in questions)
        self.has_evidence = sum(bool(question.evidence) for question in questions)
        self.has_answerable = sum(question.answerable is not None for question in questions)
        self.fingerprint = _fingerprint(self._questions)
        self.misspelt: Mapping[str, str] = {}

    def __iter__(self) -> Iterator[Question]:
        return iter(self._questions)

    def __len__(self) -> int:
        return self.count


def _fingerprint(questions: Sequence[Question]) -> str:
    hashed = hashlib.sha256()
    for question in questions:
        row = json.dumps(question_row(question), sort_keys=True, default=str)
        hashed.update(f"{row}\n".encode())
    return hashed.hexdigest()
