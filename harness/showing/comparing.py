"""Showing comparisons: what ``compare`` prints, for people, for machines and for a pull request."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ... import InputError
from ...reports.comparing.compared_sides import Compared
from ...reports.comparing.comparison import Comparison
from ...reports.comparing.comparison_markdown import comparison_markdown
from ...reports.comparing.comparison_object import comparison_object
from ...reports.comparing.metric_comparison import MetricComparison
from ...reports.comparing.sides import find_file
from ...reports.printable import printable
from ...reports.whole_files import check_file, is_database, whole_file
from .comparison_table import comparison_table
from .streams import write_json
from .table_console import TableConsole

STDOUT = Path("-")
OPEN = "no difference shown"


@dataclass(frozen=True, slots=True)
class Shown:
    """What was typed, and how it is to be shown."""

    base: str
    head: str
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
            taken = files_of_sides(self.base, self.head) | {self.database.resolve(): "--db"}
            check_file(self.markdown, "--markdown", taken)


def files_of_sides(base: str, head: str) -> dict[Path, str]:
    """The files that sides name, resolved: no output may take their place."""
    named = ((find_file(base)[0], "the first side"), (find_file(head)[0], "the second side"))
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
        write_json(comparisons_object(found, shown.base, shown.head), stdout)
    elif shown.markdown == STDOUT:
        stdout.flush()
        stdout.buffer.write(comparisons_page(found).encode())
        stdout.buffer.flush()
    else:
        _print(found, shown, stdout)


def comparisons_object(found: Compared, base: str, head: str) -> dict[str, object]:
    """All comparisons for programs, with both sides as they were typed."""
    return {
        "base": base,
        "head": head,
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
    bots = [each.head.bot for each in comparisons if each.same_answers]
    if bots:
        runs = f"runs {comparisons[0].base.run} and {comparisons[0].head.run}"
        yield f"{', '.join(bots)}: the same kept answers in {runs}, so there is nothing to compare."


def _next(comparisons: list[Comparison], shown: Shown) -> Iterator[tuple[str, str]]:
    if not comparisons:
        return
    database = "" if shown.database == Path("proctor.db") else f" --db {shlex.quote(str(shown.database))}"
    again = f"proctor compare {shlex.quote(shown.base)} {shlex.quote(shown.head)}{database}"
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
    base, head = comparison.base, comparison.head
    run = f"{head.origin}:{head.run}" if is_database(Path(head.origin)) else head.origin
    if (base.origin, base.run) == (head.origin, head.run):
        side = f"{shlex.quote(run)} --bot {shlex.quote(head.bot)}"
    else:
        side = shlex.quote(f"{run}:{head.bot}")
    return f"proctor plan {side} --metric {shlex.quote(metric.column.name)} --delta {_worth_showing(metric)}"


def _worth_showing(metric: MetricComparison) -> str:
    """Five hundredths of the scale; of a metric without an end, a tenth of what it was."""
    low, high = metric.column.low, metric.column.high
    worth = abs(metric.base_mean) / 10 if low is None or high is None else 0.05 * (high - low)
    return f"{worth or 0.05:.1g}"
