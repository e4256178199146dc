"""What a bot's answers are measured by: metrics, the catalog that holds them, and their scores."""

from .catalog import Catalog, builtin_catalog
from .declaring import artefact, metric
from .entries import Artefact, Metric
from .facts import Facts, Place, RunFacts
from .judge.call import Block, JudgeCall, Reading
from .judge.label_calls import OwnPrompt
from .judge.verdicts import Word
from .plan import Plan
from .planned import PlannedMetric
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
