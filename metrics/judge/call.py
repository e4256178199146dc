"""JudgeCall: one thing that a judge is asked, and how its reply is read."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from ..score import NotApplicable, Reason

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Block:
    """A text that the judge is shown; it is material to be graded and never trusted.

    Attributes:
        label: what the prompt calls it: ``question``, ``answer``, ``chunks``.
        text: the text; items of a list each stand on one line that begins with their id in square brackets.
    """

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Reading(Generic[Answer]):
    """What was read from a reply.

    Attributes:
        answer: what the judge said; None when nothing could be read. Parts that are missing are None in it.
        problem: a sentence for the judge: what was wrong, or which ids are missing; blank when all was read.
    """

    answer: Answer | None
    problem: str = ""


class JudgeCall(ABC, Generic[Answer]):
    """One thing that a judge is asked. Its subclasses are frozen dataclasses of what the judge may see.

    Attributes:
        name: of the call, and of the prompt ``metrics/prompts/<name>.md``.
        is_verdict: whether the answer judges items that every judge sees alike, so that several can be combined
            with ``combine``; False where the judge writes something of its own (claims, questions, entities).
    """

    name: ClassVar[str]
    is_verdict: ClassVar[bool] = True

    @abstractmethod
    def shown(self) -> Sequence[Block]:
        """The texts that the judge is shown, in their order."""

    def laid_out(self) -> Sequence[Block | str]:
        """The same with what is said between them, in which nothing untrusted may stand."""
        return self.shown()

    @property
    def parts(self) -> frozenset[str]:
        """The optional parts of the prompt that this call has; a prompt's section is left out without its part."""
        return frozenset()

    def title(self) -> str:
        """What messages and the log of calls call it."""
        return self.name

    def prompt_name(self) -> str:
        """Name of the file ``metrics/prompts/<name>.md`` with this call's instructions."""
        return self.name

    def instructions(self) -> str | None:
        """Instructions that the call brings itself, in place of a file's; nothing untrusted may stand in them."""
        return None

    def reminder(self) -> str:
        """What the prompt repeats, after the material, of the reply that is wanted."""
        return "Reply with the JSON object only."

    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the reply, strict; None when the reply is one word."""
        return None

    @abstractmethod
    def read(self, reply: str) -> Reading[Answer]:
        """Read a reply, strictly: what can't be read is never guessed."""

    def lacks(self, answer: Answer) -> Sequence[str]:  # noqa: ARG002 - for subclasses
        """Ids or names of the parts that are None in an answer."""
        return ()

    def completed(self, first: Answer, second: Answer) -> Answer:  # noqa: ARG002 - for subclasses
        """What was read of a first reply, completed by the second; the second alone where there are no parts."""
        return second

    def combine(self, answers: Sequence[Answer | None], mean: bool) -> Answer:  # noqa: ARG002 - for subclasses
        """One answer of several judges or votes: the majority, or with ``mean`` the mean where it is a number.

        Args:
            answers: at least one; None for a reply that can't be read. Fewer than half readable, or as many on the
                one side as on the other, is no word: None in the answer, or Unreadable when there are no parts.
            mean: numbers are averaged; otherwise, and for all that is no number, the majority counts.
        """
        advice = "give it 'combine', or 'is_verdict = False' to have it answered by the first judge alone"
        raise TypeError(f"answers to the call '{self.title()}' can't be combined: {advice}")

    def tied(self, answers: Sequence[Answer | None]) -> bool:  # noqa: ARG002 - for subclasses
        """Whether the majority of these is undecided on some part, so that one more vote is worth its cost."""
        return False


def cannot_grade(call: JudgeCall[Answer], why: str) -> NotApplicable:
    """What a judge raises that has no means to answer such a call."""
    return NotApplicable(Reason.JUDGE_CANNOT_GRADE, call=call.title(), message=why)
