"""CallJournal: what bots and judges said and the database does not have yet, in a file beside it."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...bots import Completion, Usage
from ...metrics.judge.rendering import JudgeRequest
from .database import PATIENCE, file_name
from .encoding import to_json
from .judge_calls import CachedCall, CallRecord
from .row_tables import AnswerColumns, answer_columns, found_row
from .run import Row, RowStatus

SEGMENT = 4 << 20  # bytes after which another file is begun
_NAME = re.compile(r"-calls-[0-9a-f]{16}-\d+$")
FORGOTTEN = 3600.0  # seconds without a change after which a file is nobody's, where files can't be locked


@dataclass(slots=True, eq=False)
class _Segment:
    path: Path
    descriptor: int
    size: int = 0
    waiting: int = 0  # lines in it that are not yet in the database
    is_full: bool = False


class CallJournal:
    """Appends each call by one write, and removes its files once all that is in them is in the database.

    The writer's transaction comes some moments after an answer or a reply; a program that is killed in between would
    ask, and pay, again. What was written to a file is safe from that moment on, whoever kills the program.

    ``add_answer``, ``add_call`` and ``close`` belong to one thread, ``written`` to that of the writer. Where a file
    can't be written, the database can't either, and says why: then the journal keeps quiet.

    Args:
        database: the files lie beside it and are as private.
        run_id: of the run that asks.
        redact: takes secrets out of what is written.
    """

    def __init__(self, database: Path, run_id: int | None, redact: Callable[[str], str] = str) -> None:
        self._database = database
        self._redact = redact
        self._run_id = run_id
        self._name = secrets.token_hex(8)
        self._made = 0
        self._is_broken = False
        self._lock = threading.Lock()
        self._open: _Segment | None = None
        self._of: dict[int, _Segment] = {}  # by the identity of records, which the writer holds until they are written

    def add_answer(self, row: Row) -> None:
        """Write an answer down; when its ``columns`` are set, it survives the end of the program.

        A failed row is left out: it is asked again anyway.
        """
        if row.status is not RowStatus.ANSWERED or self._is_broken:
            return
        columns = answer_columns(row)
        if self._add(row, self._line(_answer_line(row.position, columns))):
            row.columns = columns

    def add_call(self, record: CallRecord) -> None:
        """Write a judge's call down: from here on it survives the end of the program. A failed call is left out."""
        if record.completion is not None and not self._is_broken:
            self._add(record, self._line(_call_line(record)))

    def _line(self, written: str) -> bytes:
        return self._redact(written).encode() + b"\n"

    def _add(self, record: CallRecord | Row, line: bytes) -> bool:
        try:
            segment = self._segment()
            self._is_broken = os.write(segment.descriptor, line) != len(line)
        except (OSError, sqlite3.Error):
            self._is_broken = True
            return False
        if self._is_broken:
            return False
        segment.size += len(line)
        with self._lock:
            segment.waiting += 1
            self._of[id(record)] = segment
        if segment.size >= SEGMENT:
            self._fill(segment)
        return True

    def written(self, records: Sequence[CallRecord | Row]) -> None:
        """These are in the database."""
        with self._lock:
            for record in records:
                if (segment := self._of.pop(id(record), None)) is None:
                    continue
                segment.waiting -= 1
                if segment.is_full and not segment.waiting:
                    _remove(segment.path)

    def close(self) -> None:
        """Remove what is of no use any more; what could not be written stays for the next program."""
        if self._open is not None:
            self._fill(self._open)

    def _segment(self) -> _Segment:
        if self._open is None:
            self._made += 1
            path = Path(f"{self._database.resolve()}-calls-{self._name}-{self._made}")
            private = self._database.stat().st_mode & 0o777
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), private)
            self._open = _Segment(path, descriptor)
            _lock(descriptor, patiently=True)
            os.write(descriptor, orjson.dumps(_run(self._database, self._run_id)) + b"\n")
        return self._open

    def _fill(self, segment: _Segment) -> None:
        self._open = None
        os.close(segment.descriptor)
        with self._lock:
            segment.is_full = True
            if not segment.waiting:
                _remove(segment.path)


@dataclass(frozen=True, slots=True)
class LeftCalls:
    """What is in a file that another program left, or is still writing.

    Attributes:
        path: of the file.
        is_over: whether its program has ended, so that nothing is added any more.
        run_id: of the run that asked; None where it is not of this database.
        records: calls of judges, which may be shared while their program lives.
        rows: answers of bots; none while their program lives, which keeps them itself.
    """

    path: Path
    is_over: bool
    run_id: int | None = None
    records: Sequence[CallRecord] = ()
    rows: Sequence[Row] = ()

    def remove(self) -> None:
        """Remove the file, unless its program was still at work on it when it was read."""
        if self.is_over:
            _remove(self.path)


def left_calls(database: Path) -> Iterator[LeftCalls]:
    """What lies beside a database; of a file that is of another one of the same name only the path is told.

    Raises:
        sqlite3.Error: the database can't be read.
    """
    place = database.resolve()
    for path in sorted(place.parent.glob(f"{glob.escape(place.name)}-calls-*")):
        if not _NAME.search(path.name):
            continue
        try:
            is_over = _is_over(path)  # asked first: a program that ends meanwhile may have written more
            head, *lines = path.read_bytes().split(b"\n")[:-1] or [b"{}"]  # a line without an end was cut off
        except OSError:
            continue  # gone by now
        run = _head(head)
        if "id" not in run or run != _run(database, run["id"]):
            yield LeftCalls(path, is_over)
            continue
        found = [each for line in lines if (each := _read(line)) is not None]
        records = [each for each in found if isinstance(each, CallRecord)]
        rows = [each for each in found if isinstance(each, Row)] if is_over else ()
        yield LeftCalls(path, is_over, run["id"], records, rows)


def _run(database: Path, run_id: int | None) -> dict[str, object]:
    """What tells a run from any other, also from those of a database that had this name before."""
    connection = sqlite3.connect(file_name(database), timeout=PATIENCE)
    try:
        found = connection.execute("SELECT name, started_at FROM runs WHERE id = ?", [run_id]).fetchone()
    finally:
        connection.close()
    return {"id": run_id, "run": list(found) if found else None}


def _head(line: bytes) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        read = orjson.loads(line)
        return read if isinstance(read, dict) else {}
    return {}


def _read(line: bytes) -> CallRecord | Row | None:
    """A call or an answer; None for a line that is neither, of another version, or from before the power went."""
    with contextlib.suppress(ValueError, TypeError, LookupError, AssertionError):
        read = json.loads(line)  # orjson would refuse lone surrogates
        return _row(read["answer"]) if isinstance(read, dict) else _record(read)
    return None


def _call_line(record: CallRecord) -> str:
    request, reply = record.request, record.completion or Completion(None)
    values = (
        record.key.hex(), record.judge, record.asked_at,
        (request.call, request.system, request.prompt, request.schema, request.exchange, request.vote, request.votes),
        (reply.text, (reply.usage.tokens_in, reply.usage.tokens_out, reply.usage.cost), reply.reasoning),
        record.stored.finish_reason, record.problem, record.latency_ms, record.queue_ms, record.attempts_ms,
    )  # fmt: skip
    return to_json(values)


def _record(line: list[Any]) -> CallRecord:
    key, judge, asked_at, request, completion, finish, problem, latency_ms, queue_ms, attempts_ms = line
    call, system, prompt, schema, exchange, vote, votes = request
    text, usage, reasoning = completion
    turns = tuple((answered, question) for answered, question in exchange)
    return CallRecord(
        bytes.fromhex(key),
        judge,
        JudgeRequest(call, system, prompt, schema, turns, vote, votes),
        asked_at,
        CachedCall(text, finish),
        Completion(text, Usage(*usage), reasoning),
        problem,
        latency_ms,
        queue_ms,
        tuple(attempts_ms),
    )


def _answer_line(position: int, columns: AnswerColumns) -> str:
    """As ``_row`` reads it; bytes stand as hex."""
    fingerprint, *question = columns.question
    bot_id, question_hash, *reply = columns.reply
    contexts = [(_hex(passage[0]), passage[1:], score) for passage, score in columns.contexts]
    values = (position, _hex(fingerprint), question, bot_id, _hex(question_hash), reply, contexts)
    return to_json({"answer": values})


def _row(values: list[Any]) -> Row:
    position, fingerprint, question, bot_id, question_hash, reply, contexts = values
    passages = [((bytes.fromhex(key), *passage), score) for key, passage, score in contexts]
    columns = AnswerColumns(
        (bytes.fromhex(fingerprint), *question), (bot_id, bytes.fromhex(question_hash), *reply), tuple(passages)
    )
    return found_row(position, columns)


def _hex(value: object) -> str:
    assert isinstance(value, bytes)  # noqa: S101 - keys are
    return value.hex()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # gone already; or open elsewhere, where such a file can't be removed
        path.unlink()


def _lock(descriptor: int, patiently: bool = False) -> bool | None:
    """Lock a file for as long as this program has it open; False when another one has it, None where nobody can."""
    if sys.platform == "win32":
        return True  # there, a file that is open can't be removed or renamed
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if patiently else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_over(path: Path) -> bool:
    """Whether the program that wrote a file has ended; where that can't be told, has left it alone for long."""
    if sys.platform == "win32":
        with contextlib.suppress(OSError):
            path.replace(path)
            return True
        return False
    with path.open("rb") as file:
        state = os.fstat(file.fileno())
        # One that is empty may be of a program that is about to take it.
        is_ours = _lock(file.fileno()) if state.st_size else None
        return time.time() - state.st_mtime > FORGOTTEN if is_ours is None else is_ours
