"""LangChainEncoder: any LangChain Embeddings as an Encoder."""

import importlib
import threading
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from .. import InputError
from .encoder import Embedded, readable, unit_rows
from .one_load import ONE_LOAD


@runtime_checkable
class Embeddings(Protocol):
    """The part of ``langchain_core.embeddings.Embeddings`` that is used."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, in their order."""
        ...


class LangChainEncoder:
    """Wraps an Embeddings object; asks it for one vector when made, to learn the dimensions.

    LangChain does not tell how many tokens a model reads, so ``window`` is 0 and no text is reported as truncated.
    """

    window = 0
    embedded = False

    def __init__(self, embeddings: Embeddings, model_id: str) -> None:
        self.model_id = model_id
        self._alone = threading.Lock()  # nothing is known of what is behind it
        self._embeddings = embeddings
        self.dimensions = len(embeddings.embed_documents(["dimensions"])[0])

    def encode(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts, in their order. Raises ValueError when the model gives other than one vector a text."""
        if not texts:
            return Embedded(np.empty((0, self.dimensions), np.float32), np.zeros(0, np.bool_))
        # Some endpoints refuse blank input, and a single blank is what they take for it.
        with self._alone:
            given = self._embeddings.embed_documents([readable(text) or " " for text in texts])
        vectors = np.asarray(given, dtype=np.float32)
        if vectors.shape != (len(texts), self.dimensions):
            raise ValueError(
                f"{self.model_id} gave vectors of shape {vectors.shape} for {len(texts)} texts "
                f"of {self.dimensions} dimensions."
            )
        return Embedded(unit_rows(vectors, self.model_id), np.zeros(len(texts), np.bool_))


def load_embeddings(target: str) -> Embeddings:
    """The Embeddings that ``module:name`` names: an object, or a class or function that makes one without arguments."""
    module_name, _, name = target.partition(":")
    if not module_name or not name:
        raise InputError(
            f"The embedder 'langchain:{target}' names no object: write 'langchain:module:name', for instance "
            "'langchain:my_models:embeddings'."
        )
    try:
        with ONE_LOAD:  # what the module does, or what makes the object, may load a model of transformers
            found = getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise InputError(f"The embedder 'langchain:{target}' can't be loaded: {error}.") from error
    with ONE_LOAD:
        made = found() if isinstance(found, type) or (not isinstance(found, Embeddings) and callable(found)) else found
    if not isinstance(made, Embeddings):
        raise InputError(
            f"The embedder 'langchain:{target}' is of type {type(made).__name__}, which has no embed_documents: "
            "a LangChain Embeddings object, or a function that returns one, was wanted."
        )
    return made
