"""SharedVectors: an embedder for many splittings of the same documents, which embeds each distinct text once."""

import threading
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ..encoder import Embedded
from ..index import BulkEmbedder


class SharedVectors:
    """A ``BulkEmbedder`` that remembers every text that it was given, whichever index asked for it.

    Memory: 4 bytes for each dimension of each distinct text and about 200 more; 100,000 passages of 384 dimensions take
    some 175 MB. Nothing is dropped, since embedding a text again costs far more than its vector takes. It may be asked
    by several threads; one of them embeds at a time.

    Args:
        embedder: who embeds; its model is the one that all vectors are of.
    """

    def __init__(self, embedder: BulkEmbedder) -> None:
        self._embedder = embedder
        self._known: dict[bytes, tuple[NDArray[np.float32], bool]] = {}
        self._lock = threading.Lock()

    @property
    def model_id(self) -> str:
        """Name and revision of the model."""
        return self._embedder.model_id

    @property
    def distinct(self) -> int:
        """How many texts it was given, each counted once; the model has embedded as many."""
        return len(self._known)

    def embed_now(self, texts: Sequence[str]) -> Embedded:
        """The vectors of the texts, in their order; those that are new are embedded together.

        Raises:
            Exception: what the embedder raises; of these texts nothing is remembered then.
        """
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        if not keys:
            return self._embedder.embed_now([])
        with self._lock:
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
            if new:
                made = self._embedder.embed_now(list(new.values()))
                vectors = np.ascontiguousarray(made.vectors, dtype=np.float32)
                self._known |= dict(zip(new, zip(vectors, map(bool, made.truncated), strict=True), strict=True))
            found = [self._known[key] for key in keys]
        return Embedded(np.stack([vector for vector, _ in found]), np.array([cut for _, cut in found], dtype=np.bool_))
