"""ScriptedDetector: a detector of unsupported spans that marks given words and remembers what it was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from proctor.metrics.tools import Grounded


@dataclass(frozen=True)
class ScriptedSpan:
    """Some characters of an answer."""

    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class ScriptedMarks:
    """The unsupported spans of an answer."""

    spans: tuple[ScriptedSpan, ...]
    read: int
    truncated: bool = False


@dataclass
class ScriptedDetector:
    """Marks the given words, wherever they stand in an answer, and remembers what it was asked."""

    unsupported: tuple[str, ...] = ()
    read: int | None = None
    model_id: str = "stub@1"
    asked: list[Grounded] = field(default_factory=list)

    async def mark(self, answers: Sequence[Grounded]) -> list[ScriptedMarks]:
        """Each given word, with a confidence of 0.75."""
        self.asked += answers
        return [self._marked(one.answer) for one in answers]

    def _marked(self, answer: str) -> ScriptedMarks:
        places = sorted((answer.index(word), word) for word in self.unsupported if word in answer)
        spans = tuple(ScriptedSpan(start, start + len(word), 0.75) for start, word in places)
        return ScriptedMarks(spans, len(answer) if self.read is None else self.read, self.read is not None)
