"""Comparison table: head against base for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.align import VerticalAlignMethod
from rich.cells import cell_len, set_cell_size
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.comparing import comparison_words as words
from ...reports.comparing.changed_rows import ChangedRow, ChangedRows
from ...reports.comparing.comparison import Comparison, Described
from ...reports.comparing.metric_comparison import ALPHA, MetricComparison
from ...reports.leaderboard import ARROWS, figure
from ...reports.markdown_text import one_line
from ...reports.printable import printable
from ...reports.summary import MetricColumn

STYLES: Final = {"better": "bold green", "worse": "bold red", "other": "bold", "open": "bold"}
WIDTHS: Final = (21, 8, 8, 18, 6, 5, 8)  # name, base, head, difference, p, effect, wins/ties/losses
NAME_WIDTH: Final = 12  # cells of a bot's name in a table's heading
MOST_LINES: Final = 8  # of a section; the rest are in --json
LONGEST: Final = 140  # characters of an answer


def comparison_table(comparison: Comparison) -> RenderableType:
    """What is compared, what came out metric by metric, latency, what changed most, and what is not compared."""
    parts: list[RenderableType] = [*_head(comparison)]
    if not comparison.same_answers:
        parts += [*_metrics(comparison), *_latency(comparison), *_legend(comparison), *_noise(comparison)]
        for rows in comparison.rows:
            parts += _rows(rows, comparison)
    parts += _section("Missing values", [Text(printable(note)) for note in words.missing_notes(comparison)])
    parts += _section("Not compared", [*_refused(comparison)])
    parts += _section("Mind", [Text(printable(warning)) for warning in comparison.warnings])
    return Group(*parts)


def _head(comparison: Comparison) -> Iterator[Text]:
    base, head = comparison.base, comparison.head
    title = Text(printable(head.suite), style="bold", overflow="fold")
    against = f"{head.bot} in two runs" if base.bot == head.bot else f"{base.name} against {head.name}"
    yield title.append(printable(f": {against}"), style="not bold")
    same_run = f", run {head.run}{_status(head)}" if base.run == head.run else ""
    yield Text(printable(f"{words.asked(comparison)}{same_run}"), style="dim", overflow="fold")
    if not same_run:
        for side in (base, head):
            yield Text(printable(f"  {side.name}: run {side.run}{_status(side)}"), style="dim", overflow="fold")
    if comparison.changes:
        yield Text(printable(f"changed: {'; '.join(comparison.changes)}"), overflow="fold")
    if told := words.about_primary(comparison):
        yield Text(printable(told), overflow="fold")
    kinds = {kind for kind, _, _ in words.groups(comparison)} & {"better", "worse"}
    style = STYLES[kinds.pop()] if len(kinds) == 1 else "bold"
    yield Text(printable(words.headline(comparison)), style=style, overflow="fold")


def _status(side: Described) -> str:
    return "" if side.status == "finished" else f" ({side.status})"


def _metrics(comparison: Comparison) -> Iterator[RenderableType]:
    """The metrics by what became of them; each group is a table of its own, with the same widths."""
    if not comparison.metrics:
        return
    names = [_heading(side.name, WIDTHS[1]) for side in (comparison.base, comparison.head)]
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
    yield Text(figure(found.base_mean, column))
    yield Text(figure(found.head_mean, column))
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
    for place, (name, base, head, ratio, tested) in enumerate(words.latency_lines(found)):
        p_text = Text(f"{tested} " if tested else "")
        table.add_row(f"latency {name}" if not place else f"        {name}", base, head, ratio, p_text)
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
    base, head = comparison.base.name, comparison.head.name
    column = next(each.column for each in comparison.metrics if each.column.name == rows.metric)
    for word, found in (("lost", rows.losses), ("gained", rows.gains)):
        if not found:
            continue
        yield Text()
        yield Text(printable(f"Where {head} {word} most, by {rows.metric}"), style="bold")
        for row in found:
            yield from _row(row, column, base, head)


def _row(row: ChangedRow, column: MetricColumn, base: str, head: str) -> Iterator[RenderableType]:
    title = Text(f"  {one_line(row.key, 40)}", style="bold", overflow="fold")
    title.append(f"  {figure(row.base_value, column)} → {figure(row.head_value, column)}", style="not bold")
    if row.flip is not None:
        style = "not bold green" if row.flip == "fail_to_pass" else "not bold red"
        title.append(words.flip_words(row.flip), style=style)
    yield title
    yield Padding(Text(one_line(row.text, LONGEST)), (0, 0, 0, 4), expand=False)
    for name, answer in ((base, row.base_answer), (head, row.head_answer)):
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
