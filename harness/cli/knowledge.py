"""``knowledge``: which documents help or mislead, what is missing, and how to split and search them."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TextIO

import typer
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ... import InputError
from ...reports.analysis import messages as words
from ...reports.analysis.findings import (
    Ablations,
    ConfigurationResult,
    DatasetQuality,
    DocumentChanges,
    DocumentSummary,
    Finding,
    Grid,
    Kind,
    KnowledgeAnalysis,
)
from ...reports.analysis.messages import beyond_budget, conclusions
from ...reports.compare.messages import change, share
from ...reports.leaderboard import count
from ...reports.markdown_text import one_line
from ...reports.text import printable
from .console import NARROWEST, TableConsole
from .console import grid as plain_table
from .conventions import (
    DONE,
    STOPPED,
    UNABLE,
    Database,
    DryRun,
    Json,
    Judge,
    JudgeUrl,
    LocalModel,
    complain,
    interruptible,
    judge_fit,
    say,
)

if TYPE_CHECKING:
    from ..analysis.analysis import AnalysisOptions


FINDINGS: Final = 4  # of a kind
LONGEST: Final = 300  # characters of a sentence that quotes documents
ASKED: Final = 140  # characters of a question
STYLES: Final = {"high": "bold red", "medium": "yellow", "low": "dim"}


def show_findings(findings: Sequence[Finding], asked: Mapping[str, str]) -> Iterator[RenderableType]:
    """The worst findings of each kind, with the action, printed once if all share it.

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


SETTINGS: Final = 6  # of the grid, the present and the recommended one among them
CARDS: Final = 8
ATTRIBUTED: Final = 6
NAMED: Final = 6  # questions that a document caused to fail
SIGNS: Final = {"now": "=", "take": ">", "no gain shown": "~", "worse": "-"}  # before a setting's name


def show_analysis(analysis: KnowledgeAnalysis, stdout: TextIO, where: str = "") -> None:
    """Print the tables; warnings go to stderr.

    Args:
        analysis: what was found.
        stdout: where to.
        where: a last line that says where the results are stored.
    """
    for warning in analysis.warnings:
        sys.stderr.write(f"proctor: {printable(warning)}\n")
    TableConsole(stdout).print(analysis_table(analysis, where))


def analysis_table(analysis: KnowledgeAnalysis, where: str = "") -> RenderableType:
    """The tables part by part, then the conclusions, which end up next to the prompt."""
    parts: list[RenderableType] = [_paragraph(f"{analysis.suite}: {words.about(analysis)}", "bold")]
    if by := words.marked_by(analysis):
        parts.append(_paragraph(f"{by[0].upper()}{by[1:]}.", "dim"))
    shown = list(_parts(analysis))
    for name, lines in shown:
        parts += [Text(), _paragraph(words.TITLES[name], "bold"), *lines]
    if not shown:
        parts += [Text(), _paragraph("The analysed parts have no findings.")]
    concluded = list(conclusions(analysis))
    if concluded:
        parts += [Text(), _paragraph("In short", "bold"), *(_item(sentence) for sentence in concluded)]
    return Group(*parts, *([Text(), _paragraph(where, "dim")] if where else []))


def _parts(analysis: KnowledgeAnalysis) -> Iterator[tuple[str, list[RenderableType]]]:
    asked = {one.key: one.text for one in analysis.questions}
    if analysis.grid is not None:
        yield "grid", list(_grid(analysis.grid, analysis.metric))
    if analysis.gaps.findings:
        yield "gaps", list(show_findings(analysis.gaps.findings, asked))
    if analysis.documents:
        yield "documents", list(_cards(analysis.documents, words.is_read(analysis)))
    if analysis.attribution is not None:
        yield "attribution", list(_attribution(analysis.attribution))
    if analysis.document_quality:
        yield "document_quality", list(show_findings(analysis.document_quality, asked))
    if analysis.document_changes is not None:
        yield "document_changes", list(_against(analysis.document_changes))
    if analysis.dataset_quality is not None and (
        quality_checked := list(_dataset_quality(analysis.dataset_quality, asked))
    ):
        yield "dataset_quality", quality_checked


def _grid(grid: Grid, metric: str) -> Iterator[RenderableType]:
    yield _paragraph(f"{grid.metric} of {words.gold_of_grid(grid)}", "dim")
    table = plain_table("", "mean", "vs. current", "tokens", "ms", first=_name_width(44))
    for place, result in words.best_configurations(grid, SETTINGS):
        table.add_row(_name(grid, place), *_figures(grid, result))
    yield table
    yield _item(f"{_legend(grid)} {words.about_means(grid)}".rstrip(), "dim")
    if grid.recommendation is not None:
        yield _item(grid.recommendation.reason)
    if beyond := beyond_budget(grid):
        yield _item(beyond)
    if grid.bot and any(result.answers for result in grid.configurations):
        yield _paragraph(f"Answers of {grid.bot} with the best configurations", "dim")
        yield _answers(grid, metric)


def _name(grid: Grid, place: int) -> Text:
    mark = words.mark(grid, place)
    return Text(printable(f"{SIGNS.get(mark, ' ')} {grid.names[place]}"), style="bold" if mark else "")


def _legend(grid: Grid) -> str:
    """The legend of the table."""
    found = grid.recommendation
    chosen = "" if found is None or found.verdict == "current" else words.MARKS.get(found.verdict, "")
    says = {"take": "recommended", "no gain shown": "best, but no gain is shown", "worse": "best here, but worse"}
    signs = f"= the current configuration{f'; {SIGNS[chosen]} {says[chosen]}' if chosen else ''}"
    meaning = f"; {grid.metric}: {definition}" if (definition := words.RETRIEVAL_METRICS.get(grid.metric)) else ""
    return f"{signs}{meaning}; tokens: retrieved text; ms: retrieval time."


def _figures(grid: Grid, result: ConfigurationResult) -> Iterator[str]:
    yield share(result.metrics.get(grid.metric))
    yield change(result.differences[grid.metric]) if grid.metric in result.differences else ""
    tokens = result.metrics.get("prompt_tokens")
    yield "-" if tokens is None else f"{tokens.mean:.0f}"
    yield "-" if result.retrieve_ms is None else f"{result.retrieve_ms[0]:.1f}"


def _answers(grid: Grid, metric: str) -> Table:
    """The metrics that fit in 80 columns, first the one that decides whether an answer is right."""
    measured = [
        (place, result) for place, result in words.best_configurations(grid, len(grid.configurations)) if result.answers
    ]
    names = sorted(dict.fromkeys(name for _, result in measured for name in result.answers), key=metric.__ne__)
    room = NARROWEST - 2 - max(len(grid.names[place]) + 2 for place, _ in measured)
    shown = names[:1]
    for name in names[1:]:
        if sum(_width(each) for each in (*shown, name)) <= room:
            shown.append(name)
    table = plain_table("", *shown, first=_name_width(sum(map(_width, shown))))
    for place, result in measured:
        table.add_row(_name(grid, place), *(share(result.answers.get(name)) for name in shown))
        if result.answer_differences:
            changes = (result.answer_differences.get(name) for name in shown)
            table.add_row(Text("    vs. current"), *("" if found is None else change(found) for found in changes))
    return table


def _width(heading: str) -> int:
    """The width of a column of shares and changes."""
    return max(len(heading), len("-0.00 [-.00, .00]")) + 2


def _name_width(others: int) -> int:
    """The width left for names."""
    return max(24, NARROWEST - others)


def _cards(cards: Sequence[DocumentSummary], is_read: bool) -> Iterator[RenderableType]:
    asked = any(card.failures is not None for card in cards)
    of_answers = ("answers", "wrong", *(("failures", "successes") if asked else ()), "tokens")
    headings = ("gold", "only", *(of_answers if is_read else ("passages", "characters")))
    table = plain_table("", *headings, first=27)
    for card in cards[:CARDS]:
        figures = _use(card, asked) if is_read else (f"{card.passages:,}", f"{card.characters:,}")
        table.add_row(printable(card.document), str(len(card.questions)), str(len(card.only_support)), *figures)
    yield table
    yield _item(_legend_of_cards(is_read, asked), "dim")
    noted: dict[str, list[str]] = {}
    for card in cards[:CARDS] if is_read else ():
        for note in words.usage_notes(card):
            noted.setdefault(note, []).append(card.document)
    for note, documents in noted.items():
        yield _item(f"{note[0].upper()}{note[1:]}: {', '.join(documents)}.")
    if len(cards) > CARDS:
        yield _item(f"... and {count(len(cards) - CARDS, 'more document')}", "dim")


def _use(card: DocumentSummary, asked: bool) -> Iterator[str]:
    """How a document was used by answers."""
    yield str(card.retrieved)
    yield str(card.wrong) if card.graded else "-"
    if asked:
        yield _known(card.failures)
        yield _known(card.successes)
    yield f"{card.tokens:,}"


def _legend_of_cards(is_read: bool, asked: bool) -> str:
    used = (("answers", words.OF_ANSWERS["answers"]), ("wrong", "those of them that are wrong"))
    columns = (
        ("gold", words.HOLDS), ("only", words.ONLY), *(used if is_read else ()),
        *(words.OF_ATTRIBUTION.items() if is_read and asked else ()),
        *((("tokens", words.OF_ANSWERS["tokens"]),) if is_read else ()),
    )  # fmt: skip
    return f"{'; '.join(f'{name}: {text}' for name, text in columns if name not in ('effect', 'tried'))}."


def _known(value: int | None) -> str:
    return "-" if value is None else str(value)


def _attribution(attribution: Ablations) -> Iterator[RenderableType]:
    yield _paragraph(words.about_attribution(attribution), "dim")
    for cause, number in words.causes(attribution):
        yield _item(f"{number}: {words.CAUSES[cause]}")
    if moved := words.moved(attribution):
        table = plain_table("", "failures", "successes", "effect", "tried", first=36)
        for one in moved[:ATTRIBUTED]:
            effect = "-" if one.effect is None else f"{one.effect:+.2f}"
            table.add_row(
                printable(one.document), str(len(one.failures)), str(len(one.successes)), effect, str(one.tried)
            )
        yield table
        yield _item(f"effect: {words.OF_ATTRIBUTION['effect']}.", "dim")
        if len(moved) > ATTRIBUTED:
            yield _item(f"... and {count(len(moved) - ATTRIBUTED, 'more document')}", "dim")
        if moved[0].failures:
            keys = list(dict.fromkeys(question for _, question in moved[0].failures))
            more = f" and {len(keys) - NAMED} more" if len(keys) > NAMED else ""
            yield _item(f"{moved[0].document} caused wrong answers to {', '.join(keys[:NAMED])}{more}.")


def _against(against: DocumentChanges) -> Iterator[RenderableType]:
    for bot in against.bots:
        gained, lost = len(bot.gained), len(bot.lost)
        yield _item(f"{bot.bot}: {change(bot.difference)} {against.metric}, {gained} gained, {lost} lost")
    for edit in against.edits:
        if edit.gained or edit.lost:
            yield _item(f"{words.edit_text(edit)}: {len(edit.gained)} gained, {len(edit.lost)} lost")
    if quiet := sum(not edit.gained and not edit.lost for edit in against.edits):
        yield _item(f"{count(quiet, 'other edit')} changed no answer", "dim")
    if against.unexplained:
        yield _item(f"{count(len(against.unexplained), 'answer')} changed for no single edit", "dim")


def _dataset_quality(dataset_quality: DatasetQuality, asked: Mapping[str, str]) -> Iterator[RenderableType]:
    yield from show_findings(dataset_quality.findings, asked)
    for sentence in (words.about_informative(dataset_quality), words.about_subset(dataset_quality)):
        if sentence:
            yield _item(sentence)


def _paragraph(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style, overflow="fold")


def _item(text: str, style: str = "") -> Padding:
    return Padding(_paragraph(text, style), (0, 0, 0, 2))


Suite = Annotated[Path | None, typer.Argument(metavar="SUITE.yaml", help="The suite; by default the packaged sample.")]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="PART",
        help="Only this part: grid, gaps, documents, attribution, document_quality, dataset_quality. Repeatable.",
    ),
]
Asks = Annotated[
    bool, typer.Option("--answers/--no-answers", help="Ask bots, or only analyse documents and questions.")
]
Metric = Annotated[
    str | None, typer.Option("--metric", "-m", metavar="ID", help="The metric that decides whether an answer is right.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--grid", metavar="KEY=V,V", help="Configurations to compare, such as chunk_size=300,600. Repeatable."
    ),
]
AgainstFolder = Annotated[
    Path | None, typer.Option("--against", metavar="FOLDER", help="Documents to compare with, such as last month's.")
]
MostCalls = Annotated[
    int | None,
    typer.Option("--most-calls", min=0, metavar="N", help="Most new answers to attribute failures."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the analysis as a page as well.")]
Show = Annotated[
    str | None,
    typer.Option("--show", metavar="ANALYSIS", help="Show a stored analysis, by name or 'latest'; nothing is run."),
]
Concurrency = Annotated[int | None, typer.Option(min=1, metavar="N", help="Questions in flight per bot.")]


def knowledge(
    suite: Suite = None,
    only: Only = None,
    answers: Asks = True,
    metric: Metric = None,
    grid: Settings = None,
    against: AgainstFolder = None,
    most_calls: MostCalls = None,
    bots: Annotated[str, typer.Option(metavar="NAME,NAME", help="Only these bots.")] = "",
    limit: Limit = None,
    concurrency: Concurrency = None,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    dry_run: DryRun = False,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
    html: Html = None,
    show: Show = None,
) -> None:
    """Benchmark documents: which help or mislead, what is missing.

    And how to split and search them. Results are stored and shown on the page of the run.
    """
    from ..analysis.analysis import AnalysisOptions, named_parts
    from ..run.run_config import RunConfig

    if show is not None:
        _show_stored(show, database, as_json, html)
        return
    run = RunConfig(
        tuple(name.strip() for name in bots.split(",") if name.strip()), limit, concurrency=concurrency, judge=judge,
        judge_url=judge_url, local_models=tuple(local_model or ()), only_planned=dry_run,
    )  # fmt: skip
    options = AnalysisOptions(named_parts(only or []), answers, run, metric, tuple(grid or ()), against, most_calls)
    if dry_run:
        _show_dry_run(suite, options, database, as_json)
    else:
        _analysis(suite, options, database, as_json, html)


def _analysis(suite: Path | None, options: AnalysisOptions, database: Path, as_json: bool, html: Path | None) -> None:
    """Make an analysis and show it."""
    from ...reports.store.database import Store
    from ..analysis.analysis import analyse_suite
    from ..suite.suite_file import load_named
    from .console import own_stdout
    from .run import watching

    _check_page(html, database)
    with interruptible(STOPPED), judge_fit(), own_stdout() as stdout:
        loaded = load_named(suite)
        with contextlib.closing(Store.open(database)) as store:
            made = analyse_suite(loaded, options, store, os.environ, watching, say)
        _output(made.analysis, database, as_json, html, stdout)
    raise typer.Exit(UNABLE if made.is_incomplete else DONE)


def _show_stored(name: str, database: Path, as_json: bool, html: Path | None) -> None:
    """Show a stored analysis."""
    from ...reports.analysis.store import find_analysis
    from ...reports.store.database import Store
    from ...reports.store.run import LATEST
    from .console import own_stdout

    _check_page(html, database)
    with interruptible("Stopped."), own_stdout() as stdout:
        with contextlib.closing(Store.open(database, create=False)) as store:
            analysis = find_analysis(store, None if name == LATEST else name)
        if analysis is None:
            raise InputError(f"{database} has no analysis yet; 'proctor knowledge SUITE.yaml' makes one.")
        _output(analysis, database, as_json, html, stdout)


def _output(analysis: KnowledgeAnalysis, database: Path, as_json: bool, html: Path | None, stdout: TextIO) -> None:
    from ...reports.analysis.store import analysis_json
    from .console import write_bytes

    if as_json:
        for warning in analysis.warnings:
            complain(warning)
        write_bytes(analysis_json(analysis) + b"\n", stdout)
    else:
        shows = "'proctor report --open' shows it on the page of its run" if analysis.run else ""
        page = f"; {shows or '--html FILE writes it as a page'}" if html is None else ""
        show_analysis(analysis, stdout, f"Stored in {database} as analysis {analysis.analysis}{page}.")
    if html is not None:
        _write_page(analysis, database, html)


def _check_page(path: Path | None, database: Path) -> None:
    """Check that the page can be written, before anything is asked."""
    from .conventions import STDOUT, Wanted

    if path == STDOUT:
        raise InputError("--html takes a file name, not '-', since stdout has the tables.")
    Wanted(html=path).check({database.resolve(): "--db"})


def _write_page(analysis: KnowledgeAnalysis, database: Path, path: Path) -> None:
    """Write the page of the analysis's run, or of the analysis alone if it has no answers."""
    from ..api.results import KnowledgeReport

    KnowledgeReport(database, analysis).report(path)
    say(f"Wrote {path}: open it in any browser.")


def _show_dry_run(suite: Path | None, options: AnalysisOptions, database: Path, as_json: bool) -> None:
    """Print the cost estimate of an analysis; nothing is asked, loaded or stored."""
    from ..analysis.analysis import analysis_estimate
    from ..suite.suite_file import load_named
    from .console import own_stdout, write_json
    from .run import estimate_object, show_estimate

    with interruptible("Stopped."), own_stdout() as stdout:
        made = analysis_estimate(load_named(suite), options, database, os.environ)
        if as_json:
            write_json({**(estimate_object(made.run) if made.run else {}), "analysis": made.most}, stdout)
            return
        if made.run is not None:
            show_estimate(made.run, stdout, as_json)
        for sentence in made.sentences:
            stdout.write(f"{sentence}\n")
