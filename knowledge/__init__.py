"""What bots may know and what they are asked: documents, passages, questions and recorded answers."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .. import front

if TYPE_CHECKING:
    from .documents.document import Document as Document
    from .documents.document import Passage as Passage
    from .documents.document import storable as storable
    from .documents.evidence import EvidenceFinder as EvidenceFinder
    from .documents.reading import Knowledge as Knowledge
    from .documents.reading import read_knowledge as read_knowledge
    from .models.batching import BatchingEmbedder as BatchingEmbedder
    from .models.batching import SharedVectors as SharedVectors
    from .models.embedding import EmbedderSettings as EmbedderSettings
    from .models.embedding import open_encoder as open_encoder
    from .models.encoder import readable as readable
    from .models.entailment import EntailmentModel as EntailmentModel
    from .models.entailment import find_entailment as find_entailment
    from .models.finding import ROLES as ROLES
    from .models.finding import ModelChoice as ModelChoice
    from .models.finding import Role as Role
    from .models.pool import LocalModels as LocalModels
    from .models.reranker import Reranker as Reranker
    from .models.reranker import Rerankers as Rerankers
    from .paths import cache_folder as cache_folder
    from .paths import existing as existing
    from .paths import unreadable as unreadable
    from .questions.question import ASSERTIONS as ASSERTIONS
    from .questions.question import PERTURBS as PERTURBS
    from .questions.question import Constraint as Constraint
    from .questions.question import Evidence as Evidence
    from .questions.question import ExpectedTool as ExpectedTool
    from .questions.question import Message as Message
    from .questions.question import Question as Question
    from .questions.question_files import QuestionList as QuestionList
    from .questions.question_files import Questions as Questions
    from .questions.question_files import QuestionSet as QuestionSet
    from .questions.question_files import RowSet as RowSet
    from .questions.question_files import extra_keys as extra_keys
    from .questions.question_files import open_questions as open_questions
    from .questions.question_files import question_pieces as question_pieces
    from .questions.recorded import Recorded as Recorded
    from .questions.recorded import RecordedSet as RecordedSet
    from .questions.recorded import open_recorded as open_recorded
    from .questions.row_files import open_rows as open_rows
    from .retrieval.index import PassageIndex as PassageIndex
    from .retrieval.search import RETRIEVERS as RETRIEVERS
    from .retrieval.search import Bm25Index as Bm25Index
    from .retrieval.search import PassageSearch as PassageSearch
    from .retrieval.search import Retriever as Retriever
    from .retrieval.splitting import Splitter as Splitter
    from .retrieval.splitting import Splitting as Splitting
    from .retrieval.splitting import cut as cut
    from .retrieval.splitting import cut_at_sentences as cut_at_sentences
    from .retrieval.splitting import sentence_spans as sentence_spans
else:
    __getattr__, __all__ = front(__name__)


class _Knowledge(ModuleType):
    """This package, which may also be called: ``proctor.knowledge("suite.yaml")`` benchmarks documents."""

    def __call__(self, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as the verb has it
        """Benchmark the documents of a suite; see ``harness.api.verbs``."""
        from .. import _knowledge  # of a floor above: the verb has the name of this package

        return _knowledge(*given, **options)


sys.modules[__name__].__class__ = _Knowledge
