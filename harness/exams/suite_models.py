"""Suite models: the local models of a suite and what wants them, without making its bots or its judge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ...bots.settings import RagSettings
from ...knowledge.local_models.reranker import ROLE
from ...knowledge.question_files import open_questions
from ..engine.run_models import RunModels
from ..suite.judge_choice import choose_judge
from ..suite.local_model_settings import overridden
from .suite_exam import choose_for_suite

if TYPE_CHECKING:
    from ...metrics.plan import Plan
    from ..suite.suite_file import LoadedSuite


def models_of_suite(
    loaded: LoadedSuite,
    overrides: Iterable[str],
    environ: Mapping[str, str],
    told: Callable[[str], None] | None = None,
) -> tuple[RunModels, Plan]:
    """The models as the suite has them, and the plan of its metrics. Nothing is loaded, and no network is used.

    Args:
        loaded: the suite.
        overrides: other models for some roles, as ``ROLE=MODEL``.
        environ: where keys of servers are looked up.
        told: told a sentence when a model is downloaded or prepared.

    Raises:
        InputError: the suite's questions or metrics can't be used, or a role can't be taken by its model.
    """
    suite = loaded.suite
    models = RunModels(overridden(suite.local_models, overrides), loaded.base, environ, told=told, only_planned=True)
    is_judged = not choose_judge(suite.judge, suite.models).settings.is_embedded
    choice = choose_for_suite(loaded, list(suite.bots), open_questions(loaded.base / suite.questions), {}, is_judged)
    return models, choice.plan


def reranking_bots(loaded: LoadedSuite) -> tuple[str, ...]:
    """The bots that want the model of the role ``rerank``; a bot that names another model itself does not."""
    named = {ROLE.name, loaded.suite.local_models.of(ROLE.name).model or ROLE.model}
    bots = loaded.suite.bots.items()
    return tuple(name for name, bot in bots if isinstance(bot, RagSettings) and bot.reranker in named)
