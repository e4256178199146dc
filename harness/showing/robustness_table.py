"""Robustness table: what becomes of bots when questions are reworded or asked again, for 80 columns."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.comparing.short_figures import change, share
from ...reports.leaderboard import figure
from ...reports.markdown_text import one_line
from ...reports.printable import printable
from ...reports.robustness.flip_table import KindFlips
from ...reports.robustness.flipped_pairs import FlippedPair
from ...reports.robustness.intensity_curve import IntensityCurve
from ...reports.robustness.robustness import BotRobustness, MetricRobustness, Robustness
from ...reports.robustness.robustness_words import (
    DEMANDS,
    DETAILS_LEGEND,
    LEGEND,
    SPREAD_LEGEND,
    about,
    conclusions,
    head,
    how_reworded,
    of_answers,
    what_flipped,
)  # fmt: skip

SIDE_BY_SIDE = 4  # metrics in one table
LONGEST = 160  # characters of a question or answer


def show_robustness(found: Robustness, stdout: TextIO, flips: int = 5, details: bool = False) -> None:
    """Print the tables; warnings go to stderr.

    Args:
        found: what was worked out.
        stdout: where to.
        flips: how many flipped pairs of each bot are shown.
        details: also every kind with its counts and changes, and the curves over intensities.
    """
    for warning in found.warnings:
        sys.stderr.write(f"proctor: {printable(warning)}\n")
    console = Console(emoji=False, highlight=False, file=stdout)
    console.print(robustness_table(found, flips, details), width=console.width if console.is_terminal else 80)


def robustness_table(found: Robustness, flips: int = 5, details: bool = False) -> RenderableType:
    """Bot by bot: kinds of rewordings, spread and worst case, what flips above chance, and the worst flips."""
    title = Text(overflow="fold")
    title.append(printable(found.suite), style="bold").append(f": {head(found)}")
    parts: list[RenderableType] = [title]
    for bot in found.bots:
        parts += [Text(), *_bot(bot, flips, details)]
    parts.append(Text())
    if any(bot.rewordings for bot in found.bots):
        parts.append(Text(LEGEND, style="dim", overflow="fold"))
        if details:
            parts.append(Text(DETAILS_LEGEND, style="dim", overflow="fold"))
    parts.append(Text(SPREAD_LEGEND, style="dim", overflow="fold"))
    return Group(*parts)


def _bot(bot: BotRobustness, flips: int, details: bool) -> Iterator[RenderableType]:
    title = Text(overflow="fold")
    yield title.append(printable(bot.bot), style="bold").append(f": {about(bot)}")
    if bot.answers.kinds:
        with_flips = [metric for metric in bot.metrics if metric.kinds]
        for start in range(0, max(len(with_flips), 1), SIDE_BY_SIDE):
            yield Text()
            yield _kinds(bot, with_flips[start : start + SIDE_BY_SIDE])
    yield Text()
    yield _answers(bot)
    if any(metric.rewordings or metric.repeats for metric in bot.metrics):
        yield Text()
        yield _spreads(bot.metrics)
    if details:
        yield from _details(bot)
    lines = list(conclusions(bot))
    if lines:
        yield Text()
        yield from (Text(printable(line), overflow="fold") for line in lines)
    yield from _flips(bot, flips)


def _kinds(bot: BotRobustness, metrics: Sequence[MetricRobustness]) -> Table:
    """A line a kind: the share of answers that did as they must, and the flip rate of each metric."""
    table = _table("rewording")
    table.add_column("rows", justify="right", header_style="dim")
    table.add_column("as it must", header_style="dim")
    for metric in metrics:
        table.add_column(_broken(metric.column.name), justify="right", header_style="dim", overflow="fold")
    by_metric = [{(kind.kind, kind.must): kind for kind in metric.kinds} for metric in metrics]
    for answers in bot.answers.kinds:
        name = f"{printable(answers.kind)}{'' if answers.must == 'same' else f' ({answers.must})'}"
        cells = [_flip_rate(kinds[answers.kind, answers.must]) for kinds in by_metric]
        table.add_row(Text(name, overflow="fold"), f"{answers.rows:,}", share(answers.as_wanted), *cells)
    return table


def _flip_rate(kind: KindFlips) -> Text:
    if kind.counts.rate is None:
        return Text("-", style="dim")
    text = Text(f"{kind.counts.rate:.2f}", style="bold red" if kind.is_above else "")
    return text.append("*" if kind.is_above else " ")


def _answers(bot: BotRobustness) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, show_header=False)
    for what, said in of_answers(bot):
        table.add_row(what, Text(said, overflow="fold"))
    return table


def _spreads(metrics: Sequence[MetricRobustness]) -> Table:
    table = _table("score")
    for name in ("over", "plain", "worst", "sd", "range"):
        table.add_column(name, header_style="dim")
    for metric in metrics:
        for spread in (metric.rewordings, metric.repeats):
            if spread is not None:
                worst = "-" if spread.worst is None else share(spread.worst)
                table.add_row(
                    Text(printable(metric.column.name), overflow="fold"), spread.over,
                    figure(spread.plain.mean, metric.column), worst, f"{spread.deviation.mean:.2f}",
                    f"{spread.range.mean:.2f}",
                )  # fmt: skip
    return table


def _details(bot: BotRobustness) -> Iterator[RenderableType]:
    for metric in bot.metrics:
        if metric.kinds:
            yield Text()
            yield Text(printable(metric.column.name), style="bold", overflow="fold")
            yield _counts(metric)
        if metric.curves:
            yield Text()
            yield _curves(metric.curves)
            yield Text()
            for curve in metric.curves:
                if curve.breakdown is not None:
                    yield Text(f"{printable(curve.kind)} {curve.breakdown.sentence}", overflow="fold")


def _counts(metric: MetricRobustness) -> Table:
    """A line a kind: what passed before and fails now, the reverse, and how both differ from before."""
    table = _table("rewording", padding=1)
    for name in ("lost", "won", "n/a"):
        table.add_column(name, justify="right", header_style="dim")
    for name in ("flips", "against control", "score change"):
        table.add_column(name, header_style="dim")
    for kind in metric.kinds:
        table.add_row(
            f"{printable(kind.kind)}{DEMANDS[kind.must]}", f"{kind.pass_to_fail:,}", f"{kind.fail_to_pass:,}",
            f"{kind.counts.not_comparable:,}", share(kind.rate), change(kind.above_control), change(kind.score_change),
        )  # fmt: skip
    return table


def _curves(curves: Sequence[IntensityCurve]) -> Table:
    table = _table("rewording", padding=1)
    for name in ("intensity", "flips", "above", "fit", "score"):
        table.add_column(name, justify="right" if name == "intensity" else "left", header_style="dim")
    for curve in curves:
        for place, point in enumerate(curve.points):
            table.add_row(
                "" if place else printable(curve.kind), f"{point.intensity:g}", share(point.flips),
                _signed(point.above_control), _signed(point.fitted), share(point.score),
            )  # fmt: skip
    return table


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.2f}"


def _flips(bot: BotRobustness, most: int) -> Iterator[RenderableType]:
    if not bot.flips or not most:
        return
    yield Text()
    shown = bot.flips[:most]
    inside = sum(len(pair.flips) for pair in shown)
    yield Text(f"The worst flips, {inside:,} of {bot.flip_count:,}:", style="bold")
    for pair in shown:
        yield _pair(pair, bot)


def _pair(pair: FlippedPair, bot: BotRobustness) -> RenderableType:
    first = pair.first
    text = Text(overflow="fold")
    text.append(f"{_cut(first.rewording.source)}, {_cut(how_reworded(first))}: ", style="bold")
    text.append(f"{printable(what_flipped(pair, bot.metrics))}\n")
    text.append(f"  asked: {_cut(first.question)}\n    said: {_said(pair.answer)}\n")
    text.append(f"  asked: {_cut(first.reworded)}\n    said: {_said(pair.reworded_answer)}")
    return Padding(text, (0, 0, 0, 2))


def _said(answer: str | None) -> str:
    return "(no answer)" if answer is None else _cut(answer)


def _cut(text: str) -> str:
    return printable(one_line(text, LONGEST))


def _broken(name: str) -> Text:
    """A name that may go on below, after a dot or an underscore."""
    lines, rest = [], printable(name)
    while len(rest) > 10:
        end = 1 + max(rest.rfind(mark, 0, 10) for mark in "._")
        if not end:
            break
        lines.append(rest[:end])
        rest = rest[end:]
    return Text("\n".join([*lines, rest]), overflow="fold")


def _table(first: str, padding: int = 2) -> Table:
    table = Table(box=None, padding=(0, padding, 0, 0), pad_edge=False, show_edge=False)
    table.add_column(Text(printable(first), overflow="fold"), header_style="dim", overflow="fold")
    return table
