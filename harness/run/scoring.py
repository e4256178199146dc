"""Scorer: turns rows into scores, and hands these to the writer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from ...knowledge import ASSERTIONS
from ...metrics import Embedder, Facts, Score
from ...metrics.facts import Nugget
from ...reports.store.run import Row, RowStatus
from ...reports.store.run_results import RunResults
from ...reports.store.writer import RowWriter
from .isolation import EndedEarly, apart, foreign
from .queues import Todo

if TYPE_CHECKING:
    from ...knowledge import Question
    from ...metrics.plan import Plan
    from .evidence import Places
    from .judging import Judging
    from .local_models import RunModels


@dataclass(frozen=True, slots=True)
class RowFacts:
    """Gathers the facts of rows; the judge is added where one is asked. ``tools`` are local models by name."""

    run_results: RunResults
    embedder: Embedder | None = None
    places: Places | None = None
    tools: Mapping[str, object] = field(default_factory=dict)

    def of(self, row: Row) -> Facts:
        """What metrics may ask for by name; a cached reply is read back from the store first."""
        if row.reply is None and row.reply_id is not None:
            row.reply = self.run_results.load_reply(row.reply_id)
        question, reply = row.question, row.reply
        facts: Facts = {
            "question": question.text,
            "expected_answers": question.expected,
            "constraints": question.constraints or None,
            "assertions": cast("list[Mapping[str, object]]", question.extra.get(ASSERTIONS)) or None,
            "evidence": quotes_of(question) or None,
            "nuggets": [Nugget(one.text, one.vital) for one in question.nuggets] or None,
            "answerable": question.answerable,
            "expected_tools": question.expected_tools,
            "forbidden_tools": question.forbidden_tools or None,
            "latency_ms": row.latency_ms,
            "embedder": self.embedder,
        }
        facts.update(cast("Facts", self.tools))
        if self.places is not None:
            facts["gold"] = self.places.gold(question)
            facts["retrieved"] = None if reply is None else self.places.retrieved(reply.contexts)
        if reply is not None:
            facts["answer"] = reply.answer
            facts["abstained"] = reply.abstained
            facts["contexts"] = None if reply.contexts is None else [context.text for context in reply.contexts]
            documents = None if reply.contexts is None else [context.document for context in reply.contexts]
            facts["context_documents"] = documents
            facts["tool_calls"] = reply.tool_calls
            facts["cost"] = reply.usage.cost
            facts["tokens_in"] = reply.usage.tokens_in
            facts["tokens_out"] = reply.usage.tokens_out
            matched = reply.trace.get("faq_question")
            facts["faq_question"] = matched if isinstance(matched, str) else None
        return facts


def quotes_of(question: Question) -> tuple[str, ...]:
    """The quotes of a question's evidence, each once."""
    quotes = (one.quote for group in question.evidence for one in group)
    return tuple(dict.fromkeys(quote for quote in quotes if quote.strip()))


ROWS = 64  # rows in scoring at once, so that their texts are embedded in full batches


class Scorer:
    """Scores rows by one plan, and hands the scores to the writer; ``heard`` is told of them, too.

    Metrics that compare an answer with that of a reference bot wait for ``PairScorer``, those of a whole conversation
    for ``ConversationScorer``.
    """

    def __init__(
        self, plan: Plan, writer: RowWriter, run_results: RunResults, embedder: Embedder | None = None,
        places: Places | None = None, judging: Judging | None = None, models: RunModels | None = None,
        heard: Callable[[Row, Sequence[Score]], None] | None = None,
    ) -> None:  # fmt: skip
        self._pairs = plan.subset(plan.of_pairs)
        later = {*plan.of_pairs, *plan.of_conversations}
        self._plan = plan.subset([each.id for each in plan.metrics if each.id not in later])
        self._writer = writer
        self._models = models
        self._facts = RowFacts(run_results, embedder, places, {} if models is None else models.tools)
        self._judging = judging if "judge" in self._plan.needs else None
        self._subsets: dict[frozenset[str], Plan] = {}
        self._heard = heard

    @property
    def is_judged(self) -> bool:
        """Whether a language model takes part in scoring."""
        return self._judging is not None and self._judging.is_language_model

    @property
    def rows_at_once(self) -> int:
        """How many rows should be in scoring at once, so that models never wait for texts."""
        return ROWS if self._judging is None else self._judging.rows_at_once

    @property
    def judge_calls(self) -> tuple[int, float | None] | None:
        """How often language models were asked so far, and the cost where it is known; None without any."""
        if self._judging is None or not self._judging.is_language_model:
            return None
        return self._judging.judge_cache.paid, self._judging.judge_cache.cost

    def now(self, item: Todo) -> bool:
        """Score the row at once when nothing has to be waited for; False when ``score`` must be awaited."""
        plan = self._plan_for(item)
        row = item.row
        if row.status is not RowStatus.ANSWERED:
            self._keep(row, [*plan.bot_failed(self._facts.of(row)), *self._pairs.bot_failed()])
        elif not plan.metrics:
            pass
        elif plan.is_sync:
            with foreign():
                scores = plan.score_now(self._facts.of(row))
            self._keep(row, scores)
        else:
            return False
        return True

    async def prepare(self) -> None:
        """Load local models and what the judge needs, before anybody is timed; costs nothing the second time."""
        loading = [] if self._models is None else [self._models.prepare()]
        if self._judging is not None:
            loading.append(self._judging.prepare())
        await asyncio.gather(*loading)

    async def ready_for_a_row(self) -> None:
        """Wait until scoring can do with another row."""
        if self._judging is not None and self.is_judged:
            await self._judging.ready_for_a_row()

    async def score(self, item: Todo) -> None:
        """Score the row, waiting for embeddings, the judge and the like."""
        plan, facts = self._plan_for(item), self._facts.of(item.row)
        if self._judging is None or "judge" not in plan.needs:
            self._keep(item.row, await _scores(plan, facts))
            return
        await self._judging.prepare()
        facts["judge"], notes = self._judging.for_row()
        scores = await _scores(plan, facts)
        # The notes first: a row that has them and no scores is scored again from cached calls, and nothing is lost.
        self._writer.judge_notes(item.row, notes.calls)
        self._keep(item.row, scores)

    def _plan_for(self, item: Todo) -> Plan:
        if item.metrics is None:
            return self._plan
        if item.metrics not in self._subsets:
            of_rows = {each.id for each in self._plan.metrics}
            self._subsets[item.metrics] = self._plan.subset(sorted(item.metrics & of_rows))
        return self._subsets[item.metrics]

    def _keep(self, row: Row, scores: Sequence[Score]) -> None:
        self._writer.scores(row, scores)
        if self._heard is not None:
            self._heard(row, scores)


async def _scores(plan: Plan, facts: Facts) -> Sequence[Score]:
    """Scores of a row, also when a metric of the user's ends the task in which it runs."""
    try:
        return await apart(plan.score(facts))
    except EndedEarly as error:
        return plan.broken_off(str(error))
