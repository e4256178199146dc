"""What a bot's answers are measured by: metrics, the catalog that holds them, and their scores."""

import importlib.util
import sys
from types import ModuleType
from typing import TYPE_CHECKING, cast

from .bench import PlannedMetric
from .catalog import Catalog, builtin_catalog, declared_in
from .declaration import artefact, metric, name_of
from .entries import Artefact, Metric
from .facts import Facts, Place, RunFacts
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
    "Unreadable",
    "Word",
    "artefact",
    "builtin_catalog",
    "metric",
    "passed",
]


class _Metrics(ModuleType):
    """This package: eight of its modules have the name of a metric, and an import puts the module in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if type(value) is ModuleType and name in map(name_of, declared_in(value)):
            from .functions import MetricModule

            value.__class__ = MetricModule
        super().__setattr__(name, value)


def __getattr__(name: str) -> "MetricFunction":
    """Each metric as a function, see ``MetricFunction``. Raises AttributeError with the nearest name."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=None)
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:  # some metric, too, perhaps: see above
        return cast("MetricFunction", importlib.import_module(f"{__name__}.{name}"))
    from .functions import metric_named

    return cast("MetricFunction", metric_named(name))  # or a family of them


def __dir__() -> list[str]:
    """What is here, and every metric."""
    from .functions import metric_names

    return sorted({*globals(), *metric_names()})


sys.modules[__name__].__class__ = _Metrics
