"""Listed models: what a list says of the model of a role: what wants it, and whether it is on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...knowledge.local_models.finding import ModelSettings
    from ...knowledge.local_models.pool import Presence


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model of a role, and what wants it.

    Attributes:
        role: what it is wanted for.
        model_id: name and revision.
        metrics: what wants it.
        megabytes: its size; None when it is not known, and for the model of a server.
        is_here: whether it can be loaded without a network; true for that of a server as well.
        is_served: whether a server runs it.
        licence: as the model's card states it; empty when it is not known.
        folder: where it lies, ready to be loaded.
        trouble: why it can't be used though it is here, or can't be found.
        settings: which model is wanted and how it is to run; None for that of a server.
    """

    role: str
    model_id: str
    metrics: tuple[str, ...]
    megabytes: int | None = None
    is_here: bool = False
    is_served: bool = False
    licence: str = ""
    folder: Path | None = None
    trouble: str = ""
    settings: ModelSettings | None = None


def listed_model(there: Presence, metrics: tuple[str, ...]) -> ListedModel:
    """What a list says of a model of this machine."""
    return ListedModel(
        there.role.name,
        there.model_id,
        metrics,
        there.megabytes,
        is_here=there.folder is not None,
        licence=there.licence,
        folder=there.folder,
        trouble=there.trouble,
        settings=there.settings,
    )
