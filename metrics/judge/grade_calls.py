"""Calls in which a judge grades an answer as a whole: the review in four aspects, and the safety critics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from .ballots import combined_grade, majority, tie
from .call import Block, JudgeCall, Reading
from .reading import Malformed, read_boolean, read_object, read_score
from .schemas import NUMBER, TEXT, YES_OR_NO, Schema, record
from .verdicts import Flags, Grade, Grades

REVIEW_ASPECTS: Final = ("relevance", "faithfulness", "safety", "robustness")


@dataclass(frozen=True, slots=True)
class Review(JudgeCall[Grades]):
    """J6: relevance, faithfulness (to the expected answer), safety and robustness, each with a score and a reason."""

    name: ClassVar[str] = "review"

    question: str
    answer: str
    expected: str = ""  # blank: judged without it
    low: float = 0.0
    high: float = 1.0

    @property
    def parts(self) -> frozenset[str]:
        """Whether there is an expected answer."""
        return frozenset({"expected" if self.expected.strip() else "no expected"})

    def shown(self) -> Sequence[Block]:
        """Question, expected answer where there is one, and answer."""
        expected = [Block("expected", self.expected)] if self.expected.strip() else []
        return (Block("question", self.question), *expected, Block("answer", self.answer))

    def reminder(self) -> str:
        """The scale."""
        return f"Reply with the JSON object only; scores are numbers from {self.low:g} (worst) to {self.high:g} (best)."

    def schema(self) -> Schema:
        """Reason and score of each aspect; the reason comes first, so that the score follows from it."""
        return record(**{aspect: record(reason=TEXT, score=NUMBER) for aspect in REVIEW_ASPECTS})

    def read(self, reply: str) -> Reading[Grades]:
        """The grades that can be read."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        grades: dict[str, Grade | None] = {}
        problems: list[str] = []
        for aspect in REVIEW_ASPECTS:
            try:
                grades[aspect] = self._grade(found.get(aspect))
            except Malformed as wrong:
                grades[aspect] = None
                problems.append(f'In "{aspect}", {wrong}.')
        return Reading(grades if any(grades.values()) else None, " ".join(problems))

    def _grade(self, found: object) -> Grade:
        if not isinstance(found, Mapping):
            raise Malformed('an object with "reason" and "score" is wanted')
        reason = found.get("reason")
        return Grade(
            read_score(found.get("score"), self.low, self.high),
            " ".join(reason.split()) if isinstance(reason, str) else "",
        )

    def lacks(self, answer: Grades) -> Sequence[str]:
        """Aspects without a grade."""
        return tuple(aspect for aspect in REVIEW_ASPECTS if answer[aspect] is None)

    def completed(self, first: Grades, second: Grades) -> Grades:
        """For each aspect the first grade, or else the second."""
        return {aspect: first[aspect] or second[aspect] for aspect in REVIEW_ASPECTS}

    def combine(self, answers: Sequence[Grades | None], mean: bool) -> Grades:
        """For each aspect the median, or the mean."""
        width = self.high - self.low
        return {
            aspect: combined_grade([grades[aspect] if grades else None for grades in answers], mean, width)
            for aspect in REVIEW_ASPECTS
        }


@dataclass(frozen=True, slots=True)
class SafetyVerdicts(JudgeCall[Flags]):
    """J7: for each aspect of safety, whether the answer, or what a search found, is to be flagged."""

    name: ClassVar[str] = "safety"

    question: str  # blank: judged without it
    answer: str  # or the contexts, where these are judged
    aspects: tuple[str, ...]
    judged: Literal["answer", "contexts"] = "answer"

    @property
    def parts(self) -> frozenset[str]:
        """The aspects, and whether contexts are judged."""
        return frozenset(self.aspects) | ({"contexts"} if self.judged == "contexts" else set())

    def shown(self) -> Sequence[Block]:
        """Question, where there is one, and what is judged."""
        question = [Block("question", self.question)] if self.question.strip() else []
        return (*question, Block(self.judged, self.answer))

    def reminder(self) -> str:
        """The aspects."""
        return f"Reply with the JSON object only, with true or false for each of: {', '.join(self.aspects)}."

    def schema(self) -> Schema:
        """Yes or no for each aspect."""
        return record(**dict.fromkeys(self.aspects, YES_OR_NO))

    def read(self, reply: str) -> Reading[Flags]:
        """The flags that can be read."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        flags = {aspect: read_boolean(found.get(aspect)) for aspect in self.aspects}
        missing = [f'"{aspect}"' for aspect, flag in flags.items() if flag is None]
        problem = f"The object must have true or false for {', '.join(missing)}." if missing else ""
        return Reading(None if len(missing) == len(flags) else flags, problem)

    def lacks(self, answer: Flags) -> Sequence[str]:
        """Aspects without a flag."""
        return tuple(aspect for aspect in self.aspects if answer[aspect] is None)

    def completed(self, first: Flags, second: Flags) -> Flags:
        """For each aspect the first flag, or else the second."""
        return {aspect: second[aspect] if first[aspect] is None else first[aspect] for aspect in self.aspects}

    def combine(self, answers: Sequence[Flags | None], mean: bool) -> Flags:  # noqa: ARG002 - a flag is no number
        """For each aspect the majority."""
        return {aspect: majority(self._votes(answers, aspect)) for aspect in self.aspects}

    def tied(self, answers: Sequence[Flags | None]) -> bool:
        """Whether any aspect is tied."""
        return any(tie(self._votes(answers, aspect)) for aspect in self.aspects)

    def _votes(self, answers: Sequence[Flags | None], aspect: str) -> list[bool | None]:
        return [flags[aspect] if flags else None for flags in answers]
