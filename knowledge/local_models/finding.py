"""Finding: where a local model lies, by its folder or its name on the hub, and what it is called from then on."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from ... import InputError
from ..embedding import content_hash
from ..model_hub import Hub, HuggingFaceHub

Device = Literal["auto", "cpu", "cuda", "mps"]
_HUB_NAME: Final = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")
_SHORT: Final = 12  # letters of a commit or hash in an id


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model is wanted, and how it is to run.

    Attributes:
        model: a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit on the hub; None for the newest.
        device: ``auto`` takes a graphics processor where there is one.
        threads: processor threads of torch, set for the whole process: torch knows no other way.
        allow_download: try the hub even when a quick probe finds no way to it.
    """

    model: str
    revision: str | None = None
    device: Device = "auto"
    threads: int = 1
    allow_download: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """Where a model is, or why it isn't here.

    Attributes:
        model_id: name and revision, as they stand on the manifest and in the version of scores.
        folder: where it lies; None when it is not on this machine.
    """

    model_id: str
    folder: Path | None = None


def find(settings: ModelSettings, called: str, hub: Hub | None = None, owner: str = "") -> Found:
    """Look in this order: a folder, the hub's cache, the hub.

    Args:
        settings: what is wanted.
        called: what messages call the model (``toxicity model``).
        hub: where named models come from.
        owner: of models that are named without one.

    Raises:
        InputError: the name can't be one, or the hub was reached and has no such model.
    """
    name = settings.model.strip()
    if not name:
        raise InputError(f"The {called}'s name is empty: a folder or a model id was wanted.")
    if settings.threads < 1:
        raise InputError(f"The {called} was given {settings.threads} threads: 1 or more were wanted.")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return Found(f"{folder.resolve().name}@{content_hash(folder)[:_SHORT]} (folder)", folder.resolve())
    if folder.exists() or not _HUB_NAME.fullmatch(name):
        raise InputError(f"The {called} '{name}' is neither a folder nor a model id.")
    hub = hub or HuggingFaceHub()
    model = f"{owner}/{name}" if owner and "/" not in name else name
    lies = hub.cached(model, settings.revision)
    if lies is None and (settings.allow_download or hub.reachable()):
        lies = hub.download(model, settings.revision)
    if lies is None:
        return Found(f"{model}@{(settings.revision or 'newest')[:_SHORT]}")
    return Found(f"{model}@{lies.name[:_SHORT]}", lies)


def with_default(settings: ModelSettings, model: str, revision: str | None) -> ModelSettings:
    """The settings with the revision that belongs to a default model, where that is the one that is wanted."""
    return replace(settings, revision=revision) if settings.model == model and not settings.revision else settings
