"""Tools: the protocols of the models that metrics may use, each of one or two methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .judge.call import Answer, JudgeCall

if TYPE_CHECKING:
    from ..knowledge import Embedded
    from ..knowledge.models.classifier import Classified
    from ..knowledge.models.language_models import Continuation, Likelihood
    from ..knowledge.models.running import Checked
    from ..knowledge.models.span_detector import Grounded, Marked


class Model(Protocol):
    """Any of them."""

    @property
    def model_id(self) -> str:
        """Name, revision and whatever changes what it says, as in the manifest, in details and in scores' versions."""
        ...


class Embedder(Model, Protocol):
    """Turns texts into unit vectors; calls from all rows in flight are gathered into batches."""

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Raises ModelUnavailable when the model can't be loaded."""
        ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that gives the vector of each token, too."""

    async def embed_tokens(self, texts: Sequence[str]) -> Sequence[Embedded]:
        """For each text the unit vectors of its tokens, special ones first and last; ``truncated`` has one member."""
        ...


class Judge(Model, Protocol):
    """A model that grades: a language model with prompts, several of them, or the embedded judge."""

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


class Entailment(Model, Protocol):
    """A model that says whether a premise entails a hypothesis; calls are gathered into batches."""

    async def probabilities(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Shape (n, 3): entailment, neutral, contradiction, each row adding up to 1.

        A model with one output gives its probability of support as entailment, the rest as neutral.
        Raises ModelUnavailable when the model can't be loaded.
        """
        ...


class SupportModel(Model, Protocol):
    """The model of our own that says whether a text supports a claim, and an answer is right; asked in batches."""

    async def supports(self, pairs: Sequence[tuple[str, str, str]]) -> NDArray[np.float32]:
        """Of (question, claim, text): supported, contradicted, absent. Shape (n, 3), each row adding up to 1."""
        ...

    async def right(self, pairs: Sequence[tuple[str, str, str]]) -> NDArray[np.float32]:
        """Of (question, answer, expected): the probability that the answer is right. Shape (n,)."""
        ...


class Classifier(Model, Protocol):
    """A model that puts labels to a text."""

    async def classify(self, texts: Sequence[str]) -> Classified:
        """What it says of each text. Raises ModelUnavailable or InputError when it can't be loaded."""
        ...


class Checker(Model, Protocol):
    """A model that says how likely a source supports a claim."""

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """How likely the first text of each pair supports the second. Raises like ``Classifier.classify``."""
        ...

    async def window(self) -> int:
        """How many tokens of a pair the model reads; loads it. Raises like ``Classifier.classify``."""
        ...


class LanguageModel(Model, Protocol):
    """A language model that says how likely it finds a text; here, or behind a server."""

    async def likelihoods(self, texts: Sequence[Continuation]) -> Sequence[Likelihood]:
        """How likely each completion is. Raises ModelUnavailable or InputError when the model can't be had."""
        ...


class SpanDetector(Model, Protocol):
    """A model that marks what in an answer is not supported by its contexts."""

    async def mark(self, answers: Sequence[Grounded]) -> Sequence[Marked]:
        """The unsupported spans of each answer. Raises like ``Classifier.classify``."""
        ...


class PairEntailment(Model, Protocol):
    """A model that says whether a premise entails a hypothesis, and whether it read all of both."""

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """Its output for each pair of premise and hypothesis. Raises like ``Classifier.classify``."""
        ...
