"""Calls in which a judge checks numbered items: claims, sentences and chunks against texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .call import Block, JudgeCall, Reading
from .verdicts import Agreement, AnswerSupport, ExpectedSupport


@dataclass(frozen=True, slots=True)
class ContextText:
    """A sentence of the contexts, and the number of its chunk, from 1."""

    chunk: int
    text: str


@dataclass(frozen=True, slots=True)
class CheckAnswer(JudgeCall[AnswerSupport]):
    """J2a: the answer's claims against the contexts, and which context sentences the question needs.

    The expected answer is not shown. Parts that are empty are not asked about: ``claims``, ``sentences``.
    """

    name: ClassVar[str] = "check_answer"

    question: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    sentences: tuple[ContextText, ...] = ()

    def shown(self) -> Sequence[Block]:
        raise NotImplementedError

    def read(self, reply: str) -> Reading[AnswerSupport]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CheckExpected(JudgeCall[ExpectedSupport]):
    """J2b: the expected answer's claims and sentences against the contexts, and which chunks and sentences help.

    The answer is not shown. Parts: ``claims``, ``expected_sentences``, ``usefulness`` (of every chunk) and
    ``sentences`` (of the contexts, that support the expected answer).
    """

    name: ClassVar[str] = "check_expected"

    question: str
    expected: str
    chunks: tuple[str, ...]
    claims: tuple[str, ...] = ()
    expected_sentences: tuple[str, ...] = ()
    usefulness: bool = False
    sentences: tuple[ContextText, ...] = ()

    def shown(self) -> Sequence[Block]:
        raise NotImplementedError

    def read(self, reply: str) -> Reading[ExpectedSupport]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class CompareClaims(JudgeCall[Agreement]):
    """J3: the answer's claims against the expected answer, and the expected claims against the answer.

    ``question`` is for judges that need it to understand short answers; the specification's prompt shows E, A and
    both lists.
    """

    name: ClassVar[str] = "compare_claims"

    expected: str
    answer: str
    answer_claims: tuple[str, ...]
    expected_claims: tuple[str, ...]
    question: str = ""

    def shown(self) -> Sequence[Block]:
        raise NotImplementedError

    def read(self, reply: str) -> Reading[Agreement]:
        raise NotImplementedError
