"""Check table: how a judge did on known cases, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.leaderboard import count, milliseconds
from ...reports.printable import printable
from ..trust.check_report import CheckReport, Said, Tally

MOST_WRONG = 8  # wrong verdicts that are shown; the rest are in --json
LONGEST = 300  # characters of a text or reply
COLUMNS = ("all", "good", "bad", "hostile")


def check_table(report: CheckReport) -> RenderableType:
    """The verdict on the judge, a line for each kind of call, what sways it, what it took, and where it was wrong."""
    parts: list[RenderableType] = [_head(report), Text()]
    if report.plain:
        parts += [_by_kind(report), Text(), _swayed(report), Text()]
    parts += [Text(line, overflow="fold") for line in _left_out(report)]
    parts += _wrong(report)
    return Group(*parts)


def _head(report: CheckReport) -> Text:
    text = Text(overflow="fold")
    text.append(printable(report.name), style="bold")
    if report.accuracy is None:
        return text.append(": nothing that it can grade was asked, so nothing is known of it")
    cases = len({(one.canary.kind, one.canary.id) for one in report.plain})
    times = "once" if report.floors.repeats == 1 else f"{report.floors.repeats} times"
    text.append(f" on {count(cases, 'case')}, each {times}: ")
    verdict, style = ("failed", "bold red") if report.missed else ("passed", "bold green")
    text.append(verdict, style=style)
    text.append(f"\naccuracy {report.accuracy:.2f}, wanted {report.floors.accuracy:g}")
    if report.hostile is not None:
        text.append(f"; on hostile cases {report.hostile:.2f}, wanted {report.floors.hostile:g}")
    return text


def _by_kind(report: CheckReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("right verdicts", header_style="dim")
    for name in COLUMNS:
        table.add_column(name, justify="right", header_style="dim")
    for kind, tallies in report.by_kind.items():
        table.add_row(kind, *(_of(tallies[name]) for name in COLUMNS))
    return table


def _swayed(report: CheckReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, show_header=False)
    if report.position.whole:
        table.add_row("changed when the order was turned", _of(report.position))
    if report.verbosity.whole:
        table.add_row("bad ones found good once padded", _of(report.verbosity))
    if report.retest is not None:
        table.add_row("the same when asked again", _of(report.retest))
    first, repaired = report.unreadable
    if first.whole:
        table.add_row("first replies that could not be read", _of(first))
        if repaired.whole:
            table.add_row("nor after a repair", _of(repaired))
        table.add_row("requests", _requests(report))
    if report.latency_ms:
        p50, p95 = report.latency_ms
        table.add_row("latency p50, p95", f"{milliseconds(p50)}, {milliseconds(p95)}")
    return table


def _requests(report: CheckReport) -> str:
    usage = report.usage
    tokens = f", {usage['tokens_in'] or 0:,} tokens in, {usage['tokens_out'] or 0:,} out"
    cost = "" if usage["cost"] is None else f", cost {usage['cost']:.4f}"
    return f"{len(report.records):,}{tokens if usage['tokens_in'] is not None else ''}{cost}"


def _of(tally: Tally) -> str:
    return "-" if not tally.whole else f"{tally.part} of {tally.whole}"


def _left_out(report: CheckReport) -> Iterator[str]:
    if report.cannot:
        yield f"Has no means for: {', '.join(report.cannot)}. What rests on them is not_applicable, never guessed."
    if report.without:
        yield f"No known cases for: {', '.join(printable(name) for name in report.without)}."
    if report.unavailable:
        yield f"{count(len(report.unavailable), 'call')} got no reply: {printable(report.unavailable[0])}"


def _wrong(report: CheckReport) -> Iterator[RenderableType]:
    wrong = report.wrong
    if not wrong:
        return
    yield Text()
    yield Text("What it got wrong:", style="bold")
    for one in wrong[:MOST_WRONG]:
        yield _one(one)
    if len(wrong) > MOST_WRONG:
        yield Text(f"and {len(wrong) - MOST_WRONG:,} more, all of which are in --json", style="dim")


def _what(one: Said) -> str:
    """What was judged: an item of a list, or a question with its answer, and what of it."""
    if one.probe.part or one.canary.id.endswith(one.probe.text):
        return one.probe.text if one.probe.part else one.canary.id
    return f"{one.probe.text.partition(':')[0]}: {one.canary.id}"


def _one(one: Said) -> RenderableType:
    case = f" ({one.canary.id})" if one.probe.part else ""
    hostile = ", hostile" if one.probe.hostile else ""
    said = "could not be read" if one.verdict is None else "found good" if one.verdict else "found bad"
    known = "good" if one.probe.holds else "bad"
    text = Text(overflow="fold")
    text.append(f"{one.canary.kind}{case}{hostile}: {known}, {said}\n")
    text.append(f"  {printable(_what(one)[:LONGEST])}")
    if one.reply:
        text.append(f"\n  judge: {printable(' '.join(one.reply.split())[:LONGEST])}", style="dim")
    return Padding(text, (0, 0, 0, 2))
