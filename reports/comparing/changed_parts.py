"""Changed parts: what a bot was made of on each side, and what was changed in between."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

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


What = Literal["type", "model", "prompt", "setting", "part", "revision"]


@dataclass(frozen=True, slots=True)
class PartChange:
    """One thing that is not the same on both sides.

    Attributes:
        what: its kind; a ``part`` is known by its hash alone, a ``revision`` is that of a model.
        name: of the prompt, setting (with dots), part or model; blank for the type and the chat model.
        base: what it was; None where there was none.
        head: what it is.
    """

    what: What
    name: str
    base: object
    head: object


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
    return tuple(change_words(each) for each in part_changes(base, head))


def part_changes(base: BotState, head: BotState) -> Iterator[PartChange]:
    """What differs between two states of a bot, with what it was and is."""
    if base.kind != head.kind:
        yield PartChange("type", "", base.kind, head.kind)
    if base.model != head.model:
        yield PartChange("model", "", base.model, head.model)
    for name, before, after in differing(base.prompts, head.prompts):
        yield PartChange("prompt", name, before, after)
    for name, before, after in differing(flat(base.settings), flat(head.settings)):
        yield PartChange("setting", name, before, after)
    for name, before, after in differing(base.parts, head.parts):
        yield PartChange("part", name, before, after)
    for name, before, after in differing(base.models, head.models):
        if (before, after) != (base.model, head.model):  # else it is told above
            yield PartChange("revision", name, before, after)


def differing(base: Mapping[str, object], head: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """The names under which two mappings differ, in order, with both values; None where there is none."""
    for name in {**base, **head}:
        if base.get(name) != head.get(name):
            yield name, base.get(name), head.get(name)


def flat(settings: Mapping[str, object]) -> dict[str, object]:
    """Settings within settings by their whole names.

    >>> flat({"top_k": 4, "model": {"name": "small"}})
    {'top_k': 4, 'model.name': 'small'}
    """
    return dict(_flat(settings, ""))


def _flat(settings: Mapping[str, object], above: str) -> Iterator[tuple[str, object]]:
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def change_words(change: PartChange) -> str:
    """What changed, in a few words."""
    if change.what in ("type", "model"):
        return f"{change.what} from {change.base or 'none'} to {change.head or 'none'}"
    if change.what == "prompt":
        return f"{change.name}: {_edited(str(change.base or ''), str(change.head or ''))}"
    if change.what == "part":
        return f"{'documents' if change.name == 'knowledge' else change.name} changed"
    return _setting(change.name, change.base, change.head)


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
