"""What bots may know and what they are asked: documents, passages, questions and recorded answers."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .documents.document import Document, Passage, storable
from .documents.evidence import EvidenceFinder
from .documents.reading import Knowledge, read_knowledge
from .models.roles import ROLES, Role
from .paths import cache_folder, existing, unreadable
from .questions.question import ASSERTIONS, PERTURBS, Constraint, Evidence, ExpectedTool, Message, Question
from .questions.question_files import QuestionList, Questions, QuestionSet, extra_keys, open_questions, question_pieces
from .questions.recorded import Recorded, RecordedSet, open_recorded
from .questions.row_files import open_rows
from .retrieval.splitting import Splitter, Splitting, cut, cut_at_sentences, sentence_spans

if TYPE_CHECKING:
    from .models.batching import BatchingEmbedder, SharedVectors
    from .models.embedding import EmbedderSettings, open_encoder
    from .models.encoder import readable
    from .models.entailment import EntailmentModel, find_entailment
    from .models.finding import ModelChoice
    from .models.pool import LocalModels
    from .models.reranker import Reranker, Rerankers
    from .retrieval.index import PassageIndex
    from .retrieval.search import RETRIEVERS, Bm25Index, PassageSearch, Retriever

# Imported when they are used: they need numpy.
_LAZY = {
    "BatchingEmbedder": ".models.batching",
    "Bm25Index": ".retrieval.search",
    "EmbedderSettings": ".models.embedding",
    "EntailmentModel": ".models.entailment",
    "LocalModels": ".models.pool",
    "ModelChoice": ".models.finding",
    "PassageIndex": ".retrieval.index",
    "PassageSearch": ".retrieval.search",
    "RETRIEVERS": ".retrieval.search",
    "Reranker": ".models.reranker",
    "Rerankers": ".models.reranker",
    "Retriever": ".retrieval.search",
    "SharedVectors": ".models.batching",
    "find_entailment": ".models.entailment",
    "open_encoder": ".models.embedding",
    "readable": ".models.encoder",
}

__all__ = [
    "ASSERTIONS",
    "PERTURBS",
    "RETRIEVERS",
    "ROLES",
    "BatchingEmbedder",
    "Bm25Index",
    "Constraint",
    "Document",
    "EmbedderSettings",
    "EntailmentModel",
    "Evidence",
    "EvidenceFinder",
    "ExpectedTool",
    "Knowledge",
    "LocalModels",
    "Message",
    "ModelChoice",
    "Passage",
    "PassageIndex",
    "PassageSearch",
    "Question",
    "QuestionList",
    "QuestionSet",
    "Questions",
    "Recorded",
    "RecordedSet",
    "Reranker",
    "Rerankers",
    "Retriever",
    "Role",
    "SharedVectors",
    "Splitter",
    "Splitting",
    "cache_folder",
    "cut",
    "cut_at_sentences",
    "existing",
    "extra_keys",
    "find_entailment",
    "open_encoder",
    "open_questions",
    "open_recorded",
    "open_rows",
    "question_pieces",
    "read_knowledge",
    "readable",
    "sentence_spans",
    "storable",
    "unreadable",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the module has under the name
    """Import a name that needs a large library, when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LAZY[name], __name__), name)
    return found


class _Knowledge(ModuleType):
    """This package, which may also be called: ``proctor.knowledge("suite.yaml")`` benchmarks documents."""

    def __call__(self, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as the verb has it
        """Benchmark the documents of a suite; see ``harness.api.verbs``."""
        from .. import _knowledge  # of a floor above: the verb has the name of this package

        return _knowledge(*given, **options)


sys.modules[__name__].__class__ = _Knowledge
