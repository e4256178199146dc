"""What a bot's answers are measured by: metrics, the catalog that holds them, and their scores."""

from .catalog import Catalog, builtin_catalog
from .declaring import artefact, metric
from .entries import Artefact, Metric
from .facts import Facts, Place, RunFacts
from .plan import Plan
from .planned import PlannedMetric
from .score import Better, Measured, ModelUnavailable, NotApplicable, Reason, Score, Status, passed
from .tools import Embedded, Embedder

__all__ = [
    "Artefact",
    "Better",
    "Catalog",
    "Embedded",
    "Embedder",
    "Facts",
    "Measured",
    "Metric",
    "ModelUnavailable",
    "NotApplicable",
    "Place",
    "Plan",
    "PlannedMetric",
    "Reason",
    "RunFacts",
    "Score",
    "Status",
    "artefact",
    "builtin_catalog",
    "metric",
    "passed",
]
