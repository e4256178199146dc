"""Run page: a run as one page: overview, boards, questions, manifest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..report import Report
from ..summary import Summary
from ..surveys.kept_surveys import survey_of_run
from .boards.boards_section import boards_section
from .manifest.manifest_section import manifest_section
from .overview.overview_section import overview_section
from .page import Page, Section, page_bytes
from .questions_section import DETAIL_SCRIPTS, LIST_SCRIPTS, questions_section
from .rows.carried import Limits
from .rows.columns import columns_of
from .rows.data_blocks import data_blocks
from .surveys.survey_section import survey_section

SCRIPTS = (*DETAIL_SCRIPTS, *LIST_SCRIPTS, "page/group_links")
STYLES = ("overview", "boards", "questions", "question", "survey", "manifest")


def run_page(report: Report, settings: Mapping[str, object] | None = None) -> Page:
    """The page of a run before its data.

    Args:
        report: the run, whose store is still open.
        settings: what a server tells the page, see ``Page``; left out for a file that carries its data.
    """
    summary = report.run.summary
    survey = survey_of_run(report.run.store, report.run.id)
    sections = (
        Section("overview", "Overview", overview_section(report)),
        Section("heatmap", "Metrics", boards_section(report)),
        questions_section(),
        *((Section("knowledge", "Knowledge", survey_section(survey)),) if survey else ()),
        Section("manifest", "Manifest", manifest_section(report)),
    )
    ended = report.finished_at or report.started_at
    subtitle = f"Run {summary.run}, {summary.status}, {ended[:16].replace('T', ' ')} UTC"
    return Page(f"{summary.suite}", subtitle, sections, SCRIPTS, STYLES, {**_begins_with(summary), **(settings or {})})


def _begins_with(summary: Summary) -> dict[str, object]:
    """What scripts are told: the metric by which the questions are shown first."""
    return {"metric": summary.primary.name} if summary.primary else {}


def run_file(report: Report, limits: Limits | None = None) -> Iterator[bytes]:
    """The page with its data, in pieces.

    Args:
        report: the run, whose store stays open until the last piece is out.
        limits: of the file; left out, the usual ones.
    """
    return page_bytes(run_page(report), data_blocks(columns_of(report.run), limits or Limits()))
