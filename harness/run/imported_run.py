"""Imported run: answers of other tools with the scores that they gave, put into the database as they are."""

from __future__ import annotations

import itertools
import marshal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from ... import InputError
from ...knowledge import Recorded, RecordedSet
from ...knowledge.formats.finding import ForeignRows
from ...knowledge.questions.recorded import DEFAULT_BOT, recorded_of
from ...knowledge.questions.rows import ReadRow
from ...metrics.abstention import abstains
from ...reports import Summary, keep_report
from ...reports.store import (
    OpenRun,
    Row,
    RowTables,
    RunHeader,
    RunResults,
    Store,
    note_changes,
    now,
    storable,
    transaction,
    write_given,
)
from ...reports.store.database import Lines
from ...reports.store.encoding import passage_columns, plain_question_columns
from ...reports.store.given_scores import GivenValues
from ...reports.store.row_tables import Columns, Contexts, ReplyColumns, answer_columns
from .asking import give
from .manifest import manifest
from .recorded_run import GivenMetrics, RecordedBot, answer_key, recorded_key, recorded_reply

CHUNK: Final = 5000  # rows that are put down together
CHUNKS: Final = 8  # of them in one transaction: pages of indexes that change in each are written once
PASSAGES: Final = 10_000  # whose columns are remembered
# The columns of a question, those of its reply after the bot, and its contexts.
_Columns = tuple[Columns, Columns, Contexts]
# What a row may have of which the columns are known without a record of it.
_PLAIN: Final = frozenset(
    {"expected", "answer", "contexts", "bot", "repeat", "latency_ms", "tokens_in", "tokens_out", "cost", "scores"}
)
_NO_SCORES: Final[Mapping[str, Any]] = {}


class _Chunk(NamedTuple):
    """Many answers on their way: the bot of each, its columns, and its scores by name."""

    bots: list[str]
    questions: list[Columns]
    replies: list[Columns]
    contexts: list[Contexts]
    scores: list[Mapping[str, GivenValues]]


class _Lines(NamedTuple):
    """The same, column by column."""

    bots: Sequence[str]
    questions: Lines
    replies: Lines
    contexts: Sequence[Contexts]
    scores: Sequence[Mapping[str, GivenValues]]


def _empty() -> _Chunk:
    return _Chunk([], [], [], [], [])


class AnswerFile:
    """Recorded answers on their way into the database, so that their file is read and taken apart once.

    Nothing is written to the database before all of a file is known to be right, and what is not in memory waits in a
    file without a name, which ends with the program.
    """

    def __init__(self, folder: Path) -> None:
        """``folder`` is where the database will be, which needs the same space."""
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._chunk = _empty()
        self._asked_at = now()

    def __enter__(self) -> AnswerFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def add(self, line: int, identity: str, taken: ReadRow) -> None:
        """Take the answer that a row holds.

        Raises:
            InputError: there is no space left.
        """
        values: dict[str, Any] = taken.values
        if _PLAIN.issuperset(values) and "faq_question" not in taken.extra:
            question, reply, contexts = self._plain(identity, taken.text, values, taken.extra)
        else:
            question, reply, contexts = self._any(recorded_of(taken, identity, line))
        chunk = self._chunk
        chunk.bots.append(values.get("bot") or DEFAULT_BOT)
        chunk.questions.append(question)
        chunk.replies.append(reply)
        chunk.contexts.append(contexts)
        scores = values.get("scores", _NO_SCORES)
        chunk.scores.append({name: tuple(scores[name]) for name in scores} if scores else _NO_SCORES)
        if len(chunk.bots) == CHUNK:
            self._put_down()

    def _any(self, record: Recorded) -> _Columns:
        row = Row(record.question, 0, record.repeat, recorded_key(record), latency_ms=record.latency_ms)
        give(row, recorded_reply(record), self._asked_at)
        columns = answer_columns(row)
        return columns.question, columns.reply[1:], columns.contexts

    def _plain(self, identity: str, text: str, values: Mapping[str, Any], extra: Mapping[str, object]) -> _Columns:
        """The same columns for what is by far most frequent, without a record on the way."""
        given = values.get("contexts")
        contexts = None if given is None else [each for each, _ in given]
        answer, latency, cost = values.get("answer"), values.get("latency_ms"), values.get("cost")
        known = (identity, text, answer, contexts, latency, cost)
        reply = ReplyColumns(
            bot_id=0,
            question_hash=answer_key(known, None, values.get("scores", _NO_SCORES)),
            repeat=values.get("repeat", 0),
            answer=None if answer is None else storable(answer),
            abstained=None if answer is None else int(abstains(answer, text)),
            retrieved=None if given is None else len(given),
            latency_ms=latency,
            tokens_in=values.get("tokens_in"),
            tokens_out=values.get("tokens_out"),
            cost=cost,
            asked_at=self._asked_at,
        )
        passages = tuple([_passage(each, name) for each, name in given]) if given else ()
        return plain_question_columns(identity, text, values.get("expected", ()), extra), reply[1:], passages

    def clear(self) -> None:
        """Forget all answers."""
        self._chunk = _empty()
        if self._file is not None:
            self._file.close()
            self._file = None

    def chunks(self) -> Iterator[_Lines]:
        """The answers in their order, many at a time."""
        if self._file is not None:
            self._file.seek(0)
            while size := int.from_bytes(self._file.read(8)):
                bots, questions, replies, *rest = marshal.loads(self._file.read(size))  # noqa: S302 - ours alone
                yield _Lines(bots, Lines(len(bots), questions), Lines(len(bots), replies), *rest)
        if (chunk := self._chunk).bots:
            yield _Lines(chunk.bots, Lines.of(chunk.questions), Lines.of(chunk.replies), chunk.contexts, chunk.scores)

    def _put_down(self) -> None:
        try:
            if self._file is None:
                self._file = _nameless(self._folder)
            bots, questions, replies, *rest = self._chunk
            lines: Any = (bots, Lines.of(questions).columns, Lines.of(replies).columns, *rest)
            content = marshal.dumps(lines)  # whole: from a file it would be read item by item
            self._file.write(len(content).to_bytes(8))
            self._file.write(content)
        except OSError as error:
            raise InputError(f"What was read can't be put aside before it is stored: {error.strerror}.") from error
        self._chunk = _empty()


@lru_cache(PASSAGES)
def _passage(text: str, document: str) -> tuple[Columns, None]:
    return passage_columns(storable(text), storable(document)), None


def _nameless(folder: Path) -> IO[bytes]:
    try:
        return tempfile.TemporaryFile(dir=folder)
    except OSError:  # the database can't be there either, and will say why
        return tempfile.TemporaryFile()


def import_run(
    recorded: RecordedSet, read: AnswerFile, given: GivenMetrics, store: Store, name: str = ""
) -> tuple[Summary, float]:
    """Put recorded answers and their given scores into the database, as a run; nothing else is worked out.

    Args:
        recorded: what is known of the answers.
        read: the answers, as they were read.
        given: their scores.
        store: the database.
        name: what the run is called; blank for the usual name.

    Returns:
        What came of it, and the seconds it took.

    Raises:
        InputError: the name is taken.
        StoreError: it can't be written.
    """
    began = time.monotonic()
    source = recorded.source
    settings = {
        "recorded": recorded.path.name,
        "hash": recorded.fingerprint,
        **({"format": source.format.name} if isinstance(source, ForeignRows) else {}),
    }
    header = RunHeader(
        suite=recorded.path.name,
        bots=[(bot, RecordedBot(bot).identity) for bot in recorded.bots],
        metrics=tuple(given.metrics.values()),
        manifest=manifest(settings, recorded.warnings),
        questions=recorded.fingerprint,
        evaluators=given.evaluators,
        name=name,
    )
    results = RunResults(store)
    run = results.begin(header)
    status = "stopped"
    try:
        _write(recorded, read, given, run, store, results)
        status = "finished"
    finally:
        store.connection.execute("PRAGMA foreign_keys = ON")
        results.end(run, status, {}, header.manifest)
    summary, _ = keep_report(store, run.id)
    return summary, time.monotonic() - began


def _write(
    recorded: RecordedSet, read: AnswerFile, given: GivenMetrics, run: OpenRun, store: Store, results: RunResults
) -> None:
    if recorded.made_ids_repeat:
        read.clear()
        for row in recorded.rows():
            read.add(*row)
    tables, positions = RowTables(), {bot: itertools.count() for bot in recorded.bots}
    connection = store.connection
    connection.execute("PRAGMA cache_size = -65536")  # 64 MB: fingerprints come in no order
    connection.execute("PRAGMA foreign_keys = OFF")  # every id comes from the same transaction
    connection.execute("PRAGMA wal_autocheckpoint = 8000")  # 32 MB: pages that change often are copied once
    known = {bot for bot, number in run.bot_ids.items() if _has_replies(store, number)}
    metric_ids = {name: run.metric_ids[metric.name] for name, metric in given.metrics.items()}
    chunks = read.chunks()
    while first := next(chunks, None):
        with transaction(store.path, connection):
            for chunk in itertools.chain((first,), itertools.islice(chunks, CHUNKS - 1)):
                bots = [run.bot_ids[bot] for bot in chunk.bots]
                replies = chunk.replies.after(bots)
                stored = _stored(replies, results) if known else {}
                places = [next(positions[bot]) for bot in chunk.bots]
                note_changes(connection, run.id, metric_ids.values() if stored else ())
                ids = tables.write_recorded(
                    connection, run.id, chunk.questions, replies, chunk.contexts, places, stored
                )
                write_given(connection, metric_ids, zip(*ids, chunk.scores, strict=True))


def _has_replies(store: Store, bot_id: int) -> bool:
    return bool(store.query("SELECT 1 FROM replies WHERE bot_id = ? LIMIT 1", [bot_id]))


def _stored(replies: Lines, results: RunResults) -> dict[Columns, int]:
    """The ids of those that are in the database already, by bot, hash and repeat."""
    hashes: dict[Any, list[Any]] = {}
    for bot_id, question_hash in zip(replies.column(0), replies.column(1), strict=True):
        hashes.setdefault(bot_id, []).append(question_hash)
    return {
        (bot_id, *key): found.reply_id
        for bot_id, of_bot in hashes.items()
        for key, found in results.cached_replies(bot_id, of_bot).items()
    }
