"""Models of a run: every model that took part, what for, and whether it is embedded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from ....bots.redaction import redacted
from ...judging.judge_in_use import families
from ...leaderboard import count
from ...manifest_parts import mapping_in
from ...report import Report
from .settings_text import settings_text

ORIGINS: Final[Mapping[str, str]] = {
    "server": "on a server", "hub": "local, from the hub", "folder": "local, from a folder",
}  # fmt: skip

NATURES: Final[Mapping[str, str]] = {"chat": "language model", "embedder": "embedding model"}


@dataclass(frozen=True, slots=True)
class ModelOfRun:
    """A model that took part.

    Attributes:
        id: name and revision, with the settings that are part of it.
        used_for: what it did.
        nature: what it is or where it ran, as far as the run tells.
        embedded: whether it is no language model, but comes with Proctor.
        settings: what it was told beside, as lines; blank where there is nothing.
    """

    id: str
    used_for: str
    nature: str = ""
    embedded: bool = False
    settings: str = ""


def models_of_run(report: Report) -> list[ModelOfRun]:
    """The models, each once: those of the bots, the judge, the embedder of metrics, and local ones."""
    found = [*_of_bots(report), *_judge(report), *_embedder(report), *_local(report)]
    return list(_once(found))


def _once(models: Iterable[ModelOfRun]) -> Iterator[ModelOfRun]:
    """One that is used for several things stands there once."""
    same: dict[ModelOfRun, list[str]] = {}
    for model in models:
        same.setdefault(replace(model, used_for=""), []).append(model.used_for)
    for model, uses in same.items():
        yield replace(model, used_for="; ".join(uses))


def _of_bots(report: Report) -> Iterator[ModelOfRun]:
    roles: dict[tuple[str, str, bool], list[str]] = {}
    for bot in report.bots:
        named = bot.models or ({"chat": bot.model} if bot.model else {})
        for role, model in named.items():
            roles.setdefault((role, model, bot.embedded), []).append(bot.name)
    for (role, model, embedded), bots in roles.items():
        is_chat = role == "chat"
        yield ModelOfRun(model, f"{role} of {', '.join(bots)}", NATURES.get(role, ""), embedded=is_chat and embedded)


def _judge(report: Report) -> Iterator[ModelOfRun]:
    settings = mapping_in(mapping_in(report.manifest.get("settings")).get("judge"))
    metrics = settings.get("metrics")
    if not metrics:
        return
    graded = f"judge of {', '.join(families(metrics))}"
    if votes := settings.get("votes"):
        graded += f"; {count(votes, 'vote')} a verdict"
    embedded = bool(settings.get("embedded"))
    asked = settings.get("models")
    if not isinstance(asked, list) or not asked:
        name = str(settings.get("model_id") or settings.get("name"))
        yield ModelOfRun(name, graded, "" if embedded else NATURES["chat"], embedded)
        return
    for model in asked:
        made = mapping_in(model)
        yield ModelOfRun(
            str(made.get("name")), graded, NATURES["chat"], embedded, settings=_lines(made.get("settings"))
        )


def _embedder(report: Report) -> Iterator[ModelOfRun]:
    if model := mapping_in(report.manifest.get("settings")).get("embedder"):
        yield ModelOfRun(str(model), "embedder of the metrics", NATURES["embedder"])


def _local(report: Report) -> Iterator[ModelOfRun]:
    told = mapping_in(mapping_in(report.manifest.get("settings")).get("local_models"))
    for model in report.run.summary.local_models:
        origin = str(mapping_in(told.get(model.role)).get("from", ""))
        runs = "not here: its metrics have no value" if model.is_absent else ORIGINS.get(origin, "")
        licence = f", licence {model.licence}" if model.licence else ""
        yield ModelOfRun(model.model_id, f"{model.role}: {', '.join(families(model.metrics))}", f"{runs}{licence}")


def _lines(settings: object) -> str:
    return settings_text(redacted(settings)) if settings else ""
