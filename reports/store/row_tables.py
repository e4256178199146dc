"""RowTables: rows as columns, and how the writer puts them into questions, replies, contexts and rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from ...bots import Reply
from ...knowledge import Question
from .database import insert_many, insert_or_find, marks
from .encoding import context_columns, question_columns, to_json, tool_calls_column
from .run import Row, RowStatus

QUESTION_COLUMNS = (
    "id, fingerprint, key, text, expected, constraints, evidence, tags, source_document, answerable, history,"
    " conversation, turn, nuggets, expected_tools, forbidden_tools, extra"
)
REPLY_COLUMNS = (
    "id, bot_id, question_hash, repeat, status, answer, error, history, abstained, retrieved, latency_ms, queue_ms,"
    " attempts_ms, in_flight, tokens_in, tokens_out, cost, reasoning, tool_calls, trace, request_hash, asked_at"
)
NOTHING = Reply(None)


def reply_columns(row: Row) -> tuple[object, ...]:
    """The values of ``REPLY_COLUMNS`` for a row."""
    reply = row.reply or NOTHING
    return (
        row.reply_id,
        row.bot_id,
        row.question_hash,
        row.repeat,
        row.status.value,
        reply.answer,
        row.error or None,
        to_json(row.history) if row.history else None,
        None if reply.abstained is None else int(reply.abstained),
        None if reply.contexts is None else len(reply.contexts),
        row.latency_ms,
        reply.queue_ms,
        to_json(reply.attempts_ms) if reply.attempts_ms else None,
        row.in_flight,
        reply.usage.tokens_in,
        reply.usage.tokens_out,
        reply.usage.cost,
        reply.reasoning,
        tool_calls_column(reply.tool_calls),
        to_json(reply.trace) if reply.trace else None,
        reply.request_hash or None,
        row.asked_at,
    )


# A question that stands twice keeps its first place.
LINK_ANEW = (
    "ON CONFLICT DO UPDATE SET reply_id = excluded.reply_id,"
    " position = MIN(IFNULL(position, excluded.position), excluded.position)"
)
THERE = "SELECT 1 FROM replies WHERE bot_id = ? AND question_hash = ? AND repeat = ? AND asked_at = ?"
MOST_PASSAGES = 100_000  # whose ids are remembered

Columns = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """All that is stored of an answer: the columns of its question, of its reply after the id, and of its contexts.

    Each context is the columns of its passage, and its score.
    """

    question: Columns
    reply: Columns
    contexts: tuple[tuple[Columns, float | None], ...] = ()


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Answers that another program left in its journal, and the run for which it asked."""

    run_id: int
    rows: Sequence[Row]


def answer_columns(row: Row) -> AnswerColumns:
    """The columns of a row that has its reply or its error."""
    return AnswerColumns(question_columns(row.question), reply_columns(row)[1:], _contexts_of(row))


def _contexts_of(row: Row) -> tuple[tuple[Columns, float | None], ...]:
    contexts = (row.reply and row.reply.contexts) or ()
    return tuple((context_columns(context), context.score) for context in contexts)


def found_row(position: int, columns: AnswerColumns) -> Row:
    """A row as another program left it: enough of it to be written."""
    bot_id, question_hash, repeat = columns.reply[:3]
    assert isinstance(bot_id, int) and isinstance(repeat, int)  # noqa: S101, PT018 - ours
    assert isinstance(question_hash, bytes)  # noqa: S101
    question = Question(str(columns.question[1]), str(columns.question[2]))
    return Row(
        question, bot_id, repeat, question_hash, RowStatus.ANSWERED, Reply(None), asked_at=str(columns.reply[-1]),
        position=position, columns=columns,
    )  # fmt: skip


class RowTables:
    """Writes rows by one connection, and remembers what a writer needs again."""

    def __init__(self) -> None:
        self._passages: dict[bytes, int] = {}

    def write(self, connection: sqlite3.Connection, run_id: int | None, rows: Sequence[Row]) -> None:
        """Write the rows of a run, and give them the ids of their questions and replies; a cached reply is linked."""
        _write_questions(connection, [row for row in rows if row.question_id is None])
        self._write_replies(connection, [row for row in rows if row.reply_id is None])
        insert_many(
            connection,
            "INSERT INTO run_rows (run_id, bot_id, question_id, repeat, reply_id, position)",
            [(run_id, row.bot_id, row.question_id, row.repeat, row.reply_id, row.position) for row in rows],
            LINK_ANEW,
        )

    def write_found(self, connection: sqlite3.Connection, found: FoundRows) -> None:
        """Write what is not there: the program may have come to write it before it was killed."""
        missing = [
            row
            for row in found.rows
            if not connection.execute(THERE, (row.bot_id, row.question_hash, row.repeat, row.asked_at)).fetchone()
        ]
        self.write(connection, found.run_id, missing)

    def _write_replies(self, connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        if not rows:
            return
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM replies").fetchone()
        replies: list[Columns] = []
        contexts: list[Columns] = []
        for number, row in enumerate(rows, last + 1):
            row.reply_id = number
            replies.append((number, *row.columns.reply) if row.columns else reply_columns(row))
            if found := row.columns.contexts if row.columns else _contexts_of(row):
                ids = self._passage_ids(connection, [passage for passage, _ in found])
                scores = (score for _, score in found)
                contexts += [(number, *each) for each in zip(range(1, len(ids) + 1), ids, scores, strict=True)]
        insert_many(connection, f"INSERT INTO replies ({REPLY_COLUMNS})", replies)
        insert_many(connection, "INSERT INTO contexts (reply_id, rank, passage_id, score)", contexts)

    def _passage_ids(self, connection: sqlite3.Connection, passages: Sequence[Columns]) -> list[int]:
        """Ids of the passages, made where they are new; a passage retrieved a thousand times is stored once."""
        if len(self._passages) > MOST_PASSAGES:
            self._passages.clear()
        ids = []
        for values in passages:
            key = values[0]
            found = self._passages.get(key) if isinstance(key, bytes) else None
            if found is None:
                found = insert_or_find(connection, "passages", 'fingerprint, document, start, "end", text', values)
            ids.append(found)
        # Remembered only now: a rollback ends this writer, so no id is remembered that was not committed.
        self._passages.update((values[0], found) for values, found in zip(passages, ids, strict=True))  # type: ignore[misc]
        return ids


def _write_questions(connection: sqlite3.Connection, wanted: Sequence[Row]) -> None:
    """Give every row the id of its question, inserting the questions that are new."""
    if not wanted:
        return
    columns = [row.columns.question if row.columns else question_columns(row.question) for row in wanted]
    known: dict[object, int] = {}
    keys = list({values[0] for values in columns})
    for start in range(0, len(keys), 500):
        part = keys[start : start + 500]
        known.update(
            connection.execute(f"SELECT fingerprint, id FROM questions WHERE fingerprint IN ({marks(part)})", part)
        )
    (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM questions").fetchone()
    new = []
    for row, values in zip(wanted, columns, strict=True):
        if values[0] not in known:
            last += 1
            known[values[0]] = last
            new.append((last, *values))
        row.question_id = known[values[0]]
    insert_many(connection, f"INSERT INTO questions ({QUESTION_COLUMNS})", new)
