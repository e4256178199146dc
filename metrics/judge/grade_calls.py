"""Calls in which a judge grades an answer as a whole: the review in four aspects, and the safety critics."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .call import Block, JudgeCall, Reading
from .verdicts import Flags, Grades


@dataclass(frozen=True, slots=True)
class Review(JudgeCall[Grades]):
    """J6: relevance, faithfulness (to the expected answer), safety and robustness, each with a score and a reason."""

    name: ClassVar[str] = "review"

    question: str
    answer: str
    expected: str = ""  # blank: judged without it
    low: float = 0.0
    high: float = 1.0

    def shown(self) -> Sequence[Block]:
        raise NotImplementedError

    def read(self, reply: str) -> Reading[Grades]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SafetyVerdicts(JudgeCall[Flags]):
    """J7: for each aspect of safety, whether the answer is to be flagged."""

    name: ClassVar[str] = "safety"

    question: str
    answer: str
    aspects: tuple[str, ...]

    def shown(self) -> Sequence[Block]:
        raise NotImplementedError

    def read(self, reply: str) -> Reading[Flags]:
        raise NotImplementedError
