"""Calls in which a judge takes a text apart: claims, reverse questions, entities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from .call import Block, JudgeCall, Reading
from .reading import Malformed, read_boolean, read_list, read_object, read_texts
from .schemas import TEXT, YES_OR_NO, Schema, record, several
from .verdicts import ReverseQuestion


class TextList(JudgeCall[tuple[str, ...]]):
    """A call that is answered with a list of texts; a list with anything else in it can't be read."""

    is_verdict: ClassVar[bool] = False
    field: ClassVar[str]

    def schema(self) -> Schema:
        """An object with one list of texts."""
        return record(**{self.field: several(TEXT)})

    def read(self, reply: str) -> Reading[tuple[str, ...]]:
        """The texts, each once."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        try:
            return Reading(read_texts(found, self.field))
        except Malformed as wrong:
            return Reading(None, str(wrong))


@dataclass(frozen=True, slots=True)
class AnswerClaims(TextList):
    """J1a: the answer as self-contained claims; none for a greeting or a refusal."""

    name: ClassVar[str] = "answer_claims"
    field: ClassVar[str] = "claims"

    question: str
    answer: str

    def shown(self) -> Sequence[Block]:
        """Question and answer."""
        return (Block("question", self.question), Block("answer", self.answer))


@dataclass(frozen=True, slots=True)
class ExpectedClaims(TextList):
    """J1e: an expected answer as self-contained claims; once for a test case, whatever bots answer.

    Its prompt is that of J1a, so that the claims of both can be compared.
    """

    name: ClassVar[str] = "expected_claims"
    field: ClassVar[str] = "claims"

    question: str
    expected: str

    def shown(self) -> Sequence[Block]:
        """Question and expected answer, under the same name as in J1a."""
        return (Block("question", self.question), Block("answer", self.expected))


@dataclass(frozen=True, slots=True)
class Entities(TextList):
    """J5: the entities of a text, each once: the expected answer's (J5e) or those of all contexts (J5c)."""

    name: ClassVar[str] = "entities"
    field: ClassVar[str] = "entities"

    text: str

    def shown(self) -> Sequence[Block]:
        """The text."""
        return (Block("text", self.text),)


@dataclass(frozen=True, slots=True)
class ReverseQuestions(JudgeCall[tuple[ReverseQuestion, ...]]):
    """J4: questions that the answer would answer; the judge does not see the real one."""

    name: ClassVar[str] = "reverse_questions"
    is_verdict: ClassVar[bool] = False

    answer: str
    count: int = 3

    def shown(self) -> Sequence[Block]:
        """The answer; never the real question."""
        return (Block("answer", self.answer),)

    def reminder(self) -> str:
        """How many questions."""
        return f"Reply with the JSON object only; number of questions: {self.count}."

    def schema(self) -> Schema:
        """An object with a list of questions."""
        return record(questions=several(record(question=TEXT, noncommittal=YES_OR_NO)))

    def read(self, reply: str) -> Reading[tuple[ReverseQuestion, ...]]:
        """The questions that can be read, no more than were asked for."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        try:
            questions, problems = read_list(found, "questions", _question)
        except Malformed as wrong:
            return Reading(None, str(wrong))
        if len(questions) < self.count:
            problems.append(f"{self.count} questions were asked for; {len(questions)} could be read.")
        return Reading(tuple(questions[: self.count]) or None, " ".join(problems))

    def lacks(self, answer: tuple[ReverseQuestion, ...]) -> Sequence[str]:
        """Names of the questions that are missing."""
        return tuple(f"question {number}" for number in range(len(answer) + 1, self.count + 1))

    def completed(
        self, first: tuple[ReverseQuestion, ...], second: tuple[ReverseQuestion, ...]
    ) -> tuple[ReverseQuestion, ...]:
        """The first questions, and others of the second until there are enough."""
        more = (question for question in second if question not in first)
        return (*first, *more)[: self.count]


def _question(found: Mapping[str, object]) -> ReverseQuestion:
    text, noncommittal = found.get("question"), read_boolean(found.get("noncommittal"))
    if not isinstance(text, str) or not text.strip():
        raise Malformed('"question" must be a question')
    if noncommittal is None:
        raise Malformed('"noncommittal" must be true or false')
    return ReverseQuestion(" ".join(text.split()), noncommittal)
