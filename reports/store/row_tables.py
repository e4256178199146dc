"""RowTables: rows as columns, and how the writer puts them into questions, replies, contexts and rows."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ...bots import Reply
from ...knowledge import Question
from .database import Lines, in_parts, insert_lines, insert_many, insert_or_find, marks
from .encoding import QuestionColumns, context_columns, question_columns, to_json, tool_calls_column
from .run import Row, RowStatus


class ReplyColumns(NamedTuple):
    """What is stored of a reply after its id, in the order of the table."""

    bot_id: int
    question_hash: bytes
    repeat: int = 0
    status: str = RowStatus.ANSWERED.value
    answer: str | None = None
    error: str | None = None
    history: str | None = None
    abstained: int | None = None
    retrieved: int | None = None
    latency_ms: float | None = None
    queue_ms: float = 0.0
    attempts_ms: str | None = None
    in_flight: int = 1
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    reasoning: str | None = None
    tool_calls: str | None = None
    trace: str | None = None
    request_hash: str | None = None
    asked_at: str = ""


QUESTION_COLUMNS: Final = ", ".join(("id, fingerprint", *QuestionColumns._fields))
REPLY_COLUMNS: Final = ", ".join(("id", *ReplyColumns._fields))
SCORE_COLUMNS: Final = "reply_id, question_id, metric_id, value, status, reason"
DETAILS_COLUMNS: Final = "reply_id, question_id, metric_id, details"
SCORED_ANEW: Final = (
    "ON CONFLICT DO UPDATE SET value = excluded.value, status = excluded.status, reason = excluded.reason"
)
NOTHING = Reply(None)


def reply_columns(row: Row) -> ReplyColumns:
    """The values of ``REPLY_COLUMNS`` after the id for a row."""
    reply = row.reply or NOTHING
    return ReplyColumns(
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
    return AnswerColumns(question_columns(row.question), tuple(reply_columns(row)), _contexts_of(row))


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

    def __init__(self, asked_once: bool = False) -> None:
        """``asked_once`` says that no question comes twice: where there were none before, none is looked for."""
        self._passages: dict[object, int] = {}
        self._asked_once = asked_once
        self._last_question = 0  # as this writer left it

    def write(self, connection: sqlite3.Connection, run_id: int | None, rows: Sequence[Row]) -> None:
        """Write the rows of a run, and give them the ids of their questions and replies; a cached reply is linked."""
        new = [row for row in rows if row.question_id is None]
        questions = [row.columns.question if row.columns else question_columns(row.question) for row in new]
        for row, number in zip(new, self._question_ids(connection, Lines.of(questions)), strict=True):
            row.question_id = number
        asked = [row for row in rows if row.reply_id is None]
        replies = Lines.of([row.columns.reply if row.columns else reply_columns(row) for row in asked])
        contexts = [row.columns.contexts if row.columns else _contexts_of(row) for row in asked]
        for row, number in zip(asked, self._write_replies(connection, replies, contexts), strict=True):
            row.reply_id = number
        links = [(run_id, row.bot_id, row.question_id, row.repeat, row.reply_id, row.position) for row in rows]
        _link(connection, Lines.of(links))

    def write_recorded(
        self,
        connection: sqlite3.Connection,
        run_id: int,
        questions: Lines,
        replies: Lines,
        contexts: Sequence[Contexts],
        positions: Sequence[int],
        stored: Mapping[Columns, int],
    ) -> tuple[list[int], Sequence[int]]:
        """Write answers of which only the columns are there, those of replies from the bot on.

        ``stored`` are ids of replies that are in the database, by their first three columns: bot, hash and repeat.

        Returns:
            The ids of the replies, and of the questions.
        """
        question_ids = self._question_ids(connection, questions)
        bots, hashes, repeats = map(replies.column, range(3))
        there = [stored.get(key) for key in zip(bots, hashes, repeats, strict=True)] if stored else [None] * len(bots)
        is_new = [found is None for found in there]
        made = iter(self._write_replies(connection, replies.where(is_new), list(itertools.compress(contexts, is_new))))
        ids = [next(made) if found is None else found for found in there]
        _link(connection, Lines.by(len(ids), ([run_id], bots, question_ids, repeats, ids, positions)))
        return ids, question_ids

    def write_found(self, connection: sqlite3.Connection, found: FoundRows) -> None:
        """Write what is not there: the program may have come to write it before it was killed."""
        missing = [
            row
            for row in found.rows
            if not connection.execute(THERE, (row.bot_id, row.question_hash, row.repeat, row.asked_at)).fetchone()
        ]
        self.write(connection, found.run_id, missing)

    def _question_ids(self, connection: sqlite3.Connection, wanted: Lines) -> Sequence[int]:
        """The ids of questions by their columns after the id; those that are new are inserted."""
        if not wanted.count:
            return []
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM questions").fetchone()
        if self._asked_once and last == self._last_question:
            self._last_question = last + wanted.count
            ids = range(last + 1, self._last_question + 1)
            insert_lines(connection, "INSERT INTO questions", QUESTION_COLUMNS, wanted.after(ids))
            return ids
        fingerprints = wanted.column(0)
        known: dict[object, int] = {}
        keys = list(dict.fromkeys(fingerprints))
        for part in in_parts(keys):
            known.update(
                connection.execute(f"SELECT fingerprint, id FROM questions WHERE fingerprint IN ({marks(part)})", part)
            )
        is_new = []
        number = last
        for key in fingerprints:
            is_new.append(key not in known)
            if is_new[-1]:
                known[key] = number = number + 1
        new = wanted.where(is_new).after(range(last + 1, number + 1))
        insert_lines(connection, "INSERT INTO questions", QUESTION_COLUMNS, new)
        return [known[key] for key in fingerprints]

    def _write_replies(self, connection: sqlite3.Connection, replies: Lines, contexts: Sequence[Contexts]) -> range:
        """Write the columns of replies after the id, with their contexts; their ids."""
        if not replies.count:
            return range(0)
        (last,) = connection.execute("SELECT IFNULL(MAX(id), 0) FROM replies").fetchone()
        ids = range(last + 1, last + 1 + replies.count)
        retrieved = [
            (number, rank, self._passage_id(connection, passage), score)
            for number, found in zip(ids, contexts, strict=True)
            for rank, (passage, score) in enumerate(found, 1)
        ]
        insert_lines(connection, "INSERT INTO replies", REPLY_COLUMNS, replies.after(ids))
        insert_many(connection, "INSERT INTO contexts", "reply_id, rank, passage_id, score", retrieved)
        return ids

    def _passage_id(self, connection: sqlite3.Connection, passage: Columns) -> int:
        """The id of a passage, made where it is new; one that is retrieved a thousand times is stored once.

        A rollback ends this writer, so no id is remembered that was not committed.
        """
        key = passage[0]
        found = self._passages.get(key)
        if found is None:
            if len(self._passages) > MOST_PASSAGES:
                self._passages.clear()
            found = insert_or_find(connection, "passages", 'fingerprint, document, start, "end", text', passage)
            self._passages[key] = found
        return found


def _link(connection: sqlite3.Connection, links: Lines) -> None:
    names = "run_id, bot_id, question_id, repeat, reply_id, position"
    insert_lines(connection, "INSERT INTO run_rows", names, links, LINK_ANEW)
