"""CallJournal: calls of judges that are paid for and not yet in the database, in a file beside it."""

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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from ..bots.base import Usage
from ..bots.chat import Completion
from ..metrics.judge.requests import JudgeRequest
from .encoding import to_json
from .judge_calls import CallRecord, KeptCall

SEGMENT = 4 << 20  # bytes after which another file is begun
_NAME = re.compile(r"-calls-[0-9a-f]{16}-\d+$")
FORGOTTEN = 3600.0  # seconds without a change after which a file is nobody's, where files can't be locked


@dataclass(slots=True, eq=False)
class _Segment:
    path: Path
    descriptor: int
    size: int = 0
    waiting: int = 0  # calls in it that are not yet in the database
    is_full: bool = False


class CallJournal:
    """Appends each call by one write, and removes its files once all that is in them is in the database.

    The writer's transaction comes some moments after a reply; a program that is killed in between would pay for the
    call again. What was written to a file is safe from that moment on, whoever kills the program.

    ``add`` and ``close`` belong to one thread, ``written`` to that of the writer. Where a file can't be written, the
    database can't either, and says why: then the journal keeps quiet.

    Args:
        database: the files lie beside it and are as private.
        run_id: of the run that pays.
    """

    def __init__(self, database: Path, run_id: int | None) -> None:
        self._database = database
        self._run_id = run_id
        self._name = secrets.token_hex(8)
        self._made = 0
        self._is_broken = False
        self._lock = threading.Lock()
        self._open: _Segment | None = None
        self._of: dict[int, _Segment] = {}  # by the identity of records, which the writer holds until they are written

    def add(self, record: CallRecord) -> None:
        """Write a call down; when this returns, it survives the end of the program. A failed call is left out."""
        if record.completion is None or self._is_broken:
            return
        line = _line(record)
        try:
            segment = self._segment()
            self._is_broken = os.write(segment.descriptor, line) != len(line)
        except (OSError, sqlite3.Error):
            self._is_broken = True
            return
        segment.size += len(line)
        with self._lock:
            segment.waiting += 1
            self._of[id(record)] = segment
        if segment.size >= SEGMENT:
            self._fill(segment)

    def written(self, records: Sequence[CallRecord]) -> None:
        """These calls are in the database."""
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
            _lock(descriptor)
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
    """The calls in a file that another program left, or is still writing. ``run_id`` is of the run that paid."""

    path: Path
    run_id: int | None
    records: Sequence[CallRecord]

    def remove(self) -> None:
        """Remove the file, unless its program lives."""
        with contextlib.suppress(OSError), self.path.open("rb") as file:
            if not _is_forgotten(file.fileno()):
                return
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
            head, *lines = path.read_bytes().split(b"\n")[:-1] or [b"{}"]  # a line without an end was cut off
        except OSError:
            continue  # gone by now
        run = orjson.loads(head)
        is_ours = "id" in run and run == _run(database, run["id"])
        yield LeftCalls(path, run["id"] if is_ours else None, tuple(map(_record, lines)) if is_ours else ())


def _run(database: Path, run_id: int | None) -> dict[str, object]:
    """What tells a run from any other, also from those of a database that had this name before."""
    connection = sqlite3.connect(database, timeout=60.0)
    try:
        found = connection.execute("SELECT name, started_at FROM runs WHERE id = ?", [run_id]).fetchone()
    finally:
        connection.close()
    return {"id": run_id, "run": list(found) if found else None}


def _line(record: CallRecord) -> bytes:
    request, said = record.request, record.completion or Completion(None)
    values = (
        record.key.hex(), record.judge, record.asked_at,
        (request.call, request.system, request.prompt, request.schema, request.exchange, request.vote, request.votes),
        (said.text, (said.usage.tokens_in, said.usage.tokens_out, said.usage.cost), said.reasoning),
        record.kept.finish_reason, record.problem, record.latency_ms, record.queue_ms, record.attempts_ms,
    )  # fmt: skip
    return to_json(values).encode() + b"\n"


def _record(line: bytes) -> CallRecord:
    key, judge, asked_at, request, said, finish, problem, latency_ms, queue_ms, attempts_ms = json.loads(
        line
    )  # orjson would refuse lone surrogates
    call, system, prompt, schema, exchange, vote, votes = request
    text, usage, reasoning = said
    turns = tuple((answered, told) for answered, told in exchange)
    return CallRecord(
        bytes.fromhex(key),
        judge,
        JudgeRequest(call, system, prompt, schema, turns, vote, votes),
        asked_at,
        KeptCall(text, finish),
        Completion(text, Usage(*usage), reasoning),
        problem,
        latency_ms,
        queue_ms,
        tuple(attempts_ms),
    )


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # gone already; or open elsewhere, where such a file can't be removed
        path.unlink()


def _lock(descriptor: int) -> bool:
    """Claim a file for as long as this program has it open; False when another one has it."""
    if sys.platform == "win32":
        return True  # there, a file that is open can't be removed
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_forgotten(descriptor: int) -> bool:
    return _lock(descriptor) or time.time() - os.fstat(descriptor).st_mtime > FORGOTTEN
