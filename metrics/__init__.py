"""Metrics: what answers are scored by, the catalog of them, and their scores."""

import importlib.util
from typing import TYPE_CHECKING, cast

from .. import front

if TYPE_CHECKING:
    from .bench import PlannedMetric as PlannedMetric
    from .catalog import Catalog as Catalog
    from .catalog import builtin_catalog as builtin_catalog
    from .declaration import Artefact as Artefact
    from .declaration import Metric as Metric
    from .declaration import artefact as artefact
    from .declaration import metric as metric
    from .facts import Facts as Facts
    from .facts import Place as Place
    from .facts import RunFacts as RunFacts
    from .facts import ToolCall as ToolCall
    from .functions import MetricFunction
    from .judge.call import Block as Block
    from .judge.call import JudgeCall as JudgeCall
    from .judge.call import Reading as Reading
    from .judge.calls import OwnPrompt as OwnPrompt
    from .judge.verdicts import Word as Word
    from .plan import Plan as Plan
    from .score import Better as Better
    from .score import JudgeUnavailable as JudgeUnavailable
    from .score import Measured as Measured
    from .score import ModelUnavailable as ModelUnavailable
    from .score import NotApplicable as NotApplicable
    from .score import Reason as Reason
    from .score import Score as Score
    from .score import Status as Status
    from .score import Unreadable as Unreadable
    from .score import passed as passed
    from .tools import Embedded as Embedded
    from .tools import Embedder as Embedder
    from .tools import Judge as Judge

_offered, __all__ = front(__name__)


def __getattr__(name: str) -> "MetricFunction":
    """Each metric as a function, see ``MetricFunction``. Raises AttributeError with the nearest name."""
    if name in __all__ or name.startswith("_"):
        return cast("MetricFunction", _offered(name))
    if importlib.util.find_spec(f"{__name__}.{name}") is not None:  # a module of this package; no metric has its name
        return cast("MetricFunction", importlib.import_module(f"{__name__}.{name}"))
    from .functions import metric_named

    return cast("MetricFunction", metric_named(name))  # or a family of metrics


def __dir__() -> list[str]:
    """The names of this module, and of every metric."""
    from .functions import metric_names

    return sorted({*globals(), *metric_names()})
