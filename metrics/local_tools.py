"""Local models as metrics ask them: protocols of models that run beside the rows, or behind a server of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Classified:
    """What a classifier says of some texts, in their order.

    Attributes:
        labels: its labels, as its configuration names them.
        logits: shape (n, labels), float32, before any sigmoid or softmax.
        truncated: shape (n,), whether the end of the text was not read.
    """

    labels: tuple[str, ...]
    logits: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Classifier(Protocol):
    """A model that puts labels to a text."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def classify(self, texts: Sequence[str]) -> Classified:
        """What it says of each text. Raises ModelUnavailable or InputError when it can't be loaded."""
        ...


@dataclass(frozen=True, slots=True)
class Checked:
    """What a checker says of some pairs, in their order.

    Attributes:
        probabilities: shape (n,), float32: how likely the claim is supported by the source.
        truncated: shape (n,), whether not all of the pair was read.
    """

    probabilities: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Checker(Protocol):
    """A model that says how likely a source supports a claim."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        """How likely the first text of each pair supports the second. Raises like ``Classifier.classify``."""
        ...


@dataclass(frozen=True, slots=True)
class Continuation:
    """A completion whose likelihood is asked for, after a prefix of three parts that is not scored.

    Attributes:
        completion: the text that is scored. Without a prefix its first token is not: nothing stands before it.
        before: the prefix up to the source text.
        source: the text within the prefix that may be cut from its end, where all together is too long.
        after: the prefix from the source text on.
        stride: for a completion that is longer than the model's window: by how many tokens the window moves on. None
            scores only what fits.
    """

    completion: str
    before: str = ""
    source: str = ""
    after: str = ""
    stride: int | None = None


@dataclass(frozen=True, slots=True)
class Likelihood:
    """How likely a language model finds a completion.

    Attributes:
        mean_nll: mean negative log-likelihood of a token, natural logarithm; NaN where no token is scored.
        tokens: how many tokens were scored.
        truncated: whether the source or the completion was cut.
    """

    mean_nll: float
    tokens: int
    truncated: bool = False


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
    """An answer with what it should rest on."""

    contexts: tuple[str, ...]
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Span:
    """Characters ``start`` to ``end`` of an answer, and how sure the model is that nothing supports them."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Marked:
    """The unsupported spans of one answer, in their order; ``truncated`` when not all of it was read."""

    spans: tuple[Span, ...]
    truncated: bool = False


class SpanDetector(Protocol):
    """A model that marks what in an answer is not supported by its contexts."""

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        ...

    async def mark(self, answers: Sequence[Grounded]) -> Sequence[Marked]:
        """The unsupported spans of each answer. Raises like ``Classifier.classify``."""
        ...
