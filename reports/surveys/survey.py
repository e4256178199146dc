"""Survey: one look at a set of documents and questions, whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .against import Against
from .audit import Audit
from .blame import Blame
from .documents import Covered, DocumentCard
from .finding import Finding
from .grid import Grid

# What the place of a question's answer is known by: gold evidence; the expected answer's support, found by us; neither
# (no document supports it); stale evidence alone; nothing to look for (unanswerable, or no expected answer).
Gold = Literal["evidence", "support", "unsupported", "stale", "none"]


@dataclass(frozen=True, slots=True)
class SurveyedQuestion:
    """A question of the survey, and what the place of its answer is known by."""

    key: str
    text: str
    gold: Gold
    source_document: str = ""
    answerable: bool | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """What several questions ask about, and how well the documents cover it.

    Attributes:
        name: its most telling words.
        questions: keys of its questions.
        documents: documents that support an answer to any of them.
        supported: how many of its questions some document supports.
        right: share of the bots' answers that are right; None where none is known to be.
    """

    name: str
    questions: tuple[str, ...]
    documents: tuple[str, ...] = ()
    supported: int = 0
    right: float | None = None


@dataclass(frozen=True, slots=True)
class Gaps:
    """What is missing: stale gold, unsupported answers, thin topics, unanswerable questions answered anyway."""

    findings: tuple[Finding, ...] = ()
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True, slots=True)
class Survey:
    """One look at a set of documents and questions; its fields are the keys of the object that ``--json`` prints.

    Attributes:
        survey: its name; ``20261121-093000-1f2e``, in the order of time.
        suite: name of the suite.
        run: name of the run whose answers it looked at; blank where it looked at none.
        started_at: UTC, ISO 8601.
        finished_at: likewise.
        manifest: versions, settings, seed, models, what was read; no secrets.
        metric: the metric that says whether an answer is right; blank where none is.
        threshold: what it must reach.
        bots: whose answers were looked at.
        questions: all questions.
        grid: None where it was not asked for, or no question has an answer to look for.
        documents: a card for each document, the worst first.
        coverage: questions and documents that have to do with each other.
        gaps: what is missing.
        blame: None where it was not asked for, or no bot answered.
        inside: what is wrong inside the documents.
        audit: what is to be said of the questions.
        against: None where no other documents were named.
        warnings: sentences for the user.
    """

    survey: str
    suite: str
    run: str
    started_at: str
    finished_at: str
    manifest: Mapping[str, object]
    metric: str = ""
    threshold: float | None = None
    bots: tuple[str, ...] = ()
    questions: tuple[SurveyedQuestion, ...] = ()
    grid: Grid | None = None
    documents: tuple[DocumentCard, ...] = ()
    coverage: tuple[Covered, ...] = ()
    gaps: Gaps = Gaps()
    blame: Blame | None = None
    inside: tuple[Finding, ...] = ()
    audit: Audit | None = None
    against: Against | None = None
    warnings: tuple[str, ...] = field(default=())
