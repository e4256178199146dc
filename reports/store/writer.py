"""RowWriter: the one thread that writes, committing rows and scores as they come."""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...bots import redactor
from ...metrics import Score
from ...metrics.declaration import exception_line
from .database import StoreError, connect, explain, insert_many, transaction
from .encoding import to_json
from .figures import note_changes
from .journal import CallJournal, left_calls
from .judge_calls import CachedCall, CallRecord, FoundCalls, RowCalls, write_calls, write_links
from .leases import BEAT, LeaseKey, beat, mark_done
from .row_tables import DETAILS_COLUMNS, SCORE_COLUMNS, SCORED_ANEW, FoundRows, RowTables
from .run import Row

GROUP = 1000  # most items in one transaction: a waiting reader is never kept out for long
BACKLOG = 20_000  # most items in memory before the engine has to wait
LEISURE = 0.3  # seconds for which work is gathered that stands in the journal, or is cheap to do again


class _Scored(NamedTuple):
    row: Row
    scores: Sequence[Score]


class _Vectors(NamedTuple):
    model: str
    items: Sequence[tuple[bytes, bytes]]


class _Done(NamedTuple):
    key: LeaseKey


Work = _Done | Row | FoundRows | FoundCalls | _Scored | _Vectors | CallRecord | RowCalls


class RowWriter:
    """Takes rows and scores from any thread and commits them in the order in which they came.

    Whatever waits is put into one transaction, so a lone row is on disk within milliseconds and a flood at the
    speed of ``executemany``. What is not lost with the program, or cheap to make again, waits a moment for more: every
    statement takes the interpreter from the event loop. After an error nothing more is taken: every later call raises
    it as a StoreError.
    Without a run (``run_id`` None) only vectors and judge calls can be stored.
    """

    def __init__(
        self,
        path: Path,
        run_id: int | None,
        metric_ids: Mapping[str, int],
        redact: Callable[[str], str] | None = None,
    ) -> None:
        """``redact`` takes secrets out of all that is written; left out, those of the environment."""
        self._path = path
        self._redact = redactor(os.environ) if redact is None else redact
        self._run_id = run_id
        self._metric_ids = metric_ids
        self._queue: queue.SimpleQueue[Work | threading.Event | None] = queue.SimpleQueue()
        self._error: StoreError | None = None
        self._rows = RowTables()
        self._prompts: dict[bytes, int] = {}
        self._journal = CallJournal(path, run_id, self._redact)
        self._owner = ""
        self._stop: Callable[[], None] = lambda: None
        self._beaten = 0.0
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._work, name="proctor-writer", daemon=True)
        self._thread.start()

    @property
    def crowded(self) -> bool:
        """True when the engine should wait before it produces more."""
        return self._queue.qsize() > BACKLOG

    def row(self, row: Row) -> None:
        """Store a row: its question, its reply and its contexts; a cached reply is linked to the run."""
        self._put(row)

    def answer(self, row: Row) -> None:
        """Keep a row that was just asked; when this returns, an answer survives the end of the program."""
        self._journal.add_answer(row)
        self._put(row)

    def scores(self, row: Row, scores: Sequence[Score]) -> None:
        """Keep the scores of a row that was given before."""
        self._put(_Scored(row, scores))

    def vectors(self, model: str, items: Sequence[tuple[bytes, bytes]]) -> None:
        """Keep vectors of texts."""
        self._put(_Vectors(model, items))

    def judge_call(self, record: CallRecord) -> None:
        """Keep a call of a judge as soon as it was made; when this returns it survives the end of the program."""
        self._journal.add_call(record)
        self._put(record)

    def find_left_calls(self) -> None:
        """Keep what programs left in their journals when they were killed; waits until it is there."""
        try:
            left = list(left_calls(self._path))
        except sqlite3.Error as error:
            raise explain(self._path, error) from error
        for calls in left:
            self._put(FoundCalls(calls.run_id, calls.records))
            if calls.run_id is not None:
                self._put(FoundRows(calls.run_id, calls.rows))
        if left:
            self.flush()
        for calls in left:
            calls.remove()

    def judge_notes(self, row: Row, calls: Sequence[CachedCall]) -> None:
        """Keep which calls the scores of a row rest on; the row was given before."""
        if calls:
            self._put(RowCalls(row, calls))

    def keep_leases(self, owner: str, stop: Callable[[], None]) -> None:
        """Send heartbeats for the leases of this program from now on; ``stop`` is called when one is asked to end."""
        self._owner, self._stop = owner, stop

    def done(self, key: LeaseKey) -> None:
        """What was leased under this key is finished: its scores were given before."""
        self._put(_Done(key))

    def flush(self) -> None:
        """Wait until all that was given so far is on disk."""
        done = threading.Event()
        self._put(done)
        while not done.wait(0.1):
            if not self._thread.is_alive():
                break
        self._check()

    def close(self) -> None:
        """Write what waits and end the thread; raises StoreError when something could not be written."""
        self._queue.put(None)
        self._hurry.set()
        self._thread.join()
        self._journal.close()
        self._check()

    def _put(self, item: Work | threading.Event) -> None:
        self._check()
        self._queue.put(item)
        if not _is_cheap(item) or self._queue.qsize() >= GROUP:
            self._hurry.set()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        connection = None
        try:
            connection = connect(self._path, redact=self._redact)
            connection.execute("PRAGMA cache_size = -65536")
            more = True
            while more:
                more = self._write_group(connection)
        except StoreError as error:
            self._error = error
        except sqlite3.Error as error:
            self._error = explain(self._path, error)
        except BaseException as error:  # noqa: BLE001 - a row that can't be written must never be lost in silence
            self._error = StoreError(f"{self._path}: a row can't be written: {exception_line(error)}.")
        finally:
            if connection is not None:
                connection.close()
            self._release()

    def _release(self) -> None:
        """Release those who wait for a flush; after an error nothing else is coming for them."""
        while not self._queue.empty():
            item = self._queue.get_nowait()
            if isinstance(item, threading.Event):
                item.set()

    def _write_group(self, connection: sqlite3.Connection) -> bool:
        """Write what waits, at least one item, in one transaction; False when the end was among it."""
        try:
            group = [self._queue.get(timeout=BEAT if self._owner else None)]
        except queue.Empty:
            with transaction(self._path, connection):
                self._beat(connection)
            return True
        if _is_cheap(group[0]) and self._queue.qsize() < GROUP:
            self._hurry.wait(LEISURE)
        self._hurry.clear()  # before looking: a caller in a hurry from here on is seen, or wakes the next wait
        while len(group) < GROUP and not self._queue.empty():
            group.append(self._queue.get_nowait())
        if not self._queue.empty():
            self._hurry.set()  # what is left may have somebody waiting for it
        work = [item for item in group if isinstance(item, Work)]
        if work:
            with transaction(self._path, connection):
                self._write(connection, work)
            self._journal.written([item for item in work if isinstance(item, (CallRecord, Row))])
        for item in group:
            if isinstance(item, threading.Event):
                item.set()
        return None not in group

    def _beat(self, connection: sqlite3.Connection) -> None:
        if self._owner and time.monotonic() - self._beaten >= BEAT / 2:
            self._beaten = time.monotonic()
            if beat(connection, self._owner):
                self._stop()

    def _write(self, connection: sqlite3.Connection, work: Sequence[Work]) -> None:
        scored = [item for item in work if isinstance(item, _Scored)]
        cached = {self._metric_ids[score.metric] for item in scored if item.row.cached for score in item.scores}
        if any(isinstance(item, (Row, _Scored, RowCalls)) for item in work):
            note_changes(connection, self._run_id, cached)
        for run_id in {item.run_id for item in work if isinstance(item, FoundRows)}:
            note_changes(connection, run_id)
        for left in [item for item in work if isinstance(item, FoundRows)]:
            self._rows.write_found(connection, left)
        self._rows.write(connection, self._run_id, [item for item in work if isinstance(item, Row)])
        self._write_scores(connection, scored)
        for found in [item for item in work if isinstance(item, FoundCalls)]:
            write_calls(connection, found.run_id, found.records, self._prompts)
        calls = [item for item in work if isinstance(item, CallRecord)]
        write_calls(connection, self._run_id, calls, self._prompts)
        write_links(connection, self._run_id, [item for item in work if isinstance(item, RowCalls)])
        mark_done(connection, self._owner, self._run_id, [item.key for item in work if isinstance(item, _Done)])
        self._beat(connection)
        for item in work:
            if isinstance(item, _Vectors):
                insert_many(
                    connection,
                    "INSERT OR IGNORE INTO embeddings",
                    "model, key, vector",
                    [(item.model, key, vector) for key, vector in item.items],
                )

    def _write_scores(self, connection: sqlite3.Connection, scored: Sequence[_Scored]) -> None:
        scores: list[tuple[object, ...]] = []
        details: list[tuple[object, ...]] = []
        outdated: list[tuple[object, ...]] = []
        for row, row_scores in scored:
            for score in row_scores:
                key = (row.reply_id, row.question_id, self._metric_ids[score.metric])
                scores.append((*key, score.value, score.status.value, score.reason or None))
                if score.details:
                    details.append((*key, to_json(score.details)))
                elif row.cached:  # what is tried again may have left the story of its failure
                    outdated.append(key)
        insert_many(
            connection,
            "INSERT INTO scores",
            SCORE_COLUMNS,
            scores,
            SCORED_ANEW,
        )
        connection.executemany(
            "DELETE FROM score_details WHERE reply_id = ? AND question_id = ? AND metric_id = ?", outdated
        )
        insert_many(connection, "INSERT OR REPLACE INTO score_details", DETAILS_COLUMNS, details)


def _is_cheap(item: Work | threading.Event | None) -> bool:
    """Whether it may wait: it is not lost with the program, or soon made again; recorded answers are in their file."""
    if isinstance(item, Row):
        return item.columns is not None or not item.asked_at
    return isinstance(item, (_Scored, _Done, _Vectors, CallRecord, RowCalls))
