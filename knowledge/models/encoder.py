"""Encoder: turns texts into unit vectors, one call at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of some texts, in their order.

    Attributes:
        vectors: shape (n, dimensions), float32, rows of unit length.
        truncated: shape (n,), whether the text was longer than the model's window, so that its end was not read.
    """

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]


class Encoder(Protocol):
    """A sentence-embedding model, loaded. Two threads may call it at once: one that can't do both makes one wait."""

    @property
    def model_id(self) -> str:
        """Name, revision and arithmetic of the model, as it stands on the manifest."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def window(self) -> int:
        """How many tokens of a text are read; 0 when the model does not say."""
        ...

    @property
    def embedded(self) -> bool:
        """Whether this is the model that ships with Proctor."""
        ...

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order; any string will do, blank and broken ones too."""
        ...


def readable(text: str) -> str:
    """The text with lone surrogates replaced, since no tokenizer takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def unit_rows(vectors: NDArray[np.float32], model_id: str) -> NDArray[np.float32]:
    """The rows scaled to length 1 (a zero row stays); raises ValueError when the model gave what is no number."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise ValueError(f"The embedder {model_id} returned a vector that holds NaN or infinity.")
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), dtype=np.float32)
