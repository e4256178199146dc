"""Leases: which program works on which question, so that programs that share a database never ask one twice."""

from __future__ import annotations

import os
import platform
import secrets
import sqlite3
import sys
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from .database import Store, transaction
from .run_results import OpenRun

BEAT: Final = 1.0  # seconds between two heartbeats
LAPSE: Final = 10.0  # seconds without one after which a program is taken to have ended; at once where it is seen to


class LeaseKey(NamedTuple):
    """What is leased: what a bot is really asked, once for each repeat."""

    bot_id: int
    question_hash: bytes
    repeat: int


class Lease(Enum):
    """The outcome of taking a lease."""

    OURS = "ours"
    THEIRS = "theirs"  # another program is working on it
    DONE = "done"  # another program has finished it, in the same run


class Leases:
    """The leases of one program for one run, taken in the thread of the store.

    Args:
        store: the database.
        run: where answers of other runs do not count, their leases don't either.
    """

    def __init__(self, store: Store, run: OpenRun) -> None:
        self._store = store
        self._run_id = run.id
        self._scope = run.id if run.own_only else 0
        self.owner = f"{_here()}/{os.getpid()}/{secrets.token_hex(4)}"
        with transaction(store.path, store.connection):
            if not self._others():
                store.connection.execute("DELETE FROM leases")
                store.connection.execute("DELETE FROM workers")
            store.connection.execute(
                "INSERT INTO workers (owner, beat_at, run_id) VALUES (?, ?, ?)", [self.owner, time.time(), run.id]
            )

    def take(self, keys: Sequence[LeaseKey], again: bool) -> list[Lease]:
        """Lease what no other program is working on.

        Args:
            keys: what is wanted.
            again: whether the cache was read just now, so that what other programs have finished counts as seen.
        """
        with transaction(self._store.path, self._store.connection):
            alive = self._others()
            return [self._take(key, alive, again) for key in keys]

    def leave(self) -> None:
        """Give up all leases that are not done."""
        connection = self._store.connection
        with transaction(self._store.path, connection):
            connection.execute("DELETE FROM workers WHERE owner = ?", [self.owner])
            connection.execute("DELETE FROM leases WHERE owner = ? AND NOT is_done", [self.owner])
            if not self._others():
                connection.execute("DELETE FROM leases")
                connection.execute("DELETE FROM workers")

    def _take(self, key: LeaseKey, alive: frozenset[str], again: bool) -> Lease:
        connection = self._store.connection
        found = connection.execute(
            "SELECT owner, run_id, is_done FROM leases"
            " WHERE scope = ? AND bot_id = ? AND question_hash = ? AND repeat = ?",
            [self._scope, *key],
        ).fetchone()
        if found is not None:
            owner, run_id, is_done = found
            if owner == self.owner:
                return Lease.OURS
            if is_done and not again:
                return Lease.THEIRS
            if is_done and run_id == self._run_id:
                return Lease.DONE
            if not is_done and owner in alive:
                return Lease.THEIRS
        connection.execute(
            "INSERT OR REPLACE INTO leases (scope, bot_id, question_hash, repeat, owner, run_id, is_done)"
            " VALUES (?, ?, ?, ?, ?, ?, 0)",
            [self._scope, *key, self.owner, self._run_id],
        )
        return Lease.OURS

    def _others(self) -> frozenset[str]:
        """The other programs that are working now."""
        found = self._store.connection.execute(
            "SELECT owner FROM workers WHERE owner != ? AND beat_at > ?", [self.owner, time.time() - LAPSE]
        )
        return frozenset(owner for (owner,) in found if not _has_ended(owner))


def beat(connection: sqlite3.Connection, owner: str) -> bool:
    """Send a heartbeat, in the writer's thread; returns whether somebody asked the program to stop."""
    found = connection.execute(
        "UPDATE workers SET beat_at = ? WHERE owner = ? RETURNING stop_wanted", [time.time(), owner]
    ).fetchone()
    return bool(found and found[0])


def workers_on(store: Store, run_id: int) -> list[str]:
    """The programs that are at work on a run now."""
    found = store.query("SELECT owner FROM workers WHERE run_id = ? AND beat_at > ?", [run_id, time.time() - LAPSE])
    return [owner for (owner,) in found if not _has_ended(owner)]


def ask_to_stop(store: Store, run_id: int) -> int:
    """Ask the programs that work on a run to end it, as by Ctrl-C; returns how many there are.

    Each sees it at its next heartbeat, within a second or so.
    """
    with transaction(store.path, store.connection):
        owners = workers_on(store, run_id)
        for owner in owners:
            store.connection.execute("UPDATE workers SET stop_wanted = 1 WHERE owner = ?", [owner])
    return len(owners)


MARK: Final = (  # both scopes that a run may have: without the first column of the key every lease is looked at
    "UPDATE leases SET is_done = 1 WHERE scope IN (0, ?) AND bot_id = ? AND question_hash = ? AND repeat = ?"
    " AND owner = ?"
)


def mark_done(connection: sqlite3.Connection, owner: str, run_id: int | None, keys: Sequence[LeaseKey]) -> None:
    """What was leased for a run is in the database with all its scores."""
    connection.executemany(
        MARK,
        [(run_id, *key, owner) for key in keys],
    )


def _here() -> str:
    """Where process numbers mean the same: a machine, each of its containers apart."""
    try:
        return f"{platform.node()}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _has_ended(owner: str) -> bool:
    """Whether a program is known to have ended, as after ``kill -9``; False where only the heartbeat can show it."""
    here, number, _ = owner.rsplit("/", 2)
    if here != _here() or sys.platform == "win32":
        return False
    if int(number) == os.getpid():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
