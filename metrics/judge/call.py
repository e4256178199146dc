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
        label: what the prompt calls it: ``question``, ``answer``, ``contexts``.
        text: the text; items of a list each begin with their id in square brackets, on a line of their own.
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

    @property
    def parts(self) -> frozenset[str]:
        """The optional parts of the prompt that this call has; a prompt's section is left out without its part."""
        return frozenset()

    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the reply, strict; None when the reply is one word."""
        return None

    @abstractmethod
    def read(self, reply: str) -> Reading[Answer]:
        """Read a reply, strictly: what can't be read is never guessed."""

    def combine(self, answers: Sequence[Answer], mean: bool) -> Answer:  # noqa: ARG002 - for subclasses
        """One answer of several judges or votes: the majority, or with ``mean`` the mean where it is a number."""
        raise TypeError(f"answers to {self.name} can't be combined")


def cannot_grade(call: JudgeCall[Answer], why: str) -> NotApplicable:
    """What a judge raises that has no means to answer such a call."""
    return NotApplicable(Reason.JUDGE_CANNOT_GRADE, call=call.name, message=why)
