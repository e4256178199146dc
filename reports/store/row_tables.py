"""RowTables: rows as columns, and how the writer puts them into questions, replies, contexts and rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...bots import Reply
from ...knowledge import Question
from .database import MOST_BOUND, insert_filled, insert_many, insert_or_find, marks
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
Contexts = tuple[tuple[Columns, float | None], ...]  # the columns of a passage, and its score


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """All that is stored of an answer: the columns of its question, of its reply after the id, and of its contexts."""

    question: Columns
    reply: Columns
    contexts: Contexts = ()


@dataclass(frozen=True, slots=True)
class FoundRows:
    """Answers that another program left in its journal, and the run for which it asked."""

    run_id: int
    rows: Sequence[Row]


def answer_columns(row: Row) -> AnswerColumns:
    """The columns of a row that has its reply or its error."""
    return AnswerColumns(question_columns(row.question), reply_columns(row)[1:], _contexts_of(row))


def _contexts_of(row: Row) -> Contexts:
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
        new = [row for row in rows if row.question_id is None]
        questions = [row.columns.question if row.columns else question_columns(row.question) for row in new]
        for row, number in zip(new, _question_ids(connection, questions), strict=True):
            row.question_id = number
        asked = [row for row in rows if row.reply_id is None]
        replies = [
            (row.columns.reply, row.columns.contexts) if row.columns else (reply_columns(row)[1:], _contexts_of(row))
            for row in asked
        ]
        for row, number in zip(asked, self._write_replies(connection, replies), strict=True):
            row.reply_id = number
        _link(
            connection,
            [(run_id, row.bot_id, row.question_id, row.repeat, row.reply_id, row.position) for row in rows],
        )

    def write_recorded(
        self,
        connection: sqlite3.Connection,
        run_id: int,
        questions: Sequence[Columns],
        replies: Sequence[Columns],
        contexts: Sequence[Contexts],
        positions: Sequence[int],
        stored: Mapping[Columns, int],
    ) -> tuple[list[int], list[int]]:
        """Write answers of which only the columns are there, those of replies from the bot on.

        ``stored`` are ids of replies that are in the database, by their first three columns: bot, hash and repeat.

        Returns:
            The ids of the replies, and of the questions.
        """
        question_ids = _question_ids(connection, questions)
        there = [stored.get(each[:3]) for each in replies] if stored else [None] * len(replies)
        new = [pair for pair, found in zip(zip(replies, contexts, strict=True), there, strict=True) if found is None]
        made = iter(self._write_replies(connection, new))
        ids = [next(made) if found is None else found for found in there]
        _link(
            connection,
            [
                (run_id, reply[0], question, reply[2], number, position)
                for reply, question, number, position in zip(replies, question_ids, ids, positions, strict=True)
            ],
        )
        return ids, question_ids

    def write_found(self, connection: sqlite3.Connection, found: FoundRows) -> None:
        """Write what is not there: the program may have come to write it before it was killed."""
        missing = [
            row
            for row in found.rows
            if not connection.execute(THERE, (row.bot_id, row.question_hash, row.repeat, row.asked_at)).fetchone()
        ]
        self.write(connection, found.run_id, missing)

    def _write_replies(self, connection: sqlite3.Connection, wanted: Sequence[tuple[Columns, Contexts]]) -> range:
        """Write the columns of replies after the id, with their contexts; their ids."""
        if not wanted:
            return range(0)
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM replies").fetchone()
        ids = range(last + 1, last + 1 + len(wanted))
        contexts: list[Columns] = []
        for number, (_, found) in zip(ids, wanted, strict=True):
            if found:
                passages = self._passage_ids(connection, [passage for passage, _ in found])
                contexts += [
                    (number, rank, passage, score)
                    for rank, (passage, (_, score)) in enumerate(zip(passages, found, strict=True), 1)
                ]
        replies = [(number, *columns) for number, (columns, _) in zip(ids, wanted, strict=True)]
        insert_filled(connection, "replies", REPLY_COLUMNS, replies)
        insert_many(connection, "INSERT INTO contexts (reply_id, rank, passage_id, score)", contexts)
        return ids

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


def _link(connection: sqlite3.Connection, links: Sequence[Columns]) -> None:
    into = "INSERT INTO run_rows (run_id, bot_id, question_id, repeat, reply_id, position)"
    insert_many(connection, into, links, LINK_ANEW)


def _question_ids(connection: sqlite3.Connection, wanted: Sequence[Columns]) -> list[int]:
    """The ids of questions by their columns after the id; those that are new are inserted."""
    known: dict[object, int] = {}
    keys = list({values[0] for values in wanted})
    for start in range(0, len(keys), MOST_BOUND):
        part = keys[start : start + MOST_BOUND]
        known.update(
            connection.execute(f"SELECT fingerprint, id FROM questions WHERE fingerprint IN ({marks(part)})", part)
        )
    (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM questions").fetchone()
    new = []
    for values in wanted:
        if values[0] not in known:
            last += 1
            known[values[0]] = last
            new.append((last, *values))
    insert_filled(connection, "questions", QUESTION_COLUMNS, new)
    return [known[values[0]] for values in wanted]
