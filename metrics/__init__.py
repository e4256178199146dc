"""Metrics: what answers are scored by, the catalog of them, and their scores."""

import importlib.util
from typing import TYPE_CHECKING, cast

from .. import front

if TYPE_CHECKING:
    from .catalog import Catalog, builtin_catalog, with_installed
    from .declaration import Artefact, Function, Metric, artefact, metric
    from .evaluators import RATES
    from .facts import LOCAL_MODELS, Conversation, Facts, Place, RunFacts, ToolCall, Turn
    from .functions import MetricFunction as _MetricFunction
    from .judge.call import Answer, Block, JudgeCall, Reading
    from .judge.calls import OwnPrompt
    from .judge.judges import Panel, PromptedJudge
    from .judge.rendering import prompt_hash, render
    from .judge.verdicts import Word
    from .plan import Plan
    from .score import (
        Better,
        JudgeUnavailable,
        Measured,
        ModelUnavailable,
        NotApplicable,
        Reason,
        Score,
        Status,
        Unreadable,
        passed,
    )
    from .tools import Embedder, Judge

_offered, __all__ = front(__name__)


def __getattr__(name: str) -> "_MetricFunction":
    """Each metric as a function, see ``MetricFunction``. Raises AttributeError with the nearest name."""
    if name in __all__ or name.startswith("_"):
        return cast("_MetricFunction", _offered(name))
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:  # a module of this package; no metric has its name
        return cast("_MetricFunction", importlib.import_module(f"{__name__}.{name}"))
    from .functions import metric_named

    return cast("_MetricFunction", metric_named(name))  # or a family of metrics


def __dir__() -> list[str]:
    """The names of this module, and of every metric."""
    from .functions import metric_names

    return sorted({*globals(), *metric_names()})
