"""Columns of a reply as they stand in the database."""

from __future__ import annotations

from ..bots.base import Reply
from .encoding import to_json
from .run import Row

REPLY_COLUMNS = (
    "id, bot_id, ask, repeat, status, answer, error, declined, retrieved, latency_ms, queue_ms, attempts_ms,"
    " in_flight, tokens_in, tokens_out, cost, reasoning, trace, asked_at"
)
NOTHING = Reply(None)


def reply_columns(row: Row) -> tuple[object, ...]:
    """The values of ``REPLY_COLUMNS`` for a row."""
    reply = row.reply or NOTHING
    return (
        row.reply_id,
        row.bot_id,
        row.ask,
        row.repeat,
        row.status.value,
        reply.answer,
        row.error or None,
        None if reply.declined is None else int(reply.declined),
        None if reply.contexts is None else len(reply.contexts),
        row.latency_ms,
        reply.queue_ms,
        to_json(reply.attempts_ms) if reply.attempts_ms else None,
        row.in_flight,
        reply.usage.tokens_in,
        reply.usage.tokens_out,
        reply.usage.cost,
        reply.reasoning,
        to_json(reply.trace) if reply.trace else None,
        row.asked_at,
    )
