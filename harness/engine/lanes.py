"""Lane: one bot with its share of the work, and what happened to it so far."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from ...bots.base import Bot, Reply
from ...knowledge.questions import Question
from ...reports.claims import Claim, ClaimKey, Claims
from ...reports.encoding import question_fingerprint
from ...reports.ledger import Ledger, OpenRun
from ...reports.run import Row
from .apart import apart

CHUNK = 256  # questions looked up at once; the work list itself is streamed
LEAST_CLAIMED = 16  # questions claimed at once: each time is a transaction, and what one has, another has not
PAUSE = 0.2  # seconds between two looks at what other programs are at work on


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


class Waiting(Enum):
    """Stands in a work list for what another program is at work on."""

    LATER = "later"


def todo(lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool) -> Iterator[Todo | None]:
    """What is left to do in a lane, chunk by chunk; None stands for a row that is complete already.

    Kept answers are linked to the run and scored where a metric is missing. An answer that stands in the run stays
    there, even when another run was given a newer one; with ``own_only`` no answer of another run counts at all.
    """
    items = _placed(lane)
    while chunk := list(itertools.islice(items, CHUNK)):
        yield from _looked_up(lane, ledger, run, own_only, chunk)


def shared_todo(
    lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool, claims: Claims
) -> Iterator[Todo | Waiting | None]:
    """The same where other programs may be at work: what is given out is claimed.

    What another is at work on comes last. It is ``LATER`` until it is done, and complete, or until its claim lapses.
    """
    items, left = _placed(lane), list[Item]()
    size = max(LEAST_CLAIMED, 2 * lane.concurrency)
    while chunk := list(itertools.islice(items, CHUNK)):
        pairs = list(zip(chunk, _looked_up(lane, ledger, run, own_only, chunk), strict=True))
        for start in range(0, len(pairs), size):
            yield from _claimed(claims, pairs[start : start + size], left, again=False)
    looked_at = float("-inf")
    while left:
        if time.monotonic() - looked_at < PAUSE:
            yield Waiting.LATER
            continue
        chunk, left = left[:CHUNK], left[CHUNK:]
        theirs = list[Item]()
        pairs = list(zip(chunk, _looked_up(lane, ledger, run, own_only, chunk), strict=True))
        yield from _claimed(claims, pairs, theirs, again=True)
        left += theirs
        looked_at = time.monotonic() if theirs else looked_at


def _placed(lane: Lane) -> Iterator[Item]:
    """The items of a lane, each with its position."""
    for place, item in enumerate(lane.items()):
        yield item if item.position is not None else item._replace(position=place)


def _claimed(
    claims: Claims, pairs: Sequence[tuple[Item, Todo | None]], theirs: list[Item], *, again: bool
) -> Iterator[Todo | None]:
    """What is ours of some work; what others are at work on is put among ``theirs``."""
    wanted = [(item, work) for item, work in pairs if work is not None]
    taken = claims.take([claim_key(work.row) for _, work in wanted], again) if wanted else []
    came = dict(zip((id(work) for _, work in wanted), taken, strict=True))
    for item, work in pairs:
        match came.get(id(work)) if work is not None else None:
            case Claim.THEIRS:
                theirs.append(item)
            case Claim.DONE if work is not None and not work.row.kept:
                yield None  # asked in this run a moment ago, and failed
            case _:
                yield work


def claim_key(row: Row) -> ClaimKey:
    """Under which a row is claimed."""
    return ClaimKey(row.bot_id, row.ask, row.repeat)


def _looked_up(
    lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool, chunk: Sequence[Item]
) -> Iterator[Todo | None]:
    kept = _kept(lane, ledger, run, chunk, own_only)
    done = ledger.scored([each.reply_id for each in kept.values()])
    for place, item in enumerate(chunk):
        row = Row(
            item.question,
            lane.bot_id,
            item.repeat,
            item.ask,
            reply=item.reply,
            latency_ms=item.latency_ms,
            position=item.position or 0,
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
