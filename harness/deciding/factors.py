"""Factors: groups of settings in which a bot differs from what it was, and what a bot with old ones is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ... import InputError
from ...bots.base import Identity
from ...bots.models import ModelSettings
from ...bots.redaction import HIDDEN
from ...bots.settings import BotSettings, FaqSettings, FullContextSettings, RagSettings
from .bot_record import BotRecord

PROMPT, RETRIEVAL, MODEL, SETTINGS, DOCUMENTS = "prompt", "retrieval", "model", "settings", "documents"
SURROUNDINGS = "surroundings"  # what can't be brought back: documents that are gone, an embedder, rules, addresses
OURS = (FaqSettings, FullContextSettings, RagSettings)
RETRIEVED_BY = ("splitter", "chunk_size", "chunk_overlap", "retriever", "reranker", "top_k", "min_score")
AROUND_MODEL = {"base_url": "the endpoint's address", "embedder": "the embedder", "rules": "the extractive rules",
                "code": "the model's code"}  # fmt: skip
BESIDE_MODEL = {"embedder": "the embedder", "reranker": "the reranker"}  # models of a bot that are not its chat model
SENT = ("temperature", "top_p", "seed", "reasoning_effort")
MOST_TOKENS = ("max_tokens", "max_completion_tokens")
OLD_MODEL = "(the model before)"


@dataclass(frozen=True, slots=True)
class Factor:
    """Something that was changed: the group of settings, and the change in words."""

    name: str
    change: str


def factors_between(record: BotRecord, now: Identity, has_old_documents: bool) -> list[Factor]:
    """In what a bot differs from its record and can be made as it was; documents where the old ones are at hand.

    Raises:
        InputError: the bot is of another kind now.
    """
    old = record.identity
    if old.kind != now.kind:
        raise InputError(
            f"{record.name} was a {old.kind} bot in run {record.run} and is a {now.kind} bot now: "
            "nothing stands between the two, so no single change can be blamed."
        )
    found = [
        Factor(PROMPT, "the prompt" if old.prompts != now.prompts else ""),
        Factor(RETRIEVAL, _changes(retrieval_of(old), retrieval_of(now))),
        Factor(MODEL, _changes(model_of(old), model_of(now))),
        Factor(SETTINGS, _changes(others_of(old), others_of(now))),
    ]
    if has_old_documents and parts_of(old)[DOCUMENTS] != parts_of(now)[DOCUMENTS]:
        found.append(Factor(DOCUMENTS, "the documents"))
    return [factor for factor in found if factor.change]


def surroundings(record: BotRecord, rebuilt: Identity) -> Factor | None:
    """What is not as it was although every factor was brought back; None when the bot is the very same."""
    around = list(_around(record.identity, rebuilt))
    if not around:
        return None
    return Factor(SURROUNDINGS, " and ".join([", ".join(around[:-1]), around[-1]] if around[1:] else around))


def parts_of(identity: Identity) -> dict[str, object]:
    """What a bot is made of, by factor."""
    return {
        PROMPT: dict(identity.prompts),
        RETRIEVAL: retrieval_of(identity),
        MODEL: model_of(identity),
        SETTINGS: others_of(identity),
        DOCUMENTS: identity.parts.get("knowledge"),
    }


def retrieval_of(identity: Identity) -> dict[str, Any]:
    """How a bot retrieves. An identity leaves out what was not chosen, which is what it was by default."""
    if identity.kind != "rag":
        return {}
    defaults = {name: RagSettings.model_fields[name].default for name in RETRIEVED_BY}
    return defaults | _some(identity.settings, RETRIEVED_BY)


def model_of(identity: Identity) -> dict[str, Any]:
    """The chat model with its parameters, without where it is and what our own code does."""
    told = identity.settings.get("model")
    model = dict(told) if isinstance(told, Mapping) else {}
    if "code" in model:  # all else is told by code that is not in the record
        return _some(model, ("model", "context_tokens"))
    return {name: value for name, value in model.items() if name not in AROUND_MODEL and not _hides(value)}


def others_of(identity: Identity) -> dict[str, Any]:
    """Settings that are neither of retrieval nor of the model."""
    return {name: value for name, value in identity.settings.items() if name not in (*RETRIEVED_BY, "model")}


def as_before(settings: BotSettings, record: BotRecord, old: frozenset[str], prompt: Path) -> BotSettings:
    """Today's settings with those of some factors as they were.

    Args:
        settings: today's, of a bot of ours.
        record: of the bot before.
        old: names of the factors to be brought back.
        prompt: a file in which the old prompt is.
    """
    changes: dict[str, Any] = {}
    if PROMPT in old:
        changes["prompt"] = prompt
    if RETRIEVAL in old:
        changes |= retrieval_of(record.identity)
    if MODEL in old:
        changes["model"] = OLD_MODEL
    if SETTINGS in old:
        changes |= {name: value for name, value in others_of(record.identity).items() if hasattr(settings, name)}
    made = {name: getattr(settings, name) for name in settings.model_fields_set} | changes
    return type(settings).model_validate({"type": settings.type} | made)


def model_before(settings: BotSettings, models: Mapping[str, ModelSettings], record: BotRecord) -> ModelSettings:
    """The chat model of the record, with the connection (address, key, prices, limits) that the suite has today.

    That of a model of the same name where the suite still has one; else that of the bot's model of today where both
    are of one kind.
    """
    told: Mapping[str, Any] = record.identity.settings.get("model") or {}  # type: ignore[assignment]
    name = str(told.get("model") or record.identity.model)
    written = getattr(settings, "model", "extractive")
    today = models.get(written) or ModelSettings(model=written)
    alike = [model for model in models.values() if model.model == name]
    near = today if today.model == name or not alike else alike[0]
    if near.kind != name.partition(":")[0]:
        near = ModelSettings(model=name)
    if not name.startswith("openai:"):
        return near.model_copy(update={"model": name})
    tokens = next((told[key] for key in MOST_TOKENS if told.get(key) is not None), None)
    known = {"model", "base_url", "context_tokens", *SENT, *MOST_TOKENS}
    extra = {key: near.extra.get(key) if _hides(value) else value for key, value in told.items() if key not in known}
    before = {
        "model": name,
        "context_tokens": told.get("context_tokens"),
        "max_tokens": tokens,
        "extra": {key: value for key, value in extra.items() if value is not None},
        **{key: told.get(key) for key in SENT},
    }
    made = {key: value for key, value in near.model_dump(exclude_unset=True).items() if key not in before}
    return ModelSettings.model_validate(made | {key: value for key, value in before.items() if value is not None})


def _around(old: Identity, now: Identity) -> Iterator[str]:
    names = {"knowledge": "the documents", "entries": "the FAQ's entries", "retriever": "the retriever's code"}
    for part in dict.fromkeys([*old.parts, *now.parts]):
        if old.parts.get(part) != now.parts.get(part):
            yield names.get(part, part)
    found = [old.settings.get("model"), now.settings.get("model")]
    was, is_now = (each if isinstance(each, Mapping) else {} for each in found)
    differ = {name for name in AROUND_MODEL if name in was and name in is_now and was[name] != is_now[name]}
    differ |= {role for role in BESIDE_MODEL if old.models.get(role) != now.models.get(role)}
    yield from (words for name, words in (AROUND_MODEL | BESIDE_MODEL).items() if name in differ)


def _some(settings: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: settings[name] for name in names if name in settings}


def _changes(old: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """``top_k 4 -> 2, min_score none -> 0.3``; blank when nothing is different."""
    names = [name for name in dict.fromkeys([*old, *now]) if old.get(name) != now.get(name)]
    return ", ".join(f"{name} {_shown(old.get(name))} -> {_shown(now.get(name))}" for name in names)


def _shown(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _hides(value: object) -> bool:
    return HIDDEN in str(value)
