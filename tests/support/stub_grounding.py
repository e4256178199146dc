"""ScriptedDetector: a detector of unsupported spans that marks given words and remembers what it was asked."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from proctor.knowledge.models.span_detector import Grounded, Marked, Span


@dataclass
class ScriptedDetector:
    """Marks the given words, wherever they stand in an answer, and remembers what it was asked."""

    unsupported: tuple[str, ...] = ()
    read: int | None = None
    model_id: str = "stub@1"
    asked: list[Grounded] = field(default_factory=list)

    async def mark(self, answers: Sequence[Grounded]) -> list[Marked]:
        """Each given word, with a confidence of 0.75."""
        self.asked += answers
        return [self._marked(one.answer) for one in answers]

    def _marked(self, answer: str) -> Marked:
        places = sorted((answer.index(word), word) for word in self.unsupported if word in answer)
        spans = tuple(Span(start, start + len(word), 0.75) for start, word in places)
        return Marked(spans, len(answer) if self.read is None else self.read, self.read is not None)
