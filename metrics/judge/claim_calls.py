"""Calls in which a judge takes a text apart: claims, reverse questions, entities."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .call import Block, JudgeCall, Reading
from .verdicts import ReverseQuestion


@dataclass(frozen=True, slots=True)
class AnswerClaims(JudgeCall[tuple[str, ...]]):
    """J1a: the answer as self-contained claims; none for a greeting or a refusal."""

    name: ClassVar[str] = "answer_claims"
    is_verdict: ClassVar[bool] = False

    question: str
    answer: str

    def shown(self) -> Sequence[Block]:
        return (Block("question", self.question), Block("answer", self.answer))

    def read(self, reply: str) -> Reading[tuple[str, ...]]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ExpectedClaims(JudgeCall[tuple[str, ...]]):
    """J1e: an expected answer as self-contained claims; once for a test case, whatever bots answer."""

    name: ClassVar[str] = "expected_claims"
    is_verdict: ClassVar[bool] = False

    question: str
    expected: str

    def shown(self) -> Sequence[Block]:
        return (Block("question", self.question), Block("expected", self.expected))

    def read(self, reply: str) -> Reading[tuple[str, ...]]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ReverseQuestions(JudgeCall[tuple[ReverseQuestion, ...]]):
    """J4: questions that the answer would answer; the judge does not see the real one."""

    name: ClassVar[str] = "reverse_questions"
    is_verdict: ClassVar[bool] = False

    answer: str
    count: int = 3

    def shown(self) -> Sequence[Block]:
        return (Block("answer", self.answer),)

    def read(self, reply: str) -> Reading[tuple[ReverseQuestion, ...]]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Entities(JudgeCall[tuple[str, ...]]):
    """J5: the entities of a text, each once: the expected answer's (J5e) or those of all contexts (J5c)."""

    name: ClassVar[str] = "entities"
    is_verdict: ClassVar[bool] = False

    text: str

    def shown(self) -> Sequence[Block]:
        return (Block("text", self.text),)

    def read(self, reply: str) -> Reading[tuple[str, ...]]:
        raise NotImplementedError
