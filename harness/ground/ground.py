"""Ground: what a survey looks at: the documents as they are, the questions, and where their evidence stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ... import InputError
from ...bots.settings import RagSettings
from ...knowledge.cache_folder import cache_folder
from ...knowledge.evidence import EvidenceFinder
from ...knowledge.question_files import open_questions
from ...knowledge.questions import Evidence, Question
from ...knowledge.reading import read_knowledge
from ...reports.shelf import VectorShelf
from ...reports.surveys.survey import Gold
from ..exams.embedders import open_embedder
from .question_clusters import question_clusters

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...knowledge.batching import BatchingEmbedder
    from ...knowledge.documents import Document
    from ..suite.suite_file import LoadedSuite


@dataclass(frozen=True, slots=True)
class QuestionGold:
    """Where the answer of a question stands, as far as it is known.

    Attributes:
        kind: what it is known by.
        groups: places, located in today's documents: all groups are needed, any member of a group will do.
        stale: pieces of evidence that the documents don't hold.
        score: how sure the support is, from 0 to 1; None for gold evidence.
    """

    kind: Gold
    groups: tuple[tuple[Evidence, ...], ...] = ()
    stale: tuple[Evidence, ...] = ()
    score: float | None = None

    @property
    def documents(self) -> frozenset[str]:
        """Every document in which a piece of it stands."""
        return frozenset(member.document for group in self.groups for member in group)

    @property
    def needed_documents(self) -> frozenset[str]:
        """Documents without which a group has no member left."""
        alone = (frozenset(member.document for member in group) for group in self.groups)
        return frozenset(document for documents in alone if len(documents) == 1 for document in documents)


@dataclass(frozen=True)
class Ground:
    """What a survey looks at.

    Attributes:
        loaded: the suite.
        environ: where keys and folders of caches are looked up.
        documents: all of them, as bots would read them.
        questions: all of them, in the order of their file.
        embedder: the suite's, for passages, questions and supports.
        gold: where the answer of each question stands, by its key.
        warnings: what there is to say about files.
    """

    loaded: LoadedSuite
    environ: Mapping[str, str]
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    embedder: BatchingEmbedder
    gold: Mapping[str, QuestionGold] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def seed(self) -> int:
        """Of everything that is drawn by chance."""
        return self.loaded.suite.seed

    @cached_property
    def by_id(self) -> Mapping[str, Document]:
        """The documents by their ids."""
        return {document.id: document for document in self.documents}

    @cached_property
    def by_key(self) -> Mapping[str, Question]:
        """The questions by their keys."""
        return {question.id: question for question in self.questions}

    def clusters(self, keys: Iterable[str]) -> NDArray[np.intp]:
        """Codes of the clusters of some questions, one each; see ``question_clusters``."""
        return question_clusters([self.by_key[key] for key in keys], self.gold)

    @cached_property
    def cache(self) -> Path:
        """The folder for what can be made again."""
        return cache_folder(self.environ)

    @property
    def present(self) -> RagSettings:
        """How the suite's first bot that retrieves is set; the defaults where it has none."""
        retrieving = (bot for bot in self.loaded.suite.bots.values() if isinstance(bot, RagSettings))
        return next(retrieving, RagSettings(type="rag"))


def lay_ground(
    loaded: LoadedSuite, environ: Mapping[str, str], limit: int | None = None,
    told: Callable[[str], None] | None = None,
) -> Ground:  # fmt: skip
    """Read documents and questions, and locate the gold evidence; the expected answers' support is not looked for.

    Args:
        loaded: the suite.
        environ: where keys and folders of caches are looked up.
        limit: the first so many questions; None for all.
        told: told a sentence before what takes long.

    Raises:
        InputError: the suite names no documents, or these or the questions can't be read.
    """
    suite = loaded.suite
    if not suite.knowledge:
        raise InputError(f"{loaded.path} names no knowledge, so there are no documents to look at. Add `knowledge:`.")
    if told is not None:
        told("Reading documents and questions")
    knowledge = read_knowledge([loaded.base / path for path in suite.knowledge])
    questions = open_questions(loaded.base / suite.questions, limit)
    asked = tuple(questions)
    finder = EvidenceFinder(knowledge.documents)
    embedder, doubts = open_embedder(loaded, VectorShelf())
    return Ground(
        loaded=loaded,
        environ=environ,
        documents=knowledge.documents,
        questions=asked,
        embedder=embedder,
        gold={question.id: gold_by_evidence(question, finder) for question in asked},
        warnings=(*knowledge.warnings, *questions.warnings, *doubts),
    )


def gold_by_evidence(question: Question, finder: EvidenceFinder) -> QuestionGold:
    """Where the gold evidence of a question stands; ``none`` where it has none, ``stale`` where none of it is left.

    A group none of whose quotes is in the documents any more is left out, so that it is never missed by a retriever.
    """
    if not question.evidence:
        return QuestionGold("none")
    located = finder.locate(question)
    groups = tuple(
        placed
        for group in located.question.evidence
        if (placed := tuple(one for one in group if one.start is not None or not one.quote.strip()))
    )
    return QuestionGold("evidence" if groups else "stale", groups, located.stale)
