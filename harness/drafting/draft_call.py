"""Draft call: what a chat model is asked for questions that a passage answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from ...metrics.judge.call import Block, JudgeCall, Reading
from ...metrics.judge.reading import Malformed, read_list, read_object
from ...metrics.judge.schemas import TEXT, record, several

_PROMPT = Path(__file__).parent / "prompts" / "draft_questions.md"


@dataclass(frozen=True, slots=True)
class Written:
    """A question as a model wrote it, with the answer and the quote that is to carry it."""

    question: str
    answer: str
    quote: str


@dataclass(frozen=True, slots=True)
class DraftCall(JudgeCall[tuple[Written, ...]]):
    """A passage of which questions are wanted.

    Attributes:
        title_text: what its document calls itself.
        passage: the text.
        count: how many questions are wanted at most.
    """

    name: ClassVar[str] = "draft"
    is_verdict: ClassVar[bool] = False

    title_text: str
    passage: str
    count: int

    def shown(self) -> Sequence[Block]:
        """The title and the passage."""
        return (Block("title", self.title_text), Block("passage", self.passage))

    def title(self) -> str:
        """What it is called in the log of calls."""
        return "draft questions"

    def instructions(self) -> str:
        """The prompt."""
        return _prompt()

    def reminder(self) -> str:
        """How many questions."""
        return f"Reply with the JSON object only; number of questions: at most {self.count}."

    def schema(self) -> Mapping[str, object]:
        """An object with a list of questions, each with its answer and quote."""
        return record(questions=several(record(question=TEXT, answer=TEXT, quote=TEXT)))

    def read(self, reply: str) -> Reading[tuple[Written, ...]]:
        """The questions that can be read, no more than were asked for; none at all is a good answer too."""
        found = read_object(reply)
        if isinstance(found, str):
            return Reading(None, found)
        try:
            written, problems = read_list(found, "questions", _written)
        except Malformed as wrong:
            return Reading(None, str(wrong))
        if problems and not written:
            return Reading(None, " ".join(problems))
        return Reading(tuple(written[: self.count]))


def _written(entry: Mapping[str, object]) -> Written:
    texts = [entry.get(name) for name in ("question", "answer", "quote")]
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise Malformed('"question", "answer" and "quote" must each be a text')
    question, answer, quote = (str(text).strip() for text in texts)
    return Written(" ".join(question.split()), " ".join(answer.split()), quote)


@cache
def _prompt() -> str:
    return _PROMPT.read_text("utf-8").strip()
