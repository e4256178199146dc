"""WordEncoder: an embedding model small enough for tests, in which texts with equal words are near."""

import hashlib
from collections.abc import Sequence

import numpy as np
from proctor.knowledge.models.batching import BatchingEmbedder
from proctor.knowledge.models.encoder import Embedded


class WordEncoder:
    """Gives each word a direction of its own and a text the sum of its words; keeps what it was asked."""

    model_id = "words@1"
    dimensions = 256
    window = 0
    embedded = False

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> Embedded:
        self.texts += texts
        sums = np.array([self._sum(text) for text in texts], dtype=np.float32).reshape(len(texts), self.dimensions)
        lengths = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
        return Embedded(sums / lengths, np.zeros(len(texts), dtype=bool))

    def _sum(self, text: str) -> np.ndarray:
        total = np.zeros(self.dimensions)
        for word in text.lower().split():
            seed = int.from_bytes(hashlib.sha256(word.strip(".,?!").encode("utf-8", "replace")).digest()[:4], "big")
            total += np.random.default_rng(seed).normal(size=self.dimensions)
        return total


def word_embedder() -> tuple[BatchingEmbedder, WordEncoder]:
    """A real embedder over a new WordEncoder, and that encoder."""
    encoder = WordEncoder()
    return BatchingEmbedder(lambda: encoder, encoder.model_id), encoder
