"""What bots may know and what they are asked: documents, passages, questions and recorded answers."""

from .cutting import cut
from .documents import Document, Passage
from .question_files import QuestionSet, open_questions
from .questions import Constraint, Evidence, Question
from .reading import Knowledge, read_knowledge
from .recorded import Recorded, RecordedSet, open_recorded

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
