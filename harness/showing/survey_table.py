"""Survey table: what a survey found, for a terminal of 80 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.comparing.short_figures import change, share
from ...reports.leaderboard import count
from ...reports.markdown_text import one_line
from ...reports.printable import printable
from ...reports.surveys import survey_words as words
from ...reports.surveys.against import Against
from ...reports.surveys.audit import Audit
from ...reports.surveys.blame import Blame
from ...reports.surveys.documents import DocumentCard
from ...reports.surveys.finding import Finding
from ...reports.surveys.grid import Grid, SettingResult
from ...reports.surveys.survey import Survey
from .figures import grid as plain_table
from .table_console import TableConsole

SETTINGS = 6  # of the grid, the present and the recommended one among them
FINDINGS = 4  # of a kind
CARDS = 8
BLAMED = 6
LONGEST = 320  # characters of a sentence that quotes documents
STYLES = {"high": "bold red", "medium": "yellow", "low": "dim"}


def show_survey(survey: Survey, stdout: TextIO, where: str = "") -> None:
    """Print the tables; warnings go to stderr.

    Args:
        survey: what was found.
        stdout: where to.
        where: a last line that says where all of it is kept.
    """
    for warning in survey.warnings:
        sys.stderr.write(f"proctor: {printable(warning)}\n")
    TableConsole(stdout).print(survey_table(survey, where))


def survey_table(survey: Survey, where: str = "") -> RenderableType:
    """Part by part, and what to know of all of them at the end, where a terminal shows it first."""
    parts: list[RenderableType] = [_said(f"{survey.suite}: {words.about(survey)}", "bold")]
    for name, shown in _parts(survey):
        parts += [Text(), _said(words.TITLES[name], "bold"), *shown]
    concluded = list(words.conclusions(survey))
    if concluded:
        parts += [Text(), _said("In short", "bold"), *(_item(sentence) for sentence in concluded)]
    return Group(*parts, *([Text(), _said(where, "dim")] if where else []))


def _parts(survey: Survey) -> Iterator[tuple[str, list[RenderableType]]]:
    if survey.grid is not None:
        yield "grid", list(_grid(survey.grid))
    if survey.gaps.findings:
        yield "gaps", list(_findings(survey.gaps.findings))
    if survey.documents:
        yield "documents", list(_cards(survey.documents))
    if survey.blame is not None:
        yield "blame", list(_blame(survey.blame))
    if survey.inside:
        yield "inside", list(_findings(survey.inside))
    if survey.against is not None:
        yield "against", list(_against(survey.against))
    if survey.audit is not None:
        yield "audit", list(_audit(survey.audit))


def _grid(grid: Grid) -> Iterator[RenderableType]:
    yield _said(f"{grid.metric} of {words.gold_of_grid(grid)}", "dim")
    table = plain_table("", "mean", "against now", "tokens", "ms", first=38)
    chosen = grid.recommendation.setting if grid.recommendation else None
    for place, result in words.best_settings(grid, SETTINGS):
        mark = "= " if place == grid.present else "> " if place == chosen else "  "
        name = Text(printable(mark + result.setting.name), style="bold" if mark.strip() else "")
        table.add_row(name, *_figures(grid, result))
    yield table
    if grid.bot and any(result.answers for result in grid.settings):
        yield _said(f"Answers of {grid.bot} with the best few", "dim")
        yield _answers(grid)
    yield _said("= as it is set now; > recommended", "dim")
    if grid.recommendation is not None:
        yield _item(grid.recommendation.why)


def _figures(grid: Grid, result: SettingResult) -> Iterator[str]:
    yield share(result.metrics.get(grid.metric))
    yield change(result.against[grid.metric]) if grid.metric in result.against else ""
    tokens = result.metrics.get("prompt_tokens")
    yield "-" if tokens is None else f"{tokens.mean:.0f}"
    yield "-" if result.retrieve_ms is None else f"{result.retrieve_ms[0]:.1f}"


def _answers(grid: Grid) -> Table:
    measured = [(place, result) for place, result in enumerate(grid.settings) if result.answers]
    names = list(dict.fromkeys(name for _, result in measured for name in result.answers))[:3]
    table = plain_table("", *names, first=38)
    for _, result in measured:
        table.add_row(printable(result.setting.name), *(share(result.answers.get(name)) for name in names))
    return table


def _findings(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    by_kind: dict[str, list[Finding]] = {}
    for finding in words.worst_first(findings):
        by_kind.setdefault(finding.kind, []).append(finding)
    for found in by_kind.values():
        for finding in found[:FINDINGS]:
            text = Text(overflow="fold")
            text.append(f"{finding.severity} ", style=STYLES[finding.severity])
            text.append(f"{words.KINDS[finding.kind]}: ", style="bold")
            text.append(one_line(f"{finding.what} {finding.action}", LONGEST))
            yield Padding(text, (0, 0, 0, 2))
        if len(found) > FINDINGS:
            yield _item(f"... and {len(found) - FINDINGS} more of {words.KINDS[found[0].kind]}", "dim")


def _cards(cards: Sequence[DocumentCard]) -> Iterator[RenderableType]:
    asked = any(card.caused is not None for card in cards)
    headings = ("holds", "in answers", "wrong", *(("caused", "carried") if asked else ()), "tokens")
    table = plain_table("", *headings, first=32)
    for card in cards[:CARDS]:
        blamed = (_known(card.caused), _known(card.carried)) if asked else ()
        table.add_row(
            printable(card.document), str(len(card.questions)), str(card.retrieved),
            f"{card.wrong} of {card.marked}" if card.marked else "-", *blamed, str(card.tokens),
        )  # fmt: skip
    yield table
    for card in cards[:CARDS]:
        notes = ", ".join(words.card_notes(card))
        if notes:
            yield _item(f"{card.document}: {notes}", "dim")
    if len(cards) > CARDS:
        yield _item(f"... and {len(cards) - CARDS} more", "dim")


def _known(value: int | None) -> str:
    return "-" if value is None else str(value)


def _blame(blame: Blame) -> Iterator[RenderableType]:
    yield _said(words.about_blame(blame), "dim")
    for cause, number in words.causes(blame):
        yield _item(f"{number}: {words.CAUSES[cause]}")
    moved = [one for one in blame.documents if one.caused or one.carried]
    if moved:
        table = plain_table("", "caused", "carried", "effect", "tried", first=36)
        for one in moved[:BLAMED]:
            effect = "-" if one.effect is None else f"{one.effect:+.2f}"
            table.add_row(printable(one.document), str(len(one.caused)), str(len(one.carried)), effect, str(one.tried))
        yield table
        if len(moved) > BLAMED:
            yield _item(f"... and {len(moved) - BLAMED} more", "dim")


def _against(against: Against) -> Iterator[RenderableType]:
    for bot in against.bots:
        gained, lost = len(bot.gained), len(bot.lost)
        yield _item(f"{bot.bot}: {change(bot.difference)} {against.metric}, {gained} gained, {lost} lost")
    for edit in against.edits:
        if edit.gained or edit.lost:
            yield _item(f"{words.edit_text(edit)}: {len(edit.gained)} gained, {len(edit.lost)} lost")
    if quiet := sum(not edit.gained and not edit.lost for edit in against.edits):
        yield _item(f"{count(quiet, 'other edit')} turned no answer", "dim")
    if against.unexplained:
        yield _item(f"{count(len(against.unexplained), 'answer')} turned that no single edit brings back", "dim")


def _audit(audit: Audit) -> Iterator[RenderableType]:
    yield from _findings(audit.findings)
    if told := [one for one in audit.questions if one.values > 1]:
        telling = sum(one.telling for one in told)
        yield _item(f"{telling} of {count(len(told), 'question')} tell bots apart by {audit.metric}")
    if audit.subset is not None:
        subset = audit.subset
        elsewhere = f", {subset.error_elsewhere:.3f} on others" if subset.error_elsewhere is not None else ""
        yield _item(
            f"{len(subset.questions)} of {count(subset.of, 'question')} keep the ranking; "
            f"a bot's mean moves by {subset.error:.3f} at most{elsewhere}"
        )


def _said(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")


def _item(text: str, style: str = "") -> Padding:
    return Padding(_said(text, style), (0, 0, 0, 2))
