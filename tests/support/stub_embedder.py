"""StubEmbedder: an embedder with fixed vectors that remembers what it was asked."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from proctor.knowledge import Embedded


@dataclass
class StubEmbedder:
    """Gives each text the vector given for it, and any other text one made from its letters."""

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    truncated: frozenset[str] = frozenset()
    fails: Exception | None = None
    model_id: str = "stub"
    asked: list[tuple[str, ...]] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0

    async def embed(self, texts: Sequence[str]) -> Embedded:
        self.asked.append(tuple(texts))
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        if self.fails:
            raise self.fails
        vectors = np.array([self._vector(text) for text in texts], dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return Embedded(vectors, np.array([text in self.truncated for text in texts]))

    def _vector(self, text: str) -> list[float]:
        if text in self.values:
            return list(self.values[text])
        counts = [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]
        return counts[: len(next(iter(self.values.values())))] if self.values else counts
