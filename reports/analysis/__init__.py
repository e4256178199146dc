"""Analysis."""

from typing import TYPE_CHECKING

from ... import front

if TYPE_CHECKING:
    from .findings import (
        Ablations,
        AnalysedQuestion,
        Configuration,
        ConfigurationResult,
        DatasetQuality,
        DocumentChanges,
        Excerpt,
        Finding,
        Gaps,
        Gold,
        Grid,
        KnowledgeAnalysis,
        QuestionQuality,
        Recommendation,
        Severity,
        Subset,
        names_apart,
    )
    from .messages import ORDER, RETRIEVAL_METRICS, known_before_answers
    from .store import analysis_json, find_analysis, store_analysis
else:
    __getattr__, __all__ = front(__name__)
