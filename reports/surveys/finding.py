"""Finding: one thing that is wrong with documents or questions, with where it stands and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["high", "medium", "low"]
GapKind = Literal["stale_gold", "unsupported", "thin_topic", "answered_anyway"]
InsideKind = Literal["near_duplicate", "contradiction", "stale_duplicate", "boilerplate", "unreadable", "language"]
AuditKind = Literal[
    "duplicate_question", "leaked_prompt", "leaked_answer", "contradicted_answer", "suspect_gold", "conflicting_gold"
]
Kind = GapKind | InsideKind | AuditKind


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a document: characters ``start`` to ``end``, and what stands there."""

    document: str
    start: int | None = None
    end: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        kind: what it is.
        severity: high where answers are wrong because of it or a decision would be, low where it only costs.
        what: a sentence that says it.
        action: a sentence that says what to do.
        places: the pieces of documents that it rests on, the one to look at first.
        questions: keys of the questions that it concerns.
        score: how sure it is, from 0 to 1; None where it is certain or can't be told.
        details: the figures behind it; JSON-able.
    """

    kind: Kind
    severity: Severity
    what: str
    action: str
    places: tuple[Excerpt, ...] = ()
    questions: tuple[str, ...] = ()
    score: float | None = None
    details: Mapping[str, object] = field(default_factory=dict)

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the documents that it names, each once, in order."""
        return tuple(dict.fromkeys(place.document for place in self.places))
