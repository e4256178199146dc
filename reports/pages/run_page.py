"""Run page: a run as one page with overview, boards, questions and manifest; a knowledge analysis as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Final

import orjson
from markupsafe import Markup

from ..analysis.findings import KnowledgeAnalysis
from ..analysis.store import analysis_of_run
from ..conversations import has_conversations
from ..outcomes import doubts_of
from ..report import Report, make_report
from ..store import Store, figures_key, keep_figure, stored_figure, to_json
from ..store.row_scores import RunScores
from ..summary import Summary
from .boards import boards_section
from .conversations import conversations_section
from .knowledge import knowledge_section
from .labels import SCRIPTS as LABEL_SCRIPTS
from .labels import STYLES as LABEL_STYLES
from .labels import label_block, labels_section
from .manifest import manifest_section
from .overview import overview_section
from .page import Page, Section, page_bytes, render
from .row_index import Limits, data_blocks
from .rows import columns_of

# What shows an opened question; before the list, which calls it.
DETAIL_SCRIPTS: Final = (
    "page/long_text", "page/left_out", "page/unfolding", "page/outcomes",
    "detail/word_difference", "detail/marks", "detail/nearest", "detail/words", "detail/value", "detail/items",
    "detail/claims", "detail/lexical", "detail/evidence", "detail/context", "detail/contexts", "detail/sent",
    "detail/calls", "detail/scores", "detail/answer", "detail/detail",
)  # fmt: skip
# In loading order, after the scripts that show an opened question (``questionDetail``).
LIST_SCRIPTS: Final = (
    "list/rows", "pair/choice", "list/filter", "list/order", "list/groups", "list/search", "list/cells", "list/lines",
    "list/controls", "list/opening", "list/keys", "list/heights", "list/table", "list/notes", "list/questions",
)  # fmt: skip


def questions_section() -> Section:
    """The section; its controls are hidden until there is something to control."""
    return Section("Answers", render("questions.html.j2"))


# After the list, whose functions they call.
TALK_SCRIPTS: Final = ("talk/talks", "talk/transcript", "talk/transcripts")
SCRIPTS = (*DETAIL_SCRIPTS, *LIST_SCRIPTS, "page/group_links", *LABEL_SCRIPTS)
STYLES = ("overview", "boards", "questions", "question", "analysis", "manifest", *LABEL_STYLES)
TALK_STYLES: Final = ("talk",)


def run_page(report: Report, settings: Mapping[str, object] | None = None) -> Page:
    """The page of a run before its data.

    Args:
        report: the run, whose store is still open.
        settings: of a served page, see ``Page``; left out for a file with its data.
    """
    summary = report.run.summary
    analysis = analysis_of_run(report.run.store, report.run.id)
    bodies = _stored_bodies(report) or _bodies(report)
    talked = "conversations" in bodies
    sections = (
        Section("Overview", bodies["overview"]),
        questions_section(),
        Section("Metrics", bodies["metrics"]),
        *((Section("Conversations", bodies["conversations"]),) if talked else ()),
        labels_section(),
        *((Section("Knowledge", knowledge_section(analysis)),) if analysis else ()),
        Section("Manifest", manifest_section(report)),
    )
    ended = report.finished_at or report.started_at
    subtitle = f"Run {summary.run}, {summary.status}, {ended[:16].replace('T', ' ')} UTC"
    scripts, styles = (*SCRIPTS, *(TALK_SCRIPTS if talked else ())), (*STYLES, *(TALK_STYLES if talked else ()))
    return Page(f"{summary.suite}", subtitle, sections, scripts, styles, {**_begins_with(summary), **(settings or {})})


def _bodies(report: Report) -> dict[str, Markup]:
    """The sections that are worked out from all rows, by their ids."""
    talked = (
        {"conversations": conversations_section(report)} if has_conversations(report.run.store, report.run.id) else {}
    )
    return {"overview": overview_section(report), "metrics": boards_section(report), **talked}


NAME: Final = "page"  # under which they are stored


def keep_page(store: Store, run_id: int, scores: RunScores | None = None) -> None:
    """Store the sections of a run that has ended, so that its page need not read millions of scores to be opened.

    Raises:
        StoreError: they can't be written.
    """
    report = make_report(store, run_id, scores)
    if _stored_bodies(report) is None:
        keep_figure(store, run_id, NAME, _key(report), to_json(_bodies(report)))


def _stored_bodies(report: Report) -> dict[str, Markup] | None:
    if not report.timed:
        return None
    found = stored_figure(report.run.store, report.run.id, NAME, _key(report))
    return {id: Markup(body) for id, body in orjson.loads(found).items()} if found else None  # noqa: S704 - ours


def _key(report: Report) -> str:
    """Of the report as it is, labels of people included, of the rows behind it and what is in doubt of them."""
    run = report.run
    known = [run.summary, run.evaluators, report.findings, report.bots, report.started_at, report.finished_at]
    return figures_key(run.store, run.id, *known, doubts_of(run.store, run.id))


def _begins_with(summary: Summary) -> dict[str, object]:
    """Settings for the scripts: the metrics by which questions are shown first, and by which a turn is right."""
    found: dict[str, object] = {"metric": summary.primary.name} if summary.primary else {}
    if summary.conversations:
        found["turns"] = summary.conversations.metric
    return found


def run_file(report: Report, limits: Limits | None = None) -> Iterator[bytes]:
    """The page with its data, in pieces.

    Args:
        report: the run, whose store stays open until the last piece is out.
        limits: of the file; left out, the usual ones.
    """
    columns = columns_of(report.run)
    labels = [("labels", label_block(columns))] if columns else []
    return page_bytes(run_page(report), chain(data_blocks(columns, limits or Limits()), labels))


KNOWLEDGE_STYLES = ("boards", "analysis")


def knowledge_page(analysis: KnowledgeAnalysis) -> Page:
    """The page of an analysis; it has no links to rows."""
    subtitle = f"Analysis {analysis.analysis}, {analysis.finished_at[:16].replace('T', ' ')} UTC"
    section = Section("Knowledge", knowledge_section(analysis, has_rows=False))
    return Page(analysis.suite, subtitle, (section,), (), KNOWLEDGE_STYLES)


def analysis_file(analysis: KnowledgeAnalysis) -> Iterator[bytes]:
    """The file in pieces."""
    return page_bytes(knowledge_page(analysis))
