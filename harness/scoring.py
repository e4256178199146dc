"""Scorer: turns a row into facts, and facts into scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..metrics import Embedder, Facts, Score
from ..reports.ledger import Ledger
from ..reports.run import Row, RowStatus
from ..reports.writer import RowWriter
from .lanes import Todo

if TYPE_CHECKING:
    from ..metrics.plan import Plan
    from .places import Places


class Scorer:
    """Scores rows by one plan, and hands the scores to the writer."""

    def __init__(
        self, plan: Plan, writer: RowWriter, ledger: Ledger, embedder: Embedder | None = None,
        places: Places | None = None,
    ) -> None:  # fmt: skip
        self._plan = plan
        self._writer = writer
        self._ledger = ledger
        self._embedder = embedder
        self._places = places
        self._subsets: dict[frozenset[str], Plan] = {}

    def now(self, item: Todo) -> bool:
        """Score the row at once when nothing has to be waited for; False when ``score`` must be awaited."""
        plan = self._plan_for(item)
        row = item.row
        if row.status is not RowStatus.ANSWERED:
            self._keep(row, plan.bot_failed())
        elif not plan.metrics:
            pass
        elif plan.is_sync:
            self._keep(row, plan.score_now(self.facts(row)))
        else:
            return False
        return True

    async def score(self, item: Todo) -> None:
        """Score the row, waiting for embeddings and the like."""
        self._keep(item.row, await self._plan_for(item).score(self.facts(item.row)))

    def facts(self, row: Row) -> Facts:
        """What metrics may ask for by name; a kept reply is read back from the store first."""
        if row.reply is None and row.reply_id is not None:
            row.reply = self._ledger.load_reply(row.reply_id)
        question, reply = row.question, row.reply
        facts: Facts = {
            "question": question.text,
            "expected_answers": question.expected,
            "constraints": question.constraints or None,
            "latency_ms": row.latency_ms,
            "embedder": self._embedder,
        }
        if self._places is not None:
            facts["gold"] = self._places.gold(question)
            facts["retrieved"] = None if reply is None else self._places.retrieved(reply.contexts)
        if reply is not None:
            facts["answer"] = reply.answer
            facts["contexts"] = None if reply.contexts is None else [context.text for context in reply.contexts]
            facts["cost"] = reply.usage.cost
            facts["tokens_in"] = reply.usage.tokens_in
            facts["tokens_out"] = reply.usage.tokens_out
            matched = reply.trace.get("faq_question")
            facts["faq_question"] = matched if isinstance(matched, str) else None
        return facts

    def _plan_for(self, item: Todo) -> Plan:
        if item.metrics is None:
            return self._plan
        if item.metrics not in self._subsets:
            self._subsets[item.metrics] = self._plan.subset(sorted(item.metrics))
        return self._subsets[item.metrics]

    def _keep(self, row: Row, scores: Sequence[Score]) -> None:
        self._writer.scores(row, scores)
