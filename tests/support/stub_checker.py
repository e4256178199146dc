"""StubChecker: a checker with fixed probabilities that remembers what it was asked."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from proctor.knowledge.models.running import Checked


@dataclass
class StubChecker:
    """Gives each pair the probability given for it, and any other pair 0; or what a function says of the two."""

    probabilities: Mapping[tuple[str, str], float] | Callable[[str, str], float] = field(default_factory=dict)
    truncated: frozenset[str] = frozenset()  # sources
    reads: int = 4096
    fails: Exception | None = None
    model_id: str = "stub@1"
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def check(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        self.asked += pairs
        if self.fails:
            raise self.fails
        given = self.probabilities
        said = [given(*pair) if callable(given) else given.get(pair, 0.0) for pair in pairs]
        probabilities = np.array(said, dtype=np.float32)
        return Checked(probabilities, np.array([source in self.truncated for source, _ in pairs], dtype=np.bool_))

    async def window(self) -> int:
        if self.fails:
            raise self.fails
        return self.reads
