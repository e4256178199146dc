"""Metrics: what answers are scored by, the catalog of them, and their scores."""

import importlib.util
from typing import TYPE_CHECKING, cast

from .bench import PlannedMetric
from .catalog import Catalog, builtin_catalog
from .declaration import artefact, metric
from .entries import Artefact, Metric
from .facts import Facts, Place, RunFacts, ToolCall
from .judge.call import Block, JudgeCall, Reading
from .judge.calls import OwnPrompt
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
from .tools import Embedded, Embedder, Judge

if TYPE_CHECKING:
    from .functions import MetricFunction

__all__ = [
    "Artefact",
    "Better",
    "Block",
    "Catalog",
    "Embedded",
    "Embedder",
    "Facts",
    "Judge",
    "JudgeCall",
    "JudgeUnavailable",
    "Measured",
    "Metric",
    "ModelUnavailable",
    "NotApplicable",
    "OwnPrompt",
    "Place",
    "Plan",
    "PlannedMetric",
    "Reading",
    "Reason",
    "RunFacts",
    "Score",
    "Status",
    "ToolCall",
    "Unreadable",
    "Word",
    "artefact",
    "builtin_catalog",
    "metric",
    "passed",
]


def __getattr__(name: str) -> "MetricFunction":
    """Each metric as a function, see ``MetricFunction``. Raises AttributeError with the nearest name."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:  # a module of this package; no metric has its name
        return cast("MetricFunction", importlib.import_module(f"{__name__}.{name}"))
    from .functions import metric_named

    return cast("MetricFunction", metric_named(name))  # or a family of metrics


def __dir__() -> list[str]:
    """The names of this module, and of every metric."""
    from .functions import metric_names

    return sorted({*globals(), *metric_names()})
