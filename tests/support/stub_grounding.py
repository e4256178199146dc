"""Stand-ins for local grounding models whose words are told: checkers, and detectors of unsupported spans."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from proctor.metrics.local_tools import Grounded


@dataclass(frozen=True)
class ToldChecked:
    """What a checker says of some pairs."""

    probabilities: NDArray[np.float32]
    truncated: NDArray[np.bool_]


@dataclass
class ToldChecker:
    """Says of a source and a claim what a function says of them, and keeps what it was asked."""

    likely: Callable[[str, str], float]
    cut: Callable[[str], bool] = lambda source: False
    model_id: str = "told"
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def check(self, pairs: Sequence[tuple[str, str]]) -> ToldChecked:
        """The probability of each pair."""
        self.asked += pairs
        return ToldChecked(
            np.array([self.likely(*pair) for pair in pairs], dtype=np.float32),
            np.array([self.cut(source) for source, _ in pairs], dtype=np.bool_),
        )

    async def window(self) -> int:
        """As many tokens as small models read."""
        return 512


@dataclass(frozen=True)
class ToldSpan:
    """Some characters of an answer."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class ToldMarked:
    """The unsupported spans of an answer."""

    spans: tuple[ToldSpan, ...]
    read: int
    truncated: bool = False


@dataclass
class ToldDetector:
    """Marks the words that it is told, wherever they stand in an answer, and keeps what it was asked."""

    unsupported: tuple[str, ...] = ()
    read: int | None = None
    model_id: str = "told"
    asked: list[Grounded] = field(default_factory=list)

    async def mark(self, answers: Sequence[Grounded]) -> list[ToldMarked]:
        """Each word that is told, with a confidence of 0.75."""
        self.asked += answers
        return [self._marked(one.answer) for one in answers]

    def _marked(self, answer: str) -> ToldMarked:
        places = sorted((answer.index(word), word) for word in self.unsupported if word in answer)
        spans = tuple(ToldSpan(start, start + len(word), 0.75) for start, word in places)
        return ToldMarked(spans, len(answer) if self.read is None else self.read, self.read is not None)
