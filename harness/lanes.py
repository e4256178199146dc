"""Lane: one bot with its share of the work, and what happened to it so far."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ..bots.base import Bot, Reply
from ..knowledge.questions import Question
from ..reports.encoding import question_columns
from ..reports.ledger import Ledger, OpenRun
from ..reports.run import Row

CHUNK = 256  # questions looked up at once; the work list itself is streamed


class Item(NamedTuple):
    """One thing to ask; recorded answers come with their reply."""

    question: Question
    repeat: int
    ask: bytes
    reply: Reply | None = None
    latency_ms: float | None = None


class Todo(NamedTuple):
    """A row with what it still needs: an answer, or only the scores named (None means all)."""

    row: Row
    metrics: frozenset[str] | None


@dataclass
class Lane:
    """One bot's work. ``serial`` lanes ask a block, then score it, so that scoring never disturbs the clock."""

    name: str
    bot: Bot
    bot_id: int
    items: Callable[[], Iterable[Item]]
    total: int
    concurrency: int
    timeout: float | None = None
    serial: bool = False
    recorded: bool = False
    problem: str = ""
    asked: int = 0
    failed: int = 0
    kept: int = 0
    scored: int = 0
    in_flight: int = 0
    unreachable: int = 0
    prepared: bool = False

    @property
    def stopped(self) -> bool:
        """True when no further question makes sense; ``problem`` says why."""
        return bool(self.problem)


def todo(lane: Lane, ledger: Ledger, run: OpenRun, fresh: bool, after: int) -> Iterator[Todo | None]:
    """What is left to do in a lane, chunk by chunk; None stands for a row that is complete already.

    Kept answers are linked to the run and scored where a metric is missing; answers after reply ``after`` count as
    kept even in a fresh run, which is what makes a question that stands twice be asked once.
    """
    names = {number: name for name, number in run.metric_ids.items()}
    items = iter(lane.items())
    while chunk := list(itertools.islice(items, CHUNK)):
        replies = ledger.kept_replies(lane.bot_id, list({item.ask for item in chunk}), after if fresh else 0)
        fingerprints = [question_columns(item.question)[0] for item in chunk] if replies else []
        known = ledger.question_ids(fingerprints)  # type: ignore[arg-type]
        done = ledger.scored([kept.reply_id for kept in replies.values()])
        links = ledger.linked(run, lane.bot_id, list(known.values()))
        for place, item in enumerate(chunk):
            kept = replies.get((item.ask, item.repeat))
            row = Row(
                item.question,
                lane.bot_id,
                item.repeat,
                item.ask,
                reply=item.reply,
                latency_ms=item.latency_ms,
            )
            if kept is None:
                yield Todo(row, None)
                continue
            row.kept, row.reply_id, row.latency_ms = True, kept.reply_id, kept.latency_ms
            row.question_id = known.get(fingerprints[place])  # type: ignore[call-overload]
            scored = done.get((kept.reply_id, row.question_id or -1), set())
            missing = frozenset(name for number, name in names.items() if number not in scored)
            linked = (row.question_id, row.repeat, row.reply_id) in links
            yield None if linked and not missing else Todo(row, missing)
