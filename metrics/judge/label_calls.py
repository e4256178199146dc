"""Calls that a judge answers with one word or one number: the boolean evaluators."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ..score import Unreadable
from .ballots import combined_grade, majority, share, tie
from .call import Answer, Block, JudgeCall, Reading
from .reading import Malformed, bare_reply, read_label, read_object, read_score
from .verdicts import Grade, Word

_QUOTED: Final = 200  # characters of a reply that are kept beside its label
_OF_TEN: Final = re.compile(r"(?<=[0-9])\s*(?:/\s*10|out\s+of\s+(?:10|ten))(?![\w/]|[.,][0-9])", re.IGNORECASE)
_AROUND: Final = ".,;!?()[]\"'`*_\u201c\u201d\u2018\u2019"


class WordCall(JudgeCall[Word]):
    """A call that is answered with one of two class labels."""

    labels: tuple[str, str]

    def reminder(self) -> str:
        """The two words."""
        return f"Reply with one word only: {self.labels[0]} or {self.labels[1]}."

    def read(self, reply: str) -> Reading[Word]:
        """The label, if one and only one is said."""
        label = read_label(reply, self.labels)
        if label is None:
            return Reading(None, f"The reply must be one word, {self.labels[0]} or {self.labels[1]}, and nothing else.")
        return Reading(Word(label, bare_reply(reply)[:_QUOTED]))

    def combine(self, answers: Sequence[Word | None], mean: bool) -> Word:  # noqa: ARG002 - a label is no number
        """The majority's label."""
        words = [answer.label if answer else None for answer in answers]
        label = majority(words)
        if label is None:
            raise Unreadable(f"Of {len(words)} judges or votes, too few could be read or as many said the opposite.")
        return Word(label, agreement=share(words, label))

    def tied(self, answers: Sequence[Word | None]) -> bool:
        """Whether as many said the one as the other."""
        return tie([answer.label if answer else None for answer in answers])


class TextsCall(JudgeCall[Answer]):
    """A call that shows some texts under a prompt that is named like the evaluator."""

    prompt: str
    texts: tuple[Block, ...]

    def title(self) -> str:
        """The evaluator's name."""
        return self.prompt

    def prompt_name(self) -> str:
        """The evaluator's name."""
        return self.prompt

    @property
    def parts(self) -> frozenset[str]:
        """The labels of the texts."""
        return frozenset(block.label for block in self.texts)

    def shown(self) -> Sequence[Block]:
        """The texts as they were given."""
        return self.texts


@dataclass(frozen=True, slots=True)
class Label(TextsCall[Word], WordCall):
    """J8: one of two class labels for some texts.

    Attributes:
        prompt: name of the prompt file, and of the call where it is kept.
        labels: the two class labels, the passing one first.
        texts: what is shown, by its label; the prompt's sections are those of these labels.
    """

    name: ClassVar[str] = "label"

    prompt: str
    labels: tuple[str, str]
    texts: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class OwnPrompt(WordCall):
    """A user's own prompt, with the row's texts in the places of its placeholders.

    Attributes:
        labels: the two class labels, the passing one first.
        pieces: the user's text, which is trusted and obeyed, and between it the row's texts, each in a ``Block``. A
            row's text that is written into the user's could give the judge orders.
    """

    name: ClassVar[str] = "byop"

    labels: tuple[str, str]
    pieces: tuple[Block | str, ...]

    def shown(self) -> Sequence[Block]:
        """The row's texts."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Block))

    def laid_out(self) -> Sequence[Block | str]:
        """The user's text with the row's texts in it."""
        return self.pieces


@dataclass(frozen=True, slots=True)
class Rating(TextsCall[Grade]):
    """J8 of the stereotypes evaluator: one whole number for some texts.

    Attributes:
        prompt: name of the prompt file, and of the call where it is kept.
        texts: what is shown, by its label.
    """

    name: ClassVar[str] = "rating"
    low: ClassVar[int] = 0
    high: ClassVar[int] = 10

    prompt: str
    texts: tuple[Block, ...]

    def reminder(self) -> str:
        """The scale."""
        return f"Reply with one whole number only, from {self.low} to {self.high}."

    def read(self, reply: str) -> Reading[Grade]:
        """The only number of the reply, if it is a whole one on the scale."""
        number = read_whole_number(reply)
        try:
            return Reading(Grade(read_score(number, self.low, self.high)))
        except Malformed:
            wanted = f"one whole number from {self.low} to {self.high}"
            return Reading(None, f"The reply must be {wanted}, and nothing else.")

    def combine(self, answers: Sequence[Grade | None], mean: bool) -> Grade:
        """The median, or the mean."""
        grade = combined_grade(answers, mean, self.high - self.low)
        if grade is None:
            raise Unreadable(f"Of {len(answers)} judges or votes, too few could be read.")
        return grade


def read_whole_number(reply: str) -> int | None:
    """The only number of a reply, when it is a whole one; None when there are several, or none.

    "/10" and "out of 10" behind it belong to it. An object is read by its ``score`` or ``verdict``.

    >>> read_whole_number("**1 out of 10**"), read_whole_number("between 1 and 3"), read_whole_number("1.5")
    (1, None, None)
    """
    text = bare_reply(reply)
    if text.startswith("{"):
        found = read_object(text)
        said = found.get("score", found.get("verdict")) if isinstance(found, Mapping) else None
        text = str(said) if isinstance(said, int | str) and not isinstance(said, bool) else ""
    text = re.sub(r"[:=*]", " ", _OF_TEN.sub(" ", text))
    numbers = [word.strip(_AROUND) for word in text.split() if re.search(r"\d", word)]
    return int(numbers[0]) if len(numbers) == 1 and re.fullmatch("[0-9]{1,3}", numbers[0]) else None
