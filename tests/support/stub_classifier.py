"""StubClassifier: a classifier with fixed logits that remembers what it was asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from proctor.knowledge.models.classifier import Classified


@dataclass
class StubClassifier:
    """Gives each text the logits given for it, and any other text zeros."""

    labels: tuple[str, ...]
    logits: Mapping[str, Sequence[float]] = field(default_factory=dict)
    truncated: frozenset[str] = frozenset()
    fails: Exception | None = None
    model_id: str = "stub@1"
    asked: list[tuple[str, ...]] = field(default_factory=list)

    async def classify(self, texts: Sequence[str]) -> Classified:
        self.asked.append(tuple(texts))
        if self.fails:
            raise self.fails
        nothing = [0.0] * len(self.labels)
        logits = np.array([self.logits.get(text, nothing) for text in texts], dtype=np.float32)
        return Classified(self.labels, logits, np.array([text in self.truncated for text in texts]))
