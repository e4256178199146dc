"""Survey section: the knowledge part of a page: what a survey found in documents and questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ...surveys import meanings
from ...surveys import survey_words as words
from ...surveys.conclusions import advice, beyond_budget, conclusions
from ...surveys.finding import Finding
from ...surveys.grid import Grid
from ...surveys.survey import Survey
from ..templating import render
from . import settings_chart
from .coverage_map import STATES, coverage_map

OPEN: Final = 5  # findings of a kind that are shown at once
CARDS: Final = 24  # cards of documents that are shown at once
MOST_CARDS: Final = 300
MOST_ANSWERS: Final = 200  # wrong answers with what became of them
MOST_QUESTIONS: Final = 1000  # lines of the audit
MOST_DOCUMENTS: Final = 1000  # lines of the table of documents
MOST_BLAMED: Final = 100  # documents
MOST_TOPICS: Final = 100
METRICS: Final = 5  # of answers that are shown at once
QUOTED: Final = 240  # characters of a piece of a document or an answer
TONES: Final = {"high": "bad", "medium": "doubt", "low": ""}
MARK_TONES: Final = {"now": "doubt", "take": "good", "no gain shown": "", "worse": "bad"}
CAUSE_TONES: Final = {"document": "bad", "several": "bad", "retrieval": "doubt", "bot": "", "unknown": ""}


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """Findings of one kind: those that are shown at once, those that are folded, and what to do about all of them.

    ``action`` is blank where it is not the same for all.
    """

    kind: str
    title: str
    shown: tuple[Finding, ...]
    folded: tuple[Finding, ...]
    action: str


def survey_section(survey: Survey, has_rows: bool = True) -> Markup:
    """The part of a page that shows a survey; readable without scripts.

    Args:
        survey: what was found.
        has_rows: whether the page has the rows of the survey's run, so that a question leads to its row.
    """
    is_read = words.is_read(survey)
    return render(
        "survey.html.j2",
        survey=survey,
        words=words,
        meanings=meanings,
        advice=advice,
        beyond_budget=beyond_budget,
        conclusions=list(conclusions(survey)),
        gaps=grouped(survey.gaps.findings),
        inside=grouped(survey.inside),
        audited=grouped(() if survey.audit is None else survey.audit.findings),
        chart=None if survey.grid is None else settings_chart.settings_chart(survey.grid),
        grids=settings_chart,
        grid_meanings=() if survey.grid is None else _of_grid(survey.grid),
        card_meanings=tuple(_of_cards(is_read, is_blamed=survey.blame is not None)),
        is_read=is_read,
        cards={one.document: card_address(place) for place, one in enumerate(survey.documents[:MOST_CARDS])},
        asked={one.key: one.text for one in survey.questions},
        coverage=coverage_map(survey),
        states=STATES,
        tones=TONES,
        mark_tones=MARK_TONES,
        cause_tones=CAUSE_TONES,
        has_rows=has_rows,
        quoted=quoted,
        limits={
            "cards": CARDS, "most_cards": MOST_CARDS, "answers": MOST_ANSWERS, "questions": MOST_QUESTIONS,
            "documents": MOST_DOCUMENTS, "blamed": MOST_BLAMED, "topics": MOST_TOPICS, "metrics": METRICS,
        },
    )  # fmt: skip


def card_address(place: int) -> str:
    """Where the card of a document is, by its place among the cards."""
    return f"#knowledge?part=document-{place}"


def _of_grid(grid: Grid) -> tuple[tuple[str, str], ...]:
    """What the columns of the settings say."""
    told = [
        (name, meanings.OF_SETTINGS[name]) for name in settings_chart.metric_names(grid) if name in meanings.OF_SETTINGS
    ]
    now = ("against now", f"difference of {grid.metric} to the setting as it is now, over the same questions")
    return (now, *told, ("ms p50, p95", "median and 95th percentile of the time to search, in milliseconds"))


def _of_cards(is_read: bool, is_blamed: bool) -> Iterator[tuple[str, str]]:
    """What the figures of the cards say."""
    yield "holds answers", meanings.HOLDS
    yield "only here", meanings.ONLY
    if is_read:
        yield "in answers", meanings.OF_ANSWERS["answers"]
        yield "needed in", meanings.OF_ANSWERS["needed"]
        yield "wrong", meanings.OF_ANSWERS["wrong"]
        if is_blamed:
            yield "caused", meanings.OF_BLAME["caused"]
            yield "carried", meanings.OF_BLAME["carried"]
        yield "tokens", meanings.OF_ANSWERS["tokens"]


def grouped(findings: Sequence[Finding]) -> list[FindingGroup]:
    """Findings by kind, the worst kind and the worst of each first."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in words.worst_first(findings):
        by_kind.setdefault(finding.kind, []).append(finding)
    return [
        FindingGroup(kind, words.KINDS[found[0].kind], tuple(found[:OPEN]), tuple(found[OPEN:]), _action(found))
        for kind, found in by_kind.items()
    ]


def _action(found: Sequence[Finding]) -> str:
    """What to do, where that is the same for several findings."""
    actions = {finding.action for finding in found}
    return found[0].action if len(found) > 1 and len(actions) == 1 else ""


def quoted(text: str) -> str:
    """A piece of a text, short enough for a list."""
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTED else f"{flat[: QUOTED - 1]}…"
