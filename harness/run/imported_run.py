"""Imported run: answers of other tools with the scores that they gave, put into the database as they are."""

from __future__ import annotations

import marshal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from ... import InputError
from ...knowledge import Recorded, RecordedSet
from ...knowledge.formats.finding import ForeignRows
from ...knowledge.questions.recorded import DEFAULT_BOT, recorded_of
from ...knowledge.questions.rows import GivenScore, ReadRow
from ...metrics.abstention import abstains
from ...reports import Summary, keep_findings, summarise
from ...reports.store import (
    OpenRun,
    Row,
    RowTables,
    RunHeader,
    RunResults,
    Store,
    now,
    storable,
    transaction,
    write_given,
)
from ...reports.store.encoding import passage_columns, plain_question_columns
from ...reports.store.row_tables import Columns, Contexts, answer_columns
from .asking import give
from .manifest import manifest
from .recorded_run import GivenMetrics, RecordedBot, answer_key, recorded_key, recorded_reply

CHUNK: Final = 5000  # rows in one transaction
# The columns of a question, those of its reply from the hash of the question on, and its contexts.
_Columns = tuple[Columns, Columns, Contexts]
_GivenColumns = tuple[float | None, str, bool | None]  # of a score: value, reason, whether it passed
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
    scores: list[Mapping[str, _GivenColumns]]


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
        chunk.scores.append(
            {name: each[:3] for name, each in values["scores"].items()} if "scores" in values else _NO_SCORES
        )
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
        hashed = answer_key(known, None, values.get("scores", _NO_SCORES))
        answer = None if answer is None else storable(answer)
        reply = (
            hashed,
            values.get("repeat", 0),
            "answered",
            answer,
            None,
            None,
            None if answer is None else int(abstains(answer, text)),
            None if given is None else len(given),
            latency,
            0.0,
            None,
            1,
            values.get("tokens_in"),
            values.get("tokens_out"),
            cost,
            None,
            None,
            None,
            None,
            self._asked_at,
        )
        passages = tuple([(passage_columns(storable(each), storable(name)), None) for each, name in given or ()])
        return plain_question_columns(identity, text, values.get("expected", ()), extra), reply, passages

    def clear(self) -> None:
        """Forget all answers."""
        self._chunk = _empty()
        if self._file is not None:
            self._file.close()
            self._file = None

    def chunks(self) -> Iterator[_Chunk]:
        """The answers in their order, many at a time."""
        if self._file is not None:
            self._file.seek(0)
            while size := int.from_bytes(self._file.read(8)):
                yield _Chunk(*marshal.loads(self._file.read(size)))  # noqa: S302 - nobody else can write there
        if self._chunk.bots:
            yield self._chunk

    def _put_down(self) -> None:
        try:
            if self._file is None:
                self._file = _nameless(self._folder)
            content = marshal.dumps(tuple(self._chunk))  # whole: from a file it would be read item by item
            self._file.write(len(content).to_bytes(8))
            self._file.write(content)
        except OSError as error:
            raise InputError(f"What was read can't be put aside before it is stored: {error.strerror}.") from error
        self._chunk = _empty()


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
    summary = summarise(store, run.id)
    keep_findings(store, run.id, summary)
    return summary, time.monotonic() - began


def _write(
    recorded: RecordedSet, read: AnswerFile, given: GivenMetrics, run: OpenRun, store: Store, results: RunResults
) -> None:
    if recorded.made_ids_repeat:
        read.clear()
        for row in recorded.rows():
            read.add(*row)
    tables, positions = RowTables(), dict.fromkeys(recorded.bots, 0)
    connection = store.connection
    connection.execute("PRAGMA cache_size = -65536")  # 64 MB: fingerprints come in no order
    connection.execute("PRAGMA foreign_keys = OFF")  # every id comes from the same transaction
    connection.execute("PRAGMA wal_autocheckpoint = 8000")  # 32 MB: pages that change often are copied once
    known = {bot for bot, number in run.bot_ids.items() if _has_replies(store, number)}
    names = {name: metric.name for name, metric in given.metrics.items()}
    for chunk in read.chunks():
        bots = [run.bot_ids[bot] for bot in chunk.bots]
        replies = [(bot, *reply) for bot, reply in zip(bots, chunk.replies, strict=True)]
        stored = _stored(replies, results) if known else {}
        places = []
        for bot in chunk.bots:
            places.append(positions[bot])
            positions[bot] += 1
        with transaction(store.path, connection):
            ids = tables.write_recorded(connection, run.id, chunk.questions, replies, chunk.contexts, places, stored)
            scores = ({names[name]: GivenScore(*score) for name, score in of_row.items()} for of_row in chunk.scores)
            write_given(connection, run.metric_ids, zip(*ids, scores, strict=True))


def _has_replies(store: Store, bot_id: int) -> bool:
    return bool(store.query("SELECT 1 FROM replies WHERE bot_id = ? LIMIT 1", [bot_id]))


def _stored(replies: Sequence[Columns], results: RunResults) -> dict[Columns, int]:
    """The ids of those that are in the database already, by bot, hash and repeat."""
    hashes: dict[Any, list[Any]] = {}
    for bot_id, question_hash, *_ in replies:
        hashes.setdefault(bot_id, []).append(question_hash)
    return {
        (bot_id, *key): found.reply_id
        for bot_id, of_bot in hashes.items()
        for key, found in results.cached_replies(bot_id, of_bot).items()
    }
