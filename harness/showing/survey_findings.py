"""Survey findings: what is wrong with documents and questions, kind by kind, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.markdown_text import one_line
from ...reports.surveys import survey_words as words
from ...reports.surveys.finding import Finding, Kind

FINDINGS: Final = 4  # of a kind
LONGEST: Final = 300  # characters of a sentence that quotes documents
ASKED: Final = 140  # characters of a question
STYLES: Final = {"high": "bold red", "medium": "yellow", "low": "dim"}


def show_findings(findings: Sequence[Finding], asked: Mapping[str, str]) -> Iterator[RenderableType]:
    """The worst of each kind, with what to do about them, once where it is the same for all.

    Args:
        findings: of a part.
        asked: texts of the questions by key.
    """
    by_kind: dict[Kind, list[Finding]] = {}
    for finding in words.worst_first(findings):
        by_kind.setdefault(finding.kind, []).append(finding)
    for kind, found in by_kind.items():
        title = words.KINDS[kind].capitalize()
        yield _indented(Text(f"{title}, {len(found)}" if found[1:] else title, style="bold"))
        yield from _of_kind(found[:FINDINGS], asked)
        if len(found) > FINDINGS:
            yield _indented(Text(f"... and {len(found) - FINDINGS} more of {words.KINDS[kind]}", style="dim"))


def _of_kind(found: Sequence[Finding], asked: Mapping[str, str]) -> Iterator[RenderableType]:
    actions = {finding.action for finding in found}
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, show_header=False)
    table.add_column(width=7)
    table.add_column(overflow="fold")
    for finding in found:
        text = Text(one_line(finding.what, LONGEST))
        if len(actions) > 1:
            text.append(f" {one_line(finding.action, LONGEST)}", style="dim")
        table.add_row(Text(finding.severity, style=STYLES[finding.severity]), text)
        if len(finding.questions) == 1 and (question := asked.get(finding.questions[0])):
            table.add_row("", Text(f"Asked: {one_line(question, ASKED)}", style="dim"))
    if len(actions) == 1:
        table.add_row("", Text(one_line(found[0].action, LONGEST), style="dim"))
    yield _indented(table)


def _indented(shown: RenderableType) -> Padding:
    return Padding(shown, (0, 0, 0, 2))
