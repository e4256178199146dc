"""What bots may know and what they are asked: documents, passages, questions and recorded answers."""

import sys
from types import ModuleType
from typing import Any

from .documents.document import Document, Passage
from .documents.reading import Knowledge, read_knowledge
from .questions.question import Constraint, Evidence, Question
from .questions.question_files import QuestionSet, open_questions
from .questions.recorded import Recorded, RecordedSet, open_recorded
from .retrieval.splitting import cut

__all__ = [
    "Constraint",
    "Document",
    "Evidence",
    "Knowledge",
    "Passage",
    "Question",
    "QuestionSet",
    "Recorded",
    "RecordedSet",
    "cut",
    "open_questions",
    "open_recorded",
    "read_knowledge",
]


class _Knowledge(ModuleType):
    """This package, which may also be called: ``proctor.knowledge("suite.yaml")`` benchmarks documents."""

    def __call__(self, *given: Any, **options: Any) -> Any:  # noqa: ANN401 - as the verb has it
        """Benchmark the documents of a suite; see ``harness.api.verbs``."""
        from .. import _knowledge  # of a floor above: the verb has the name of this package

        return _knowledge(*given, **options)


sys.modules[__name__].__class__ = _Knowledge
