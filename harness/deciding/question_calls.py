"""Question calls: what a judge is asked when it writes questions anew."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from ...metrics.judge.call import Block, JudgeCall, Reading
from ...metrics.judge.reading import Malformed, read_object, read_texts
from ...metrics.judge.schemas import TEXT, record, several

_PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True)
class QuestionCall(JudgeCall[tuple[str, ...]]):
    """A question that is to be written anew.

    Attributes:
        kind: how, which is also the name of the prompt.
        question: as it is.
        count: how many versions are wanted.
    """

    name: ClassVar[str] = "question"
    is_verdict: ClassVar[bool] = False

    kind: str
    question: str
    count: int = 1

    def shown(self) -> Sequence[Block]:
        """The question."""
        return (Block("question", self.question),)

    def title(self) -> str:
        """The kind."""
        return self.kind

    def instructions(self) -> str:
        """The prompt of the kind."""
        return _prompt(self.kind)

    def reminder(self) -> str:
        """How many versions."""
        return f"Reply with the JSON object only; number of questions: {self.count}."

    def schema(self) -> Mapping[str, object]:
        """An object with a list of questions."""
        return record(questions=several(TEXT))

    def read(self, reply: str) -> Reading[tuple[str, ...]]:
        """The questions that differ from the given one, no more than were asked for."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        try:
            texts = read_texts(found, "questions")
        except Malformed as wrong:
            return Reading(None, str(wrong))
        new = tuple(dict.fromkeys(text for text in texts if _plain(text) != _plain(self.question)))[: self.count]
        if len(new) < self.count:
            return Reading(new or None, f"{self.count} new questions were asked for; {len(new)} could be read.")
        return Reading(new)

    def lacks(self, answer: tuple[str, ...]) -> Sequence[str]:
        """Names of the versions that are missing."""
        return tuple(f"question {number}" for number in range(len(answer) + 1, self.count + 1))

    def completed(self, first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
        """The first versions, and others of the second reply until there are enough."""
        return tuple(dict.fromkeys((*first, *second)))[: self.count]


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@cache
def _prompt(kind: str) -> str:
    return (_PROMPTS / f"{kind}.md").read_text("utf-8").strip()
