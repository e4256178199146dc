"""Judge entailment: the entailment model that the settings of the embedded judge name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..suite.judge_settings import JudgeSettings

if TYPE_CHECKING:
    from ...knowledge.local_models.entailment import EntailmentModel


def open_entailment(settings: JudgeSettings, base: Path) -> EntailmentModel | None:
    """The model, loaded when it is first asked; None where the settings name none.

    Args:
        settings: of the judge.
        base: the folder that relative paths start from.

    Raises:
        InputError: it can't be found.
    """
    if settings.entailment is None:
        return None
    from ...knowledge.local_models.entailment import find_entailment
    from ...knowledge.local_models.finding import ModelSettings

    folder = base / settings.entailment
    return find_entailment(ModelSettings(str(folder) if folder.is_dir() else settings.entailment))
