"""Claims: who is at work on which question, so that programs that share a database never ask one twice."""

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

BEAT: Final = 1.0  # seconds between two signs of life
LAPSE: Final = 10.0  # seconds without one after which a program is taken to have ended; at once where it is seen to


class ClaimKey(NamedTuple):
    """What is claimed: what a bot is really asked, once for each repeat."""

    bot_id: int
    ask: bytes
    repeat: int


class Claim(Enum):
    """What came of a claim."""

    OURS = "ours"
    THEIRS = "theirs"  # another program is at work on it
    DONE = "done"  # another program has finished it, in the same run


class Claims:
    """The claims of one program for one run, taken in the thread of the store.

    Args:
        store: the database.
        run_id: of the run.
        own_only: whether answers of other runs do not count; then their claims don't either.
    """

    def __init__(self, store: Store, run_id: int, own_only: bool) -> None:
        self._store = store
        self._run_id = run_id
        self._scope = run_id if own_only else 0
        self.owner = f"{_here()}/{os.getpid()}/{secrets.token_hex(4)}"
        with transaction(store.path, store.connection):
            if not self._others():
                store.connection.execute("DELETE FROM claims")
                store.connection.execute("DELETE FROM claimants")
            store.connection.execute("INSERT INTO claimants (owner, beat_at) VALUES (?, ?)", [self.owner, time.time()])

    def take(self, keys: Sequence[ClaimKey], again: bool) -> list[Claim]:
        """Claim what nobody is at work on.

        Args:
            keys: what is wanted.
            again: whether it was looked up just now what is kept, so that what others have done counts as seen.
        """
        with transaction(self._store.path, self._store.connection):
            alive = self._others()
            return [self._take(key, alive, again) for key in keys]

    def leave(self) -> None:
        """No more is claimed, and what is not done is anybody's."""
        connection = self._store.connection
        with transaction(self._store.path, connection):
            connection.execute("DELETE FROM claimants WHERE owner = ?", [self.owner])
            connection.execute("DELETE FROM claims WHERE owner = ? AND NOT is_done", [self.owner])
            if not self._others():
                connection.execute("DELETE FROM claims")
                connection.execute("DELETE FROM claimants")

    def _take(self, key: ClaimKey, alive: frozenset[str], again: bool) -> Claim:
        connection = self._store.connection
        found = connection.execute(
            "SELECT owner, run_id, is_done FROM claims WHERE scope = ? AND bot_id = ? AND ask = ? AND repeat = ?",
            [self._scope, *key],
        ).fetchone()
        if found is not None:
            owner, run_id, is_done = found
            if owner == self.owner:
                return Claim.OURS
            if is_done and not again:
                return Claim.THEIRS
            if is_done and run_id == self._run_id:
                return Claim.DONE
            if not is_done and owner in alive:
                return Claim.THEIRS
        connection.execute(
            "INSERT OR REPLACE INTO claims (scope, bot_id, ask, repeat, owner, run_id, is_done)"
            " VALUES (?, ?, ?, ?, ?, ?, 0)",
            [self._scope, *key, self.owner, self._run_id],
        )
        return Claim.OURS

    def _others(self) -> frozenset[str]:
        """The other programs that are at work now."""
        found = self._store.connection.execute(
            "SELECT owner FROM claimants WHERE owner != ? AND beat_at > ?", [self.owner, time.time() - LAPSE]
        )
        return frozenset(owner for (owner,) in found if not _has_ended(owner))


def beat(connection: sqlite3.Connection, owner: str) -> None:
    """Give a sign of life, in the writer's thread."""
    connection.execute("UPDATE claimants SET beat_at = ? WHERE owner = ?", [time.time(), owner])


def mark_done(connection: sqlite3.Connection, owner: str, keys: Sequence[ClaimKey]) -> None:
    """What was claimed stands in the database with all its scores."""
    connection.executemany(
        "UPDATE claims SET is_done = 1 WHERE bot_id = ? AND ask = ? AND repeat = ? AND owner = ?",
        [(*key, owner) for key in keys],
    )


def _here() -> str:
    """Where process numbers mean the same: a machine, and its containers each for itself."""
    try:
        return f"{platform.node()}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return platform.node()


def _has_ended(owner: str) -> bool:
    """Whether a program is seen to have ended, as after ``kill -9``; False where only time can tell."""
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
