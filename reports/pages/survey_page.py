"""Survey page: a survey as a page of its own, for one that looked at documents and questions alone."""

from __future__ import annotations

from collections.abc import Iterator

from ..surveys.survey import Survey
from .page import Page, Section, page_bytes
from .surveys.survey_section import survey_section

STYLES = ("boards", "survey")


def survey_page(survey: Survey) -> Page:
    """The page; on it nothing leads to rows of a run."""
    subtitle = f"Survey {survey.survey}, {survey.finished_at[:16].replace('T', ' ')} UTC"
    section = Section("knowledge", "Knowledge", survey_section(survey, has_rows=False))
    return Page(survey.suite, subtitle, (section,), (), STYLES)


def survey_file(survey: Survey) -> Iterator[bytes]:
    """The file in pieces."""
    return page_bytes(survey_page(survey))
