"""Leaderboard: a summary as a table for a terminal of 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..metrics.evaluators import RATES
from ..metrics.score import Reason
from .corrected import StoredCalibration
from .statistics.agreement import FEWEST
from .summary import BotSummary, MetricColumn, MetricSummary, Summary
from .text import printable

NAME_WIDTH = 20
CELL_WIDTH = 19
ARROWS = {"higher": "↑", "lower": "↓", "neither": " "}


def leaderboard(summary: Summary, width: int = 80) -> RenderableType:
    """Metrics down, bots across, as many bots side by side as the width holds, the rest below.

    A cell is mean, 95 % interval, ``*`` on the best, and ``n`` where fewer rows than asked have a value.
    """
    side_by_side = max(1, (width - NAME_WIDTH) // (CELL_WIDTH + 1))
    parts: list[RenderableType] = [_title(summary)]
    for start in range(0, len(summary.bots), side_by_side):
        parts += [Text(), _table(summary, summary.bots[start : start + side_by_side])]
    parts += [Text(), *_legend(summary)]
    return Group(*parts)


def _title(summary: Summary) -> Text:
    unfinished = "" if summary.status == "finished" else f" ({summary.status})"
    title = Text(overflow="fold")
    title.append(printable(summary.suite), style="bold")
    title.append(
        f": {count(summary.questions, 'question')}, {count(len(summary.bots), 'bot')}, run {summary.run}{unfinished}"
    )
    return title


def _table(summary: Summary, bots: Sequence[BotSummary]) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", width=NAME_WIDTH - 1, overflow="fold")
    for bot in bots:
        table.add_column(Text(printable(bot.name), style="bold", overflow="fold"), width=CELL_WIDTH, overflow="fold")
    table.add_row("", *(Text(_nature(bot), style="dim") for bot in bots))
    for heading, column in _headed(summary):
        if column is None:
            table.add_row(heading)
            continue
        best = best_bots(column, summary.bots)
        table.add_row(heading, *(_cell(bot.metrics[column.name], bot, column, bot.name in best) for bot in bots))
        if any(bot.metrics[column.name].calibration for bot in bots):
            table.add_row("  corrected", *(_corrected(bot.metrics[column.name], column) for bot in bots))
    table.add_section()
    for name, values in _operations(bots):
        table.add_row(name, *values)
    return table


def _headed(summary: Summary) -> Iterator[tuple[Text, MetricColumn | None]]:
    """The columns with their headings; rates of one family stand under its name, which has no column of its own."""
    shown = [
        column for column in primary_first(summary) if column.name != "latency_ms" and not _is_void(column, summary)
    ]
    families = Counter(column.name.rpartition(".")[0] for column in shown)
    before = ""
    for column in shown:
        family, _, rate = column.name.rpartition(".")
        shared = family if families[family] > 1 else ""
        if shared and shared != before:
            yield _heading(shared), None
        before = shared
        yield _heading(f"  {rate}" if shared else column.name, ARROWS[column.better]), column


def primary_first(summary: Summary) -> list[MetricColumn]:
    """The metrics in the order of the suite, but the primary one, with the family of its rates, before the others."""
    if summary.primary is None:
        return list(summary.metrics)
    name = summary.primary.name
    family = name.rpartition(".")[0]

    def place(column: MetricColumn) -> int:
        return 0 if column.name == name else 1 if family and column.name.rpartition(".")[0] == family else 2

    return sorted(summary.metrics, key=place)


def _is_void(column: MetricColumn, summary: Summary) -> bool:
    """Whether it has no value and needs no note: nothing was read, no contexts checked, or another note has said it."""
    cells = [bot.metrics[column.name] for bot in summary.bots]
    if any(cell.mean is not None for cell in cells):
        return False
    unchecked = any(Reason.CONTEXTS_NOT_CHECKED in cell.reasons for cell in cells)
    return unchecked or column.name.endswith(f".{RATES[-1]}") or _is_repetition(column, cells, summary)


def _is_repetition(column: MetricColumn, cells: Sequence[MetricSummary], summary: Summary) -> bool:
    """Whether it has no value for the reason that the first rate of its family gives already."""
    family, _, rate = column.name.rpartition(".")
    leading = [bot.metrics.get(f"{family}.{RATES[0]}") for bot in summary.bots]
    if rate not in RATES[1:]:
        return False
    return all(
        first is not None and first.mean is None and first.reasons == cell.reasons
        for first, cell in zip(leading, cells, strict=True)
    )


def _heading(name: str, arrow: str = "") -> Text:
    """Name and direction; a name that is too long for its column goes on below, after a dot or an underscore."""
    indent = " " * (2 + len(name) - len(name.lstrip()))
    lines, rest = [], printable(f"{name} {arrow}".rstrip())
    while len(rest) > NAME_WIDTH - 1:
        end = 1 + max(rest.rfind(mark, len(indent), NAME_WIDTH - 1) for mark in "._")
        if not end:
            break
        lines.append(rest[:end])
        rest = f"{indent}{rest[end:]}"
    return Text("\n".join([*lines, rest]), overflow="fold")


def _nature(bot: BotSummary) -> str:
    if bot.embedded:
        return "no LLM"
    return printable(bot.model or bot.kind)


def best_bots(column: MetricColumn, bots: Sequence[BotSummary]) -> set[str]:
    """Names of the bots with the best mean, several when they tie; none where there is nothing to compare."""
    means = {bot.name: mean for bot in bots if (mean := bot.metrics[column.name].mean) is not None}
    if len(set(means.values())) < 2 or column.better == "neither":
        return set()
    top = max(means.values()) if column.better == "higher" else min(means.values())
    return {name for name, mean in means.items() if mean == top}


def _cell(metric: MetricSummary, bot: BotSummary, column: MetricColumn, best: bool) -> Text:
    if metric.mean is None:
        reason = max(metric.reasons, key=lambda name: metric.reasons[name], default="no rows")
        return Text(f"- {printable(reason)}", style="dim", overflow="fold")
    text = Text(figure(metric.mean, column), style="bold green" if best else "")
    if metric.ci_low is not None and metric.ci_high is not None:
        low, high = (figure(value, column).removeprefix("0") or "0" for value in (metric.ci_low, metric.ci_high))
        text.append(f" {low}-{high}", style="not bold default")
    if best:
        text.append("*")
    if metric.n_ok < bot.rows:
        text.append(f" n{metric.n_ok}", style="not bold dim")
    return text


def _corrected(metric: MetricSummary, column: MetricColumn) -> Text:
    """What people would find, with the number of labels; or why it is not known any more."""
    found = metric.calibration
    if found is None:
        return Text("-", style="dim")
    if found.stale:
        return Text("stale", style="dim")
    text = Text(corrected_figures(found, column).replace(" 0.", " .").replace("-0.", "-."))
    return text.append(f" {'n' if found.is_random else 'picked '}{found.labels}", style="dim")


def corrected_figures(found: StoredCalibration, column: MetricColumn, to: str = "-") -> str:
    """The corrected figure with its interval; a share of rows that pass is a percentage."""
    if found.measure == "pass_rate":
        return f"{found.corrected:.0%} {found.low * 100:.0f}{to}{found.high * 100:.0f}"
    low, high = (figure(value, column) for value in (found.low, found.high))
    return f"{figure(found.corrected, column)} {low}{to}{high}"


def figure(value: float, column: MetricColumn) -> str:
    """A value in as many digits as its scale deserves."""
    if column.high is not None and column.high <= 1:
        return f"{value:.2f}"
    if abs(value) >= 1e7:
        return f"{value:.2g}"  # in full it would not fit a column, and a figure folded in two is misread
    if 0 < abs(value) < 0.05:
        return f"{value:.2g}"  # the cost of one answer is often a small part of a cent
    return f"{value:.1f}" if abs(value) < 10 else f"{value:.0f}"


def milliseconds(value: float) -> str:
    """A duration with its unit, in three digits or so."""
    if value >= 10_000:
        return f"{value / 1000:.0f} s"
    if value >= 1000:
        return f"{value / 1000:.1f} s"
    digits = 0 if value >= 10 else 1 if value >= 1 else 2
    return f"{value:.{digits}f} ms"


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _operations(bots: Sequence[BotSummary]) -> Iterator[tuple[str, list[str | Text]]]:
    yield "latency p50", [milliseconds(bot.latency.p50) if bot.latency else "-" for bot in bots]
    yield "latency p95", [milliseconds(bot.latency.p95) if bot.latency else "-" for bot in bots]
    if any(bot.abstained for bot in bots):
        yield "abstained", [f"{bot.abstained} of {bot.rows}" for bot in bots]
    yield "failed", [_failures(bot) for bot in bots]
    if any(bot.tokens for bot in bots):
        yield "tokens", [_sum(bot.tokens, "{:,}", bot.tokens_rows, bot) for bot in bots]
    if any(bot.cost is not None for bot in bots):
        yield "cost", [_sum(bot.cost, "{:.4f}", bot.cost_rows, bot) for bot in bots]


def _sum(value: float | None, layout: str, rows: int, bot: BotSummary) -> str | Text:
    """A sum, with ``n`` where fewer rows than asked report the figure."""
    if value is None:
        return "-"
    text = Text(layout.format(value))
    return text.append(f" n{rows}", style="dim") if rows < bot.rows else text


def _failures(bot: BotSummary) -> str | Text:
    if bot.problem:
        return Text("stopped, see below", style="bold red")
    if not bot.failed:
        return f"0 of {bot.rows}"
    what = ", ".join(f"{number} {status.replace('_', ' ')}" for status, number in bot.failures.items())
    return Text(f"{bot.failed} of {bot.rows}: {what}", style="red", overflow="fold")


def _legend(summary: Summary) -> Iterator[Text]:
    most = max((bot.latency.in_flight for bot in summary.bots if bot.latency), default=0)
    crowd = f"; latency with up to {most} in flight" if most > 1 else ""
    yield Text(
        f"mean and 95 % interval over questions{crowd}; * best; ↑ higher is better",
        style="dim",
        overflow="fold",
    )
    if summary.primary is not None:
        yield Text(printable(summary.primary.why), style="dim", overflow="fold")
    for sentence in (*about_intervals(summary), *about_corrections(summary)):
        yield Text(printable(sentence), style="dim", overflow="fold")
    if any(bot.embedded for bot in summary.bots):
        yield Text("no LLM: answers come from an embedded model that only picks sentences or entries", style="dim")
    if summary.judge is not None:
        yield Text(printable(summary.judge.sentence), style="dim", overflow="fold")
    for model in summary.local_models:
        yield Text(printable(model.sentence), style="dim", overflow="fold")
    for bot in summary.bots:
        if bot.problem:
            yield Text(f"{printable(bot.name)}: {printable(bot.problem)}", style="red", overflow="fold")


def about_intervals(summary: Summary) -> Iterator[str]:
    """Why means have no interval, and which, where some have none."""
    found: dict[str, list[str]] = {}
    for bot in summary.bots:
        for name, metric in bot.metrics.items():
            if metric.ci_untold and name not in found.setdefault(metric.ci_untold, []):
                found[metric.ci_untold].append(name)
    for why, names in found.items():
        of = "" if len(found) == 1 and len(names) > 1 else f" of {', '.join(names)}"
        yield f"no interval{of}: {why}"


def about_corrections(summary: Summary) -> Iterator[str]:
    """What corrected figures are, and which of them do not hold any more."""
    found = [metric.calibration for bot in summary.bots for metric in bot.metrics.values() if metric.calibration]
    if not found:
        return
    share = "; a percentage is the share that passes" if any(each.measure == "pass_rate" for each in found) else ""
    yield f"corrected: what people would say, by n labels ({FEWEST} or more for a firm figure){share}"
    for why in dict.fromkeys(each.stale for each in found if each.stale):
        yield f"stale: {why}; 'proctor calibrate' works it out anew"
