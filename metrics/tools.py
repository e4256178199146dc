"""Tools: the protocols of the models that metrics may use, each of one or two methods."""

from collections.abc import Sequence
from dataclasses import dataclass
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


class Classified(Protocol):
    """What a classifier says of some texts, in their order."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The classifier's labels, as its configuration names them."""
        ...

    @property
    def logits(self) -> NDArray[np.float32]:
        """Shape (n, labels), before any sigmoid or softmax."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Shape (n,): whether the end of the text was not read."""
        ...


class Classifier(Protocol):
    """A model that puts labels to a text."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def classify(self, texts: Sequence[str]) -> Classified:
        """What it says of each text. Raises ModelUnavailable or InputError when it can't be loaded."""
        ...


class Checked(Protocol):
    """What a checker says of some pairs, in their order."""

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Shape (n,): how likely the claim is supported by the source."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Shape (n,): whether not all of the pair was read."""
        ...


class Checker(Protocol):
    """A model that says how likely a source supports a claim."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """How likely the first text of each pair supports the second. Raises like ``Classifier.classify``."""
        ...

    async def window(self) -> int:
        """How many tokens of a pair the model reads; loads it. Raises like ``Classifier.classify``."""
        ...


@dataclass(frozen=True, slots=True)
class Continuation:
    """A completion whose likelihood is asked for, after a prefix of three parts that is not scored.

    Attributes:
        completion: the text that is scored. Without a prefix its first token is not scored.
        before: the prefix up to the source text.
        source: the text within the prefix that may be cut from its end, where all together is too long.
        after: the prefix from the source text on.
        stride: for a completion without a prefix that is longer than the model's window: by how many tokens the window
            moves on. None scores only what fits.
    """

    completion: str
    before: str = ""
    source: str = ""
    after: str = ""
    stride: int | None = None


class Likelihood(Protocol):
    """How likely a language model finds a completion."""

    @property
    def mean_nll(self) -> float:
        """Mean negative log-likelihood of a token, natural logarithm; NaN where no token is scored."""
        ...

    @property
    def tokens(self) -> int:
        """How many tokens were scored."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether the source or the completion was cut."""
        ...


class LanguageModel(Protocol):
    """A language model that says how likely it finds a text; here, or behind a server."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def likelihoods(self, texts: Sequence[Continuation]) -> Sequence[Likelihood]:
        """How likely each completion is. Raises ModelUnavailable or InputError when the model can't be had."""
        ...


@dataclass(frozen=True, slots=True)
class Grounded:
    """An answer with the question and the contexts that it should be based on."""

    contexts: tuple[str, ...]
    question: str
    answer: str


class Span(Protocol):
    """A span of an answer that the model finds unsupported."""

    @property
    def start(self) -> int:
        """Where it begins, in characters from the answer's start."""
        ...

    @property
    def end(self) -> int:
        """Where it ends: the first character that is not of it."""
        ...

    @property
    def confidence(self) -> float:
        """How sure the model is, from 0.5 to 1."""
        ...


class Marked(Protocol):
    """The unsupported spans of one answer."""

    @property
    def spans(self) -> Sequence[Span]:
        """In their order, none overlapping another."""
        ...

    @property
    def read(self) -> int:
        """How many characters of the answer were read, from its start."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether not all of the contexts and the answer was read."""
        ...


class SpanDetector(Protocol):
    """A model that marks what in an answer is not supported by its contexts."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def mark(self, answers: Sequence[Grounded]) -> Sequence[Marked]:
        """The unsupported spans of each answer. Raises like ``Classifier.classify``."""
        ...


class Entailed(Protocol):
    """The output of an entailment model for some pairs, in order."""

    @property
    def probabilities(self) -> NDArray[np.float32]:
        """Shape (n, 3): entailment, neutral, contradiction, each row adding up to 1."""
        ...

    @property
    def truncated(self) -> NDArray[np.bool_]:
        """Shape (n,): whether not all of the pair was read."""
        ...


class PairEntailment(Protocol):
    """A model that says whether a premise entails a hypothesis, and whether it read all of both."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Entailed:
        """Its output for each pair of premise and hypothesis. Raises like ``Classifier.classify``."""
        ...
