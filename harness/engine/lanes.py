"""Lane: one bot with its share of the work, and what happened to it so far."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...bots.base import Bot, Reply
from ...knowledge.questions import Question
from ...reports.encoding import question_fingerprint
from ...reports.ledger import Ledger, OpenRun
from ...reports.run import Row
from .apart import apart

CHUNK = 256  # questions looked up at once; the work list itself is streamed


class Item(NamedTuple):
    """One thing to ask; recorded answers come with their reply. ``position`` where it is not that of the order."""

    question: Question
    repeat: int
    ask: bytes
    reply: Reply | None = None
    latency_ms: float | None = None
    position: int | None = None


class Todo(NamedTuple):
    """A row with what it still needs: an answer, or only the scores named (None means all)."""

    row: Row
    metrics: frozenset[str] | None


class _Kept(NamedTuple):
    """A kept answer: its reply, the id of the question where the database has it, and whether the run has it."""

    reply_id: int
    latency_ms: float | None
    question_id: int | None
    linked: bool


@dataclass
class Lane:
    """One bot's work. A ``serial`` lane asks one question at a time, alone; ``recorded`` answers come from a file.

    The bot of a ``fleeting`` one shares nothing with others, and is closed as soon as it was asked all.
    """

    name: str
    bot: Bot
    bot_id: int
    items: Callable[[], Iterable[Item]]
    total: int
    concurrency: int
    timeout: float | None = None
    serial: bool = False
    recorded: bool = False
    fleeting: bool = False
    problem: str = ""
    asked: int = 0
    failed: int = 0
    kept: int = 0
    begun: int = 0
    scored: int = 0
    in_flight: int = 0
    unreachable: int = 0
    prepared: bool = False
    ready: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def stopped(self) -> bool:
        """True when no further question makes sense; ``problem`` says why."""
        return bool(self.problem)


async def close(lane: Lane) -> None:
    """Close the bot of a lane, if it can be; it may be closed again."""
    closes = getattr(lane.bot, "close", None)
    with contextlib.suppress(Exception):  # foreign code; all is asked, and nothing is lost when it can't tidy up
        if closes is not None:
            await apart(closes())


def todo(lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool) -> Iterator[Todo | None]:
    """What is left to do in a lane, chunk by chunk; None stands for a row that is complete already.

    Kept answers are linked to the run and scored where a metric is missing. An answer that stands in the run stays
    there, even when another run was given a newer one; with ``own_only`` no answer of another run counts at all.
    """
    items, positions = iter(lane.items()), itertools.count()
    while chunk := list(itertools.islice(items, CHUNK)):
        kept = _kept(lane, ledger, run, chunk, own_only)
        done = ledger.scored([each.reply_id for each in kept.values()])
        for place, item in enumerate(chunk):
            position = next(positions)
            row = Row(
                item.question,
                lane.bot_id,
                item.repeat,
                item.ask,
                reply=item.reply,
                latency_ms=item.latency_ms,
                position=position if item.position is None else item.position,
            )
            found = kept.get(place)
            if found is None:
                yield Todo(row, None)
                continue
            row.kept, row.reply_id, row.latency_ms = True, found.reply_id, found.latency_ms
            row.question_id = found.question_id
            scored = done.get((found.reply_id, found.question_id or 0), set())
            missing = frozenset(name for name, number in run.metric_ids.items() if number not in scored)
            yield None if found.linked and not missing else Todo(row, missing)


def kept_items(
    lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool
) -> Iterator[list[tuple[Item, int, int | None]]]:
    """What need not be asked for in a lane, chunk by chunk: each with the ids of reply and question, if known."""
    items = iter(lane.items())
    while chunk := list(itertools.islice(items, CHUNK)):
        kept = _kept(lane, ledger, run, chunk, own_only)
        yield [(chunk[place], found.reply_id, found.question_id) for place, found in kept.items()]


def _kept(lane: Lane, ledger: Ledger, run: OpenRun, chunk: Sequence[Item], own_only: bool) -> dict[int, _Kept]:
    """The answers that need not be asked for, by their place in the chunk."""
    replies = ledger.kept_replies(lane.bot_id, list({item.ask for item in chunk}))
    if not replies:
        return {}
    fingerprints = [question_fingerprint(item.question) for item in chunk]
    known = ledger.question_ids(fingerprints)
    own = ledger.linked(run, lane.bot_id, list(known.values()))
    kept = {}
    for place, item in enumerate(chunk):
        question_id = known.get(fingerprints[place])
        mine = None if question_id is None else own.get((question_id, item.repeat))
        reply = mine if mine or own_only else replies.get((item.ask, item.repeat))
        if reply is not None:
            kept[place] = _Kept(reply.reply_id, reply.latency_ms, question_id, mine is not None)
    return kept
