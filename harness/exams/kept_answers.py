"""Kept answers: how many a bot would still be asked for, told without asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...reports.ledger import Ledger
from ...reports.run import bot_fingerprint

if TYPE_CHECKING:
    from ...bots.base import Identity
    from ...reports.store import Store


def missing_answers(store: Store, name: str, identity: Identity, asks: Sequence[bytes], repeats: int) -> int:
    """How many answers of a bot are not kept.

    Args:
        store: the database.
        name: the bot's name.
        identity: what it is made of; with the name it decides which answers are its own.
        asks: keys of what it would be asked; a key that stands there twice counts twice.
        repeats: how often it is asked each.
    """
    ids = store.query("SELECT id FROM bots WHERE fingerprint = ?", [bot_fingerprint(name, identity)])
    kept = Ledger(store).kept_replies(ids[0][0], list(set(asks))) if ids else {}
    return sum((ask, repeat) not in kept for ask in asks for repeat in range(repeats))
