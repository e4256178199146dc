"""Survey table: what a survey found, for a terminal of 80 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TextIO

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.comparing.short_figures import change, share
from ...reports.leaderboard import count
from ...reports.printable import printable
from ...reports.surveys import meanings
from ...reports.surveys import survey_words as words
from ...reports.surveys.against import Against
from ...reports.surveys.audit import Audit
from ...reports.surveys.blame import Blame
from ...reports.surveys.conclusions import beyond_budget, conclusions
from ...reports.surveys.documents import DocumentCard
from ...reports.surveys.grid import Grid, SettingResult
from ...reports.surveys.survey import Survey
from .figures import grid as plain_table
from .survey_findings import show_findings
from .table_console import NARROWEST, TableConsole

SETTINGS: Final = 6  # of the grid, the present and the recommended one among them
CARDS: Final = 8
BLAMED: Final = 6
NAMED: Final = 6  # questions that a document caused to fail
SIGNS: Final = {"now": "=", "take": ">", "no gain shown": "~", "worse": "-"}  # before a setting's name


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
    if by := words.marked_by(survey):
        parts.append(_said(f"{by[0].upper()}{by[1:]}.", "dim"))
    shown = list(_parts(survey))
    for name, lines in shown:
        parts += [Text(), _said(words.TITLES[name], "bold"), *lines]
    if not shown:
        parts += [Text(), _said("There is nothing to say of the parts that were looked at.")]
    concluded = list(conclusions(survey))
    if concluded:
        parts += [Text(), _said("In short", "bold"), *(_item(sentence) for sentence in concluded)]
    return Group(*parts, *([Text(), _said(where, "dim")] if where else []))


def _parts(survey: Survey) -> Iterator[tuple[str, list[RenderableType]]]:
    asked = {one.key: one.text for one in survey.questions}
    if survey.grid is not None:
        yield "grid", list(_grid(survey.grid, survey.metric))
    if survey.gaps.findings:
        yield "gaps", list(show_findings(survey.gaps.findings, asked))
    if survey.documents:
        yield "documents", list(_cards(survey.documents, words.is_read(survey)))
    if survey.blame is not None:
        yield "blame", list(_blame(survey.blame))
    if survey.inside:
        yield "inside", list(show_findings(survey.inside, asked))
    if survey.against is not None:
        yield "against", list(_against(survey.against))
    if survey.audit is not None and (audited := list(_audit(survey.audit, asked))):
        yield "audit", audited


def _grid(grid: Grid, metric: str) -> Iterator[RenderableType]:
    yield _said(f"{grid.metric} of {words.gold_of_grid(grid)}", "dim")
    table = plain_table("", "mean", "against now", "tokens", "ms", first=_name_width(44))
    for place, result in words.best_settings(grid, SETTINGS):
        table.add_row(_name(grid, place), *_figures(grid, result))
    yield table
    yield _item(f"{_legend(grid)} {words.about_means(grid)}".rstrip(), "dim")
    if grid.recommendation is not None:
        yield _item(grid.recommendation.why)
    if beyond := beyond_budget(grid):
        yield _item(beyond)
    if grid.bot and any(result.answers for result in grid.settings):
        yield _said(f"Answers of {grid.bot} with the best few", "dim")
        yield _answers(grid, metric)


def _name(grid: Grid, place: int) -> Text:
    mark = words.mark(grid, place)
    return Text(printable(f"{SIGNS.get(mark, ' ')} {grid.names[place]}"), style="bold" if mark else "")


def _legend(grid: Grid) -> str:
    """What the signs and the figures of the table mean."""
    found = grid.recommendation
    chosen = "" if found is None or found.says == "present" else words.MARKS.get(found.says, "")
    says = {"take": "the one to take", "no gain shown": "chosen, but no gain is shown", "worse": "chosen, but worse"}
    signs = f"= as it is set now{f'; {SIGNS[chosen]} {says[chosen]}' if chosen else ''}"
    meaning = f"; {grid.metric}: {said}" if (said := meanings.OF_SETTINGS.get(grid.metric)) else ""
    return f"{signs}{meaning}; tokens: of the retrieved text; ms: to retrieve it."


def _figures(grid: Grid, result: SettingResult) -> Iterator[str]:
    yield share(result.metrics.get(grid.metric))
    yield change(result.against[grid.metric]) if grid.metric in result.against else ""
    tokens = result.metrics.get("prompt_tokens")
    yield "-" if tokens is None else f"{tokens.mean:.0f}"
    yield "-" if result.retrieve_ms is None else f"{result.retrieve_ms[0]:.1f}"


def _answers(grid: Grid, metric: str) -> Table:
    """As many metrics as there is room for, first the one that says whether an answer is right."""
    measured = [(place, result) for place, result in words.best_settings(grid, len(grid.settings)) if result.answers]
    names = sorted(dict.fromkeys(name for _, result in measured for name in result.answers), key=metric.__ne__)
    room = NARROWEST - 2 - max(len(grid.names[place]) + 2 for place, _ in measured)
    shown = names[:1]
    for name in names[1:]:
        if sum(_width(each) for each in (*shown, name)) <= room:
            shown.append(name)
    table = plain_table("", *shown, first=_name_width(sum(map(_width, shown))))
    for place, result in measured:
        table.add_row(_name(grid, place), *(share(result.answers.get(name)) for name in shown))
        if result.answers_against:
            changes = (result.answers_against.get(name) for name in shown)
            table.add_row(Text("    against now"), *("" if found is None else change(found) for found in changes))
    return table


def _width(heading: str) -> int:
    """Of a column of shares and their changes."""
    return max(len(heading), len("-0.00 [-.00, .00]")) + 2


def _name_width(others: int) -> int:
    """Columns for names beside figures of so many."""
    return max(24, NARROWEST - others)


def _cards(cards: Sequence[DocumentCard], is_read: bool) -> Iterator[RenderableType]:
    asked = any(card.caused is not None for card in cards)
    of_answers = ("answers", "wrong", *(("caused", "carried") if asked else ()), "tokens")
    headings = ("holds", "only", *(of_answers if is_read else ("passages", "characters")))
    table = plain_table("", *headings, first=30)
    for card in cards[:CARDS]:
        figures = _use(card, asked) if is_read else (f"{card.passages:,}", f"{card.characters:,}")
        table.add_row(printable(card.document), str(len(card.questions)), str(len(card.only_support)), *figures)
    yield table
    yield _item(_legend_of_cards(is_read, asked), "dim")
    noted: dict[str, list[str]] = {}
    for card in cards[:CARDS] if is_read else ():
        for note in words.card_notes(card):
            noted.setdefault(note, []).append(card.document)
    for note, documents in noted.items():
        yield _item(f"{note[0].upper()}{note[1:]}: {', '.join(documents)}.")
    if len(cards) > CARDS:
        yield _item(f"... and {count(len(cards) - CARDS, 'more document')}", "dim")


def _use(card: DocumentCard, asked: bool) -> Iterator[str]:
    """What answers did with a document."""
    yield str(card.retrieved)
    yield str(card.wrong) if card.marked else "-"
    if asked:
        yield _known(card.caused)
        yield _known(card.carried)
    yield f"{card.tokens:,}"


def _legend_of_cards(is_read: bool, asked: bool) -> str:
    used = (("answers", meanings.OF_ANSWERS["answers"]), ("wrong", "those of them that are wrong"))
    told = (
        ("holds", meanings.HOLDS), ("only", meanings.ONLY), *(used if is_read else ()),
        *(meanings.OF_BLAME.items() if is_read and asked else ()),
        *((("tokens", meanings.OF_ANSWERS["tokens"]),) if is_read else ()),
    )  # fmt: skip
    return f"{'; '.join(f'{name}: {said}' for name, said in told if name not in ('effect', 'tried'))}."


def _known(value: int | None) -> str:
    return "-" if value is None else str(value)


def _blame(blame: Blame) -> Iterator[RenderableType]:
    yield _said(words.about_blame(blame), "dim")
    for cause, number in words.causes(blame):
        yield _item(f"{number}: {words.CAUSES[cause]}")
    if moved := words.moved(blame):
        table = plain_table("", "caused", "carried", "effect", "tried", first=36)
        for one in moved[:BLAMED]:
            effect = "-" if one.effect is None else f"{one.effect:+.2f}"
            table.add_row(printable(one.document), str(len(one.caused)), str(len(one.carried)), effect, str(one.tried))
        yield table
        yield _item(f"effect: {meanings.OF_BLAME['effect']}.", "dim")
        if len(moved) > BLAMED:
            yield _item(f"... and {count(len(moved) - BLAMED, 'more document')}", "dim")
        if moved[0].caused:
            keys = list(dict.fromkeys(question for _, question in moved[0].caused))
            more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
            yield _item(f"{moved[0].document} caused wrong answers to {', '.join(keys[:NAMED])}{more}.")


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


def _audit(audit: Audit, asked: Mapping[str, str]) -> Iterator[RenderableType]:
    yield from show_findings(audit.findings, asked)
    for sentence in (words.about_telling(audit), words.about_subset(audit)):
        if sentence:
            yield _item(sentence)


def _said(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")


def _item(text: str, style: str = "") -> Padding:
    return Padding(_said(text, style), (0, 0, 0, 2))
