"""Calls that a judge answers with one word or one number: the boolean evaluators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .call import Block, JudgeCall, Reading


@dataclass(frozen=True, slots=True)
class Label(JudgeCall[str]):
    """J8: one of two class labels for some texts.

    Attributes:
        prompt: name of the prompt file, and of the call where it is kept.
        labels: the two class labels, the passing one first.
        texts: what is shown, by its label.
    """

    name: ClassVar[str] = "label"

    prompt: str
    labels: tuple[str, str]
    texts: tuple[Block, ...]

    def shown(self) -> Sequence[Block]:
        return self.texts

    def read(self, reply: str) -> Reading[str]:
        raise NotImplementedError
