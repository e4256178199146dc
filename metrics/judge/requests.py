"""The seam between a prompt and the model that answers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """One request to a language model that grades.

    Attributes:
        call: name of the call (``answer_claims``, ...).
        system: instructions; nothing untrusted stands in them.
        prompt: the material, between delimiters.
        schema: JSON schema of the reply, for servers that know structured output; None for a one-word reply.
        exchange: what was said after the prompt: pairs of a reply and what was wrong with it.
        vote: number of this vote, from 1; part of the key under which the reply is kept.
        votes: how many votes are taken; several need a temperature above 0.
    """

    call: str
    system: str
    prompt: str
    schema: Mapping[str, object] | None = None
    exchange: tuple[tuple[str, str], ...] = ()
    vote: int = 1
    votes: int = 1


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What the model said: the text, None when it said nothing, and why it ended (``length``: cut off)."""

    text: str | None
    finish_reason: str = ""


class JudgeModel(Protocol):
    """A language model that grades, with whatever keeps, limits and counts its calls."""

    @property
    def model_id(self) -> str:
        """Model, address and settings: all that changes what it says."""
        ...

    async def complete(self, request: JudgeRequest, problem: Callable[[JudgeReply], str]) -> JudgeReply:
        """Ask the model, or give the reply that is kept.

        Args:
            request: what is asked.
            problem: says what is wrong with a reply, blank when it can be read; kept with the call.

        Raises:
            JudgeUnavailable: the model can't be reached or refuses.
        """
        ...
