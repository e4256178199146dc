"""Row facts: what metrics may ask of a row by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ...metrics import Embedder, Facts
from ...reports.ledger import Ledger
from ...reports.run import Row

if TYPE_CHECKING:
    from .places import Places


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Gathers the facts of rows; the judge is added where one is asked. ``tools`` are local models by name."""

    ledger: Ledger
    embedder: Embedder | None = None
    places: Places | None = None
    tools: Mapping[str, object] = field(default_factory=dict)

    def of(self, row: Row) -> Facts:
        """What metrics may ask for by name; a kept reply is read back from the store first."""
        if row.reply is None and row.reply_id is not None:
            row.reply = self.ledger.load_reply(row.reply_id)
        question, reply = row.question, row.reply
        facts: Facts = {
            "question": question.text,
            "expected_answers": question.expected,
            "constraints": question.constraints or None,
            "latency_ms": row.latency_ms,
            "embedder": self.embedder,
        }
        facts.update(cast("Facts", self.tools))
        if self.places is not None:
            facts["gold"] = self.places.gold(question)
            facts["retrieved"] = None if reply is None else self.places.retrieved(reply.contexts)
        if reply is not None:
            facts["answer"] = reply.answer
            facts["contexts"] = None if reply.contexts is None else [context.text for context in reply.contexts]
            facts["cost"] = reply.usage.cost
            facts["tokens_in"] = reply.usage.tokens_in
            facts["tokens_out"] = reply.usage.tokens_out
            matched = reply.trace.get("faq_question")
            facts["faq_question"] = matched if isinstance(matched, str) else None
        return facts
