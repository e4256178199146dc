"""BotRecord: what a database knows of a bot that stood in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ... import InputError
from ...bots.base import Identity
from ...reports.store import Store


@dataclass(frozen=True, slots=True)
class BotRecord:
    """A bot as it was: its identity without anything secret, and the run in which it stood."""

    run: str
    name: str
    identity: Identity


def read_record(store: Store, run_id: int, bot: str) -> BotRecord:
    """The record of a bot of a run. Raises InputError where the run has no such bot."""
    ((run,),) = store.query("SELECT name FROM runs WHERE id = ?", [run_id])
    found = store.query(
        "SELECT kind, model, embedded, settings, prompts, parts, models FROM run_bots JOIN bots ON bots.id = bot_id"
        " WHERE run_id = ? AND name = ?",
        [run_id, bot],
    )
    if not found:
        raise InputError(f"Run {run} has no bot {bot!r}, so nothing says what {bot} was before.")
    kind, model, embedded, *written = found[0]
    settings, prompts, parts, models = (_mapping(text) for text in written)
    return BotRecord(str(run), bot, Identity(str(kind), settings, model, bool(embedded), parts, prompts, models))


def _mapping(text: str) -> Mapping[str, Any]:
    found: dict[str, Any] = orjson.loads(text)
    return found
