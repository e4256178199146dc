"""Changed parts: what a bot was made of on each side, and what was changed in between."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from ..store import Store

LONGEST: Final = 40  # characters of a setting that a sentence shows
HASH: Final = re.compile(r"[0-9a-f]{16,}")


@dataclass(frozen=True, slots=True)
class BotState:
    """What a bot was made of: see ``bots.base.Identity``."""

    kind: str
    model: str | None
    settings: Mapping[str, object]
    parts: Mapping[str, str]
    prompts: Mapping[str, str]
    models: Mapping[str, str]


def bot_states(store: Store, run_id: int) -> dict[str, BotState]:
    """The bots of a run by name."""
    lines = store.query(
        "SELECT name, kind, model, settings, parts, prompts, models FROM run_bots JOIN bots ON bots.id = bot_id"
        " WHERE run_id = ? ORDER BY position",
        [run_id],
    )
    return {str(name): BotState(kind, model, *map(orjson.loads, made)) for name, kind, model, *made in lines}


def changed_parts(base: BotState, head: BotState) -> tuple[str, ...]:
    """What differs between two states of a bot, each in a few words; empty when they are the same.

    >>> rag = BotState("rag", "small", {"top_k": 4}, {}, {"prompt": "Answer."}, {})
    >>> changed_parts(rag, BotState("rag", "small", {"top_k": 8}, {}, {"prompt": "Answer briefly."}, {}))
    ('prompt: 1 line out, 1 in', 'top_k from 4 to 8')
    """
    return tuple(_changes(base, head))


def _changes(base: BotState, head: BotState) -> Iterator[str]:
    if base.kind != head.kind:
        yield f"type from {base.kind} to {head.kind}"
    if base.model != head.model:
        yield f"model from {base.model or 'none'} to {head.model or 'none'}"
    for name in _names(base.prompts, head.prompts):
        yield f"{name}: {_edited(base.prompts.get(name, ''), head.prompts.get(name, ''))}"
    settings = [dict(_flat(state.settings)) for state in (base, head)]
    for name in _names(*settings):
        yield _setting(name, settings[0].get(name), settings[1].get(name))
    for name in _names(base.parts, head.parts):
        yield f"{'documents' if name == 'knowledge' else name} changed"
    for name in _names(base.models, head.models):
        if (base.models.get(name), head.models.get(name)) != (base.model, head.model):  # else it is told above
            yield _setting(name, base.models.get(name), head.models.get(name))


def _names(base: Mapping[str, object], head: Mapping[str, object]) -> list[str]:
    """The names under which the two differ, in order."""
    return [name for name in {**base, **head} if base.get(name) != head.get(name)]


def _flat(settings: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _setting(name: str, base: object, head: object) -> str:
    shown = ["none" if value is None else str(value) for value in (base, head)]
    if any(len(value) > LONGEST or HASH.fullmatch(value) for value in shown):
        return f"{name} changed"
    return f"{name} from {shown[0]} to {shown[1]}"


def _edited(base: str, head: str) -> str:
    lines = list(difflib.ndiff(base.splitlines(), head.splitlines()))
    out, new = (sum(line.startswith(mark) for line in lines) for mark in ("- ", "+ "))
    if not out and not new:
        return "line ends changed"
    return f"{out} line{'' if out == 1 else 's'} out, {new} in"
