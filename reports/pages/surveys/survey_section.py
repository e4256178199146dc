"""Survey section: the knowledge part of a page: what a survey found in documents and questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ...surveys import survey_words as words
from ...surveys.finding import Finding
from ...surveys.survey import Survey
from ..row_addresses import rows_address
from ..templating import render
from . import settings_chart
from .coverage_map import STATES, coverage_map

OPEN: Final = 5  # findings of a kind that are shown at once
CARDS: Final = 24  # cards of documents that are shown at once
MOST_CARDS: Final = 300
MOST_ANSWERS: Final = 200  # wrong answers with what became of them
MOST_QUESTIONS: Final = 1000  # lines of the audit
QUOTED: Final = 240  # characters of a piece of a document or an answer
TONES: Final = {"high": "bad", "medium": "doubt", "low": ""}
CAUSE_TONES: Final = {"document": "bad", "several": "bad", "retrieval": "doubt", "bot": "", "unknown": ""}


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one kind: those that are shown at once, and those that are folded."""

    kind: str
    title: str
    shown: tuple[Finding, ...]
    folded: tuple[Finding, ...]


def survey_section(survey: Survey) -> Markup:
    """The part of a page that shows a survey; readable without scripts.

    Args:
        survey: what was found.
    """
    return render(
        "survey.html.j2",
        survey=survey,
        words=words,
        conclusions=list(words.conclusions(survey)),
        gaps=grouped(survey.gaps.findings),
        inside=grouped(survey.inside),
        audited=grouped(() if survey.audit is None else survey.audit.findings),
        chart=None if survey.grid is None else settings_chart.settings_chart(survey.grid),
        grids=settings_chart,
        coverage=coverage_map(survey),
        states=STATES,
        tones=TONES,
        cause_tones=CAUSE_TONES,
        question_address=lambda key: rows_address(open=key),
        quoted=quoted,
        limits={"cards": CARDS, "most_cards": MOST_CARDS, "answers": MOST_ANSWERS, "questions": MOST_QUESTIONS},
    )


def grouped(findings: Sequence[Finding]) -> list[FindingGroup]:
    """Findings by kind, the worst kind and the worst of each first."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in words.worst_first(findings):
        by_kind.setdefault(finding.kind, []).append(finding)
    return [
        FindingGroup(kind, words.KINDS[found[0].kind], tuple(found[:OPEN]), tuple(found[OPEN:]))
        for kind, found in by_kind.items()
    ]


def quoted(text: str) -> str:
    """A piece of a text, short enough for a list."""
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED else f"{flat[: QUOTED - 1]}…"
