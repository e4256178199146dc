"""Ask one question: timed, with every way in which it can fail turned into a status of the row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from ...bots.base import BotMisconfigured, BotRefused, Reply
from ...bots.deadline import deadline
from ...reports.encoding import clean_reply, storable
from ...reports.ledger import now
from ...reports.run import Row, RowStatus
from .lanes import Lane

UNREACHABLE_LIMIT = 20  # questions in a row that could not reach the bot before its lane is stopped


async def ask(lane: Lane, row: Row, redact: Callable[[str], str]) -> bool:
    """Put the row's question to the lane's bot and fill in the row.

    Latency is the bot's own: by a monotonic clock, without the time that our own limits made it wait. A set-up that
    can't answer anything stops the lane: then this returns False, and the row is to be left out.
    """
    lane.in_flight += 1
    row.in_flight, row.asked_at = lane.in_flight, now()
    start = time.perf_counter()
    try:
        async with deadline(lane.timeout):
            reply = await lane.bot.reply(row.question.text)
        row.latency_ms = _latency(lane, reply, start)
        row.reply = _without_secrets(clean_reply(reply), redact)
    except BotMisconfigured as error:
        lane.problem = lane.problem or redact(str(error))
        return False
    except BotRefused as error:
        _fail(row, start, RowStatus.REFUSED, error, redact(str(error)))
    except TimeoutError as error:
        limit = f"no answer within {lane.timeout:g} s" if lane.timeout else "timed out"
        _fail(row, start, RowStatus.TIMED_OUT, error, redact(str(error)) or limit)
    except BaseException as error:  # a bot is foreign code: whatever it raises is an outcome
        if _ends_us(error):
            raise
        _fail(row, start, RowStatus.RAISED, error, redact(f"{type(error).__name__}: {error}"))
        _count_unreachable(lane, error, redact)
    else:
        lane.unreachable = 0
    finally:
        lane.in_flight -= 1
    lane.asked += 1
    lane.failed += row.status is not RowStatus.ANSWERED
    return True


def _without_secrets(reply: Reply, redact: Callable[[str], str]) -> Reply:
    """The reply without the keys that an endpoint may quote."""
    answer, reasoning = (None if said is None else redact(said) for said in (reply.answer, reply.reasoning))
    if (answer, reasoning) == (reply.answer, reply.reasoning):
        return reply
    return replace(reply, answer=answer, reasoning=reasoning)


def _ends_us(error: BaseException) -> bool:
    """Whether it is we who are to end; a bot may also cancel itself, as libraries with scopes of their own do."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is None or task.cancelling() > 0
    return isinstance(error, (KeyboardInterrupt, GeneratorExit))


def _latency(lane: Lane, reply: Reply, start: float) -> float | None:
    """The bot's own milliseconds; of a recorded bot those on record, for reading a file says nothing of it."""
    if lane.recorded:
        return sum(reply.attempts_ms) if reply.attempts_ms else None
    return max((time.perf_counter() - start) * 1000 - reply.queue_ms, 0.0)


def _fail(row: Row, start: float, status: RowStatus, error: BaseException, sentence: str) -> None:
    """Note on the row that there is no answer, and what the time until then was spent on."""
    queue_ms = float(getattr(error, "queue_ms", 0.0))
    attempts_ms = tuple(getattr(error, "attempts_ms", ()))
    row.latency_ms = max((time.perf_counter() - start) * 1000 - queue_ms, 0.0)
    row.status, row.error = status, storable(sentence)[:2000]
    row.reply = Reply(None, queue_ms=queue_ms, attempts_ms=attempts_ms)


def _count_unreachable(lane: Lane, error: BaseException, redact: Callable[[str], str]) -> None:
    if not isinstance(error, ConnectionError):
        return
    lane.unreachable += 1
    if lane.unreachable >= max(UNREACHABLE_LIMIT, 2 * lane.concurrency) and not lane.problem:
        lane.problem = (
            f"{lane.unreachable} questions in a row got no answer, the last because: {redact(str(error)).rstrip('.')}. "
            "The bot was stopped; run the same command again to go on."
        )


def give(row: Row, reply: Reply) -> None:
    """Fill in a row from an answer that was recorded elsewhere; its latency stays as recorded, or unknown."""
    row.asked_at = now()
    row.reply = clean_reply(reply)
