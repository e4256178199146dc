"""Tools: the protocols of the models that metrics may use, each of one or two methods."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .judge.call import Answer, JudgeCall


class Embedded(Protocol):
    """Vectors of some texts, in their order."""

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Shape (n, dimensions), float32, rows of unit length."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Shape (n,): whether the text was longer than the model's window."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors; calls from all rows in flight are gathered into batches."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model, as in the manifest and in details."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Raises ModelUnavailable when the model can't be loaded."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that gives the vector of each token, too."""

    async def embed_tokens(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """For each text the unit vectors of its tokens, special ones first and last; ``truncated`` has one member."""
        ...


class Judge(Protocol):
    """A model that grades: a language model with prompts, several of them, or the embedded judge."""

    @property
    def model_id(self) -> str:
        """Name, settings and votes, as in the manifest and in the version of scores."""
        ...

    @property
    def embedded(self) -> bool:
        """True when no language model takes part."""
        ...

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:
        """The judge's answer; items that are missing in the reply, or can't be read, are None.

        Args:
            call: what is asked.
            vote: number of this vote, from 1; several votes on one call never share a cached reply.
            votes: how many votes are taken on this call.

        Raises:
            Unreadable: nothing could be read from the reply, also after a repair.
            JudgeUnavailable: there was no reply.
            NotApplicable: this judge does not support the call (``judge_cannot_grade``).
        """
        ...


class Entailment(Protocol):
    """A model that says whether a premise entails a hypothesis; calls are gathered into batches."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Shape (n, 3): entailment, neutral, contradiction, each row adding up to 1.

        A model with one output gives its probability of support as entailment, the rest as neutral.
        Raises ModelUnavailable when the model can't be loaded.
        """
        ...


class SupportModel(Protocol):
    """The model of our own that says whether a text supports a claim; asked in batches."""

    @property
    def model_id(self) -> str:
        """Its name, and a fingerprint of its weights."""
        ...

    async def supports(self, pairs: Sequence[tuple[str, str, str]]) -> NDArray[np.float32]:
        """Of (question, claim, text): supported, contradicted, absent. Shape (n, 3), each row adding up to 1."""
        ...
