"""Rerankers of a suite: which cross-encoders its bots can name, and how they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ...knowledge.local_models.reranker import ROLE, Rerankers
from ..suite.local_model_settings import overridden

if TYPE_CHECKING:
    from pathlib import Path

    from ..suite.local_model_settings import LocalModelsSettings


def open_rerankers(
    settings: LocalModelsSettings, base: Path, overrides: Iterable[str] = (), told: Callable[[str], None] | None = None
) -> Rerankers:
    """The rerankers; none is looked for before a bot names it.

    Args:
        settings: of the local models, where ``rerank`` is the role of these.
        base: the suite's folder.
        overrides: other models for some roles, as ``ROLE=MODEL``.
        told: told a sentence when a model is downloaded or prepared.

    Raises:
        InputError: an override names no role, or one that its model can't take.
    """
    return Rerankers(overridden(settings, overrides).on_this_machine(base)[ROLE.name], base, told=told)
