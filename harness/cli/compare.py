"""``compare``: whether bot or run B is better than A."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer
from rich.align import VerticalAlignMethod
from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ... import InputError
from ...reports.compare import messages as words
from ...reports.compare.changes import ChangedRow, ChangedRows
from ...reports.compare.comparison import ALPHA, Asked, Compared, Comparison, Described, MetricComparison, compare_bots
from ...reports.compare.operands import Operand, find_file, open_operand
from ...reports.export.comparison import comparison_markdown, comparison_object
from ...reports.files import check_file, is_database, whole_file
from ...reports.leaderboard import ARROWS, figure
from ...reports.markdown_text import one_line
from ...reports.summary import MetricColumn
from ...reports.text import printable
from .console import TableConsole, write_json
from .conventions import Database, Json, interruptible

STYLES: Final = {"better": "bold green", "worse": "bold red", "other": "bold", "open": "bold"}
WIDTHS: Final = (20, 8, 9, 18, 6, 5, 8)  # name, baseline, candidate, difference, p, effect, wins/ties/losses
NAME_WIDTH: Final = 12  # cells of a bot's name in a table's heading
MOST_LINES: Final = 8  # of a section; the rest are in --json
LONGEST: Final = 140  # characters of an answer


def comparison_table(comparison: Comparison) -> RenderableType:
    """What is compared, what came out metric by metric, latency, what changed most, and what is not compared."""
    parts: list[RenderableType] = [*_candidate(comparison)]
    if not comparison.same_answers:
        parts += [*_metrics(comparison), *_latency(comparison), *_legend(comparison), *_noise(comparison)]
        for rows in comparison.rows:
            parts += _rows(rows, comparison)
    parts += _section("Missing values", [Text(printable(note)) for note in words.missing_notes(comparison)])
    parts += _section("Not compared", [*_refused(comparison)])
    parts += _section("Mind", [Text(printable(warning)) for warning in comparison.warnings])
    return Group(*parts)


def _candidate(comparison: Comparison) -> Iterator[Text]:
    baseline, candidate = comparison.baseline, comparison.candidate
    title = Text(printable(candidate.suite), style="bold", overflow="fold")
    against = (
        f"{candidate.bot} in two runs" if baseline.bot == candidate.bot else f"{baseline.name} against {candidate.name}"
    )
    yield title.append(printable(f": {against}"), style="not bold")
    same_run = f", run {candidate.run}{_status(candidate)}" if baseline.run == candidate.run else ""
    yield Text(printable(f"{words.asked(comparison)}{same_run}"), style="dim", overflow="fold")
    if not same_run:
        for operand in (baseline, candidate):
            yield Text(
                printable(f"  {operand.name}: run {operand.run}{_status(operand)}"), style="dim", overflow="fold"
            )
    if comparison.changes:
        yield Text(printable(f"changed: {'; '.join(comparison.changes)}"), overflow="fold")
    if notify := words.about_primary(comparison):
        yield Text(printable(notify), overflow="fold")
    kinds = {kind for kind, _, _ in words.groups(comparison)} & {"better", "worse"}
    style = STYLES[kinds.pop()] if len(kinds) == 1 else "bold"
    yield Text(printable(words.headline(comparison)), style=style, overflow="fold")


def _status(operand: Described) -> str:
    return "" if operand.status == "finished" else f" ({operand.status})"


def _metrics(comparison: Comparison) -> Iterator[RenderableType]:
    """The metrics by what became of them; each group is a table of its own, with the same widths."""
    if not comparison.metrics:
        return
    names = [
        _heading(operand.name, width)
        for operand, width in zip((comparison.baseline, comparison.candidate), WIDTHS[1:3], strict=True)
    ]
    p_title = "p Holm" if comparison.correct == "holm" else "p BH"
    header = _grid("bottom")
    header.add_row(*(Text(title, style="dim") for title in ("", *names, "difference", p_title, "d_z", "w/t/l")))
    yield Text()
    yield header
    for kind, heading, found in words.groups(comparison):
        yield Text(printable(heading), style=STYLES[kind])
        table = _grid()
        for each in found:
            table.add_row(*_cells(each, comparison, kind))
        yield table


def _grid(vertical: VerticalAlignMethod = "top") -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, show_header=False)
    for place, width in enumerate(WIDTHS):
        table.add_column(
            width=width, justify="left" if place in (0, 3) else "right", overflow="fold", vertical=vertical
        )
    return table


def _cells(found: MetricComparison, comparison: Comparison, kind: str) -> Iterator[Text]:
    difference, column = found.difference, found.column
    yield Text("\n".join(broken(f"{column.name} {ARROWS[column.better]}".rstrip(), WIDTHS[0])))
    yield Text(figure(found.baseline_mean, column))
    yield Text(figure(found.candidate_mean, column))
    shown = Text(words.signed(difference.mean, column), style="" if kind == "open" else STYLES[kind])
    yield shown.append(f" {words.interval(difference.low, difference.high, column)}", style="not bold default")
    adjusted = found.adjusted(comparison.correct)
    yield Text(f"{words.p_value(adjusted)}{'*' if adjusted is not None and adjusted <= ALPHA else ' '}")
    yield Text("-" if difference.effect is None else f"{difference.effect:.2f}")
    counts = "/".join(map(str, found.wins_ties_losses))
    yield Text(counts if len(counts) <= WIDTHS[-1] else counts.replace("/", "/\n"))


def broken(name: str, width: int) -> list[str]:
    """A metric's name, indented, in lines of a width, which end after a dot or an underscore where that can be.

    >>> broken("tokens_presence.passes", 20)
    ['  tokens_presence.', '    passes']
    """
    lines, rest = [], f"  {printable(name)}"
    while cell_len(rest) > width:
        end = 1 + max(rest.rfind(mark, 4, width) for mark in "._ ")
        end = end or width
        lines.append(rest[:end].rstrip())
        rest = f"    {rest[end:]}"
    return [*lines, rest]


def _short(name: str, width: int) -> str:
    """A name in as many cells as there are."""
    shown = printable(name)
    return shown if cell_len(shown) <= width else f"{set_cell_size(shown, width - 1).rstrip()}…"


def _heading(name: str, width: int) -> str:
    """A name above a column: in two lines where it can be broken, else cut short."""
    shown = printable(name)
    end = 1 + max(shown.rfind(mark, 0, width) for mark in "._- ")
    if cell_len(shown) <= width or not end:
        return _short(name, width)
    return f"{shown[:end].rstrip()}\n{_short(shown[end:], width)}"


def _latency(comparison: Comparison) -> Iterator[RenderableType]:
    found = comparison.latency
    if found is None:
        return
    yield Text()
    table = _grid()
    for place, (name, baseline, candidate, ratio, tested) in enumerate(words.latency_lines(found)):
        p_text = Text(f"{tested} " if tested else "")
        table.add_row(f"latency {name}" if not place else f"        {name}", baseline, candidate, ratio, p_text)
    yield table
    if note := words.latency_note(comparison):
        yield Text(printable(note), style="dim", overflow="fold")


def _legend(comparison: Comparison) -> Iterator[Text]:
    yield Text()
    for sentence in words.legend(comparison):
        yield Text(printable(sentence), style="dim", overflow="fold")


def _noise(comparison: Comparison) -> Iterator[RenderableType]:
    """Where the spread comes from; one sentence where no answer ever varied."""
    lines = list(words.noise_lines(comparison.metrics))
    if not lines:
        return
    yield Text()
    if not words.varied(comparison.metrics):
        yield Text(words.STEADY, overflow="fold")
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    for place, title in enumerate(("noise from", *words.NOISE.values(), "2 x questions", "2 x repeats")):
        table.add_column(Text(title, style="dim"), justify="right" if place else "left", no_wrap=True)
    for name, shares, questions, repeats in lines:
        table.add_row("\n".join(broken(name, WIDTHS[0])), *shares, questions, repeats)
    yield table
    yield Text(words.about_noise(comparison.metrics), style="dim", overflow="fold")


def _rows(rows: ChangedRows, comparison: Comparison) -> Iterator[RenderableType]:
    baseline, candidate = comparison.baseline.name, comparison.candidate.name
    column = next(each.column for each in comparison.metrics if each.column.name == rows.metric)
    for word, found in (("lost", rows.losses), ("gained", rows.gains)):
        if not found:
            continue
        yield Text()
        yield Text(printable(f"Where {candidate} {word} most, by {rows.metric}"), style="bold")
        for row in found:
            yield from _row(row, column, baseline, candidate)


def _row(row: ChangedRow, column: MetricColumn, baseline: str, candidate: str) -> Iterator[RenderableType]:
    title = Text(f"  {one_line(row.key, 40)}", style="bold", overflow="fold")
    title.append(f"  {figure(row.baseline_value, column)} → {figure(row.candidate_value, column)}", style="not bold")
    if row.flip is not None:
        style = "not bold green" if row.flip == "fail_to_pass" else "not bold red"
        title.append(words.flip_words(row.flip), style=style)
    yield title
    yield Padding(Text(one_line(row.text, LONGEST)), (0, 0, 0, 4), expand=False)
    for name, answer in ((baseline, row.baseline_answer), (candidate, row.candidate_answer)):
        said = Text(f"{_short(name, NAME_WIDTH)}: ", style="dim")
        said.append("no answer" if answer is None else one_line(answer, LONGEST) or "(blank)", style="not dim")
        yield Padding(said, (0, 0, 0, 4), expand=False)


def _shortened(lines: Sequence[Text], most: int) -> list[Text]:
    more = len(lines) - most
    return [*lines[:most], Text(f"and {more} more, in --json", style="dim")] if more > 0 else [*lines]


def _refused(comparison: Comparison) -> Iterator[Text]:
    for names, why in words.refused_groups(comparison):
        yield Text(printable(names), style="bold").append(printable(f": {why}"), style="not bold")


def _section(title: str, lines: Sequence[Text]) -> Iterator[RenderableType]:
    if lines:
        yield Text()
        yield Text(title, style="bold")
        yield from (Padding(line, (0, 0, 0, 2), expand=False) for line in _shortened(lines, MOST_LINES))


STDOUT = Path("-")
OPEN = "no difference shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """What was typed, and how it is to be shown."""

    baseline: str
    candidate: str
    database: Path
    as_json: bool = False
    markdown: Path | None = None

    def check(self) -> None:
        """See that everything can be written, before anything is compared.

        Raises:
            InputError: the page can't be written, or would take the place of what is compared, or of the JSON.
        """
        if self.as_json and self.markdown == STDOUT:
            raise InputError("--json and --markdown - both want stdout; give one of them a file.")
        if self.markdown is not None and self.markdown != STDOUT:
            taken = files_of_operands(self.baseline, self.candidate) | {self.database.resolve(): "--db"}
            check_file(self.markdown, "--markdown", taken)


def files_of_operands(baseline: str, candidate: str) -> dict[Path, str]:
    """The files that sides name, resolved: no output may take their place."""
    named = ((find_file(baseline)[0], "the first side"), (find_file(candidate)[0], "the second side"))
    return {path.resolve(): what for path, what in named if path is not None}


def show_comparisons(found: Compared, shown: Shown, stdout: TextIO) -> None:
    """Print the comparisons; a page that is wanted is written beside, or printed in their stead for ``-``.

    Raises:
        InputError: the page can't be written.
    """
    if shown.markdown is not None and shown.markdown != STDOUT:
        with whole_file(shown.markdown) as file:
            file.write(comparisons_page(found).encode())
        sys.stderr.write(f"Wrote {printable(str(shown.markdown))}.\n")
    if shown.as_json:
        write_json(comparisons_object(found, shown.baseline, shown.candidate), stdout)
    elif shown.markdown == STDOUT:
        stdout.flush()
        stdout.buffer.write(comparisons_page(found).encode())
        stdout.buffer.flush()
    else:
        _print(found, shown, stdout)


def comparisons_object(found: Compared, baseline: str, candidate: str) -> dict[str, object]:
    """All comparisons for programs, with both sides as they were typed."""
    return {
        "baseline": baseline,
        "candidate": candidate,
        "comparisons": [comparison_object(each) for each in found.comparisons],
        "left_out": list(found.left_out),
    }


def comparisons_page(found: Compared) -> str:
    """The Markdown of all comparisons, one after the other."""
    return "\n".join(comparison_markdown(each) for each in found.comparisons)


def _print(found: Compared, shown: Shown, stdout: TextIO) -> None:
    console = TableConsole(stdout)
    changed = [each for each in found.comparisons if not each.same_answers]
    for place, each in enumerate(changed):
        if place:
            console.print(f"\n{'─' * console.width}\n")
        console.print(comparison_table(each))
    left_out = [*_unchanged(found.comparisons), *found.left_out]
    if left_out and changed:
        console.print()
    for sentence in left_out:
        console.print(printable(sentence), soft_wrap=True)
    for place, (command, purpose) in enumerate(_next(changed, shown)):
        if not place:
            console.print("\nNext:")
        console.print(f"  {printable(command)}\n      {purpose}", soft_wrap=True)


def _unchanged(comparisons: tuple[Comparison, ...]) -> Iterator[str]:
    bots = [each.candidate.bot for each in comparisons if each.same_answers]
    if bots:
        runs = f"runs {comparisons[0].baseline.run} and {comparisons[0].candidate.run}"
        yield f"{', '.join(bots)}: the same cached answers in {runs}, so there is nothing to compare."


def _next(comparisons: list[Comparison], shown: Shown) -> Iterator[tuple[str, str]]:
    if not comparisons:
        return
    database = "" if shown.database == Path("proctor.db") else f" --db {shlex.quote(str(shown.database))}"
    again = f"proctor compare {shlex.quote(shown.baseline)} {shlex.quote(shown.candidate)}{database}"
    shown_rows = [rows.metric for comparison in comparisons for rows in comparison.rows]
    if shown_rows:
        yield f"{again} -m {shown_rows[0]} --flips 20", "more of the questions on which they differ"
    undecided = [
        (each.difference.p_value or 0, place, each)
        for place, comparison in enumerate(comparisons)
        for each in comparison.metrics
        if each.column.better != "neither" and each.verdict == OPEN
    ]
    if undecided:
        _, place, metric = min(undecided, key=lambda each: (*each[:2], each[2].column.name))
        yield _plan(comparisons[place], metric), "how many questions would show a difference"
    yield f"{again} --markdown compare.md", "the same, for a pull request"


def _plan(comparison: Comparison, metric: MetricComparison) -> str:
    """What to type for the pair of bots; of two runs, for the bot alone, as the pairs of one run are others."""
    baseline, candidate = comparison.baseline, comparison.candidate
    run = f"{candidate.origin}:{candidate.run}" if is_database(Path(candidate.origin)) else candidate.origin
    if (baseline.origin, baseline.run) == (candidate.origin, candidate.run):
        operand = f"{shlex.quote(run)} --bot {shlex.quote(candidate.bot)}"
    else:
        operand = shlex.quote(f"{run}:{candidate.bot}")
    return f"proctor plan {operand} --metric {shlex.quote(metric.column.name)} --delta {_worth_showing(metric)}"


def _worth_showing(metric: MetricComparison) -> str:
    """Five hundredths of the scale; of a metric without an end, a tenth of what it was."""
    low, high = metric.column.low, metric.column.high
    worth = abs(metric.baseline_mean) / 10 if low is None or high is None else 0.05 * (high - low)
    return f"{worth or 0.05:.1g}"


def two_operands(baseline: str | None, candidate: str | None, database: Path) -> tuple[str, str]:
    """Both sides as they were typed.

    Raises:
        InputError: one is missing; the sentence has an example, with bots of the latest run where there is one.
    """
    if baseline and candidate:
        return baseline, candidate
    one, other = _example(baseline, database)
    given = f"Only one side was given, {baseline}." if baseline else "Two sides are wanted."
    raise InputError(
        f"{given} Name both, such as: proctor compare {one} {other}. "
        "A side is a bot of the latest run, RUN:BOT, 'previous', 'latest', or a file."
    )


def _example(baseline: str | None, database: Path) -> tuple[str, str]:
    bots: list[str] = []
    if database.is_file():
        with contextlib.suppress(InputError), open_operand("latest", database) as operand:
            bots = list(operand.run.tables)
    others = [bot for bot in bots if bot != baseline]
    if baseline in bots and others:
        return str(baseline), others[0]
    if len(bots) > 1 and not baseline:
        return bots[0], bots[1]
    return ("previous", "latest") if not baseline or baseline == "latest" else (baseline, "latest")


@contextlib.contextmanager
def opened_operands(first: str, second: str, database: Path) -> Iterator[tuple[Operand, Operand]]:
    """Both sides, open until the block ends.

    Raises:
        InputError: a side is not there.
    """
    with open_operand(first, database) as baseline, open_operand(second, database) as candidate:
        yield baseline, candidate


def compared(baseline: Operand, candidate: Operand, bots: tuple[str, ...], asked: Asked) -> Compared:
    """The comparison of two open sides.

    Raises:
        InputError: nothing at all can be compared.
    """
    found = compare_bots(baseline, candidate, bots, asked)
    if not found.comparisons:
        raise InputError(" ".join(found.refused.values()))
    return found


class Correct(StrEnum):
    """How p values are corrected over the metrics."""

    HOLM = "holm"
    BH = "bh"


def compare(
    baseline: Annotated[
        str | None,
        typer.Argument(
            metavar="A",
            help="BOT, RUN[:BOT], latest, previous, FILE.db[:RUN][:BOT], BASE.json[:BOT].",
        ),
    ] = None,
    candidate: Annotated[str | None, typer.Argument(metavar="B", help="Likewise; B is compared with A.")] = None,
    database: Database = Path("proctor.db"),
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="Only this metric or family. Repeatable.")
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(metavar="WAY", help="Cluster questions by source (document), tag, tag:PREFIX, or none."),
    ] = "source",
    correct: Annotated[
        Correct, typer.Option(help="Correction of p values over the metrics: Holm or Benjamini-Hochberg.")
    ] = Correct.HOLM,
    bot: Annotated[
        list[str] | None, typer.Option("--bot", metavar="NAME", help="Compare only this bot of two runs. Repeatable.")
    ] = None,
    flips: Annotated[int, typer.Option("--flips", min=0, metavar="N", help="Show N rows that changed most.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The random seed.")] = 0,
    as_json: Json = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
    ] = None,
) -> None:
    """Compare two bots or runs: is B better than A?

    Paired by question: difference, interval, test, latency. Nothing is asked.
    """
    from ...reports.compare.comparison import Asked
    from ..api.results import compare_asked
    from .console import own_stdout

    first, second = two_operands(baseline, candidate, database)
    asked = Asked(tuple(metric or ()), cluster, correct.value, flips, as_json, seed)
    shown = Shown(first, second, database, as_json, markdown)
    shown.check()
    with interruptible("Stopped. Nothing was written."), own_stdout() as stdout:
        show_comparisons(compare_asked(first, second, database, asked, tuple(bot or ())).compared, shown, stdout)
