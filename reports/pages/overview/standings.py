"""Standings: the leaderboard of a run as lines and cells of a page, the metrics that decide first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...leaderboard import ARROWS, best_bots, corrected_figures, figure
from ...primary import by_directness
from ...reported_run import ReportedRun, metrics_once, misses
from ...summary import BotSummary, MetricColumn, MetricSummary
from ...thresholds import bound, figure_apart
from ..charts.marks import colour, shape
from ..row_addresses import has_rows, rows_address
from .leaderboard_lines import NONE, Bar, Cell, Heading, Line
from .operation_lines import operation_lines

MOST_OPEN = 10  # primary metrics that are shown at once
MOST_REASONS = 3
BAR = 100.0  # width of an interval's drawing
IN_OPERATIONS = ("latency_ms",)  # shown by its percentiles


@dataclass(frozen=True, slots=True)
class Group:
    """The further metrics of an evaluator."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """The leaderboard: bots from left to right, the best first.

    Attributes:
        headings: the bots.
        first: the primary metrics, the one that leads first, and no more than can be taken in.
        operations: latency, failures, tokens and cost.
        groups: all other metrics by evaluator.
        others: how many metrics these are.
    """

    headings: tuple[Heading, ...]
    first: tuple[Line, ...]
    operations: tuple[Line, ...]
    groups: tuple[Group, ...]

    @property
    def others(self) -> int:
        """How many metrics the groups hold."""
        return sum(len(group.lines) for group in self.groups)


def standings_of(
    run: ReportedRun, order: Sequence[str], leading: str, metrics: Sequence[str], meanings: Mapping[str, str]
) -> Standings:
    """The leaderboard of a run.

    Args:
        run: the run.
        order: bots by their rank, the best first; those that are not in it come last.
        leading: the metric that the verdict rests on; blank where there is none.
        metrics: those that are shown.
        meanings: what metrics measure, by name.
    """
    places = {name: place for place, name in enumerate(order)}
    bots = sorted(run.bots, key=lambda bot: places.get(bot.name, len(places)))
    series = {bot.name: number for number, bot in enumerate(run.bots)}
    shown = [name for name in metrics if name not in IN_OPERATIONS]
    first = _first(run, leading, shown)
    groups: dict[str, list[Line]] = {}
    for evaluator, name in metrics_once(run):
        if name in shown and name not in first:
            groups.setdefault(evaluator.title, []).append(_line(run, run.columns[name], bots, meanings.get(name, "")))
    return Standings(
        headings=tuple(_heading(bot, series[bot.name]) for bot in bots),
        first=tuple(_line(run, run.columns[name], bots, meanings.get(name, "")) for name in first),
        operations=tuple(operation_lines(bots)),
        groups=tuple(Group(title, tuple(lines)) for title, lines in groups.items()),
    )


def _first(run: ReportedRun, leading: str, shown: Sequence[str]) -> list[str]:
    """Primary metrics, those first that say most directly who is right; of many, those that a bot has missed."""
    means = {
        each.primary: [mean for bot in run.bots if (mean := run.mean(bot, each.primary)) is not None]
        for each in run.evaluators if each.primary in shown
    }  # fmt: skip
    valued = {name: values for name, values in means.items() if values}
    names = list(dict.fromkeys([*([leading] if leading in shown else []), *by_directness(valued), *means]))
    if len(names) <= MOST_OPEN:
        return names
    is_missed = {
        name: any(misses(run.mean(bot, name), run.columns[name].of_suite) for bot in run.bots) for name in names
    }
    chosen = sorted(names[1:], key=lambda name: not is_missed[name])[: MOST_OPEN - 1]
    return [names[0], *(name for name in names[1:] if name in chosen)]


def _heading(bot: BotSummary, number: int) -> Heading:
    nature = bot.kind if bot.embedded else bot.model or bot.kind
    return Heading(bot.name, bot.embedded, nature, bot.problem or "", shape(number), colour(number))


def _line(run: ReportedRun, column: MetricColumn, bots: Sequence[BotSummary], meaning: str) -> Line:
    best = best_bots(column, run.bots)
    ends = _range(column, [bot.metrics[column.name] for bot in bots])
    cells = tuple(_cell(run, column, bot, bot.name in best, ends) for bot in bots)
    better = "" if column.better == "neither" else f"{column.better} is better"
    line = Line(column.name, cells, ARROWS[column.better].strip(), better, bound(column.of_suite), meaning=meaning)
    return _with_common_notes(run, line)


def _with_common_notes(run: ReportedRun, line: Line) -> Line:
    """What is missing from all bots alike is told once, beside the metric; who has no value at all says so itself."""
    notes = {cell.notes for cell in line.cells}
    if len(line.cells) < 2 or len(notes) > 1 or notes == {""} or any(cell.text == NONE for cell in line.cells):
        return line
    missing = rows_address(metric=line.name, show="missing") if has_rows(run, line.name) else ""
    cells = tuple(replace(cell, notes="", missing="") for cell in line.cells)
    return replace(line, cells=cells, notes=notes.pop(), missing=missing)


def _cell(run: ReportedRun, column: MetricColumn, bot: BotSummary, is_best: bool, ends: tuple[float, float]) -> Cell:
    found = bot.metrics[column.name]
    address = rows_address(bot=bot.name, metric=column.name, sort="value") if has_rows(run, column.name) else ""
    lacking = rows_address(bot=bot.name, metric=column.name, show="missing") if address else ""
    without = _without(found, bot)
    if found.mean is None:
        return Cell(
            NONE,
            notes=without or "no rows",
            missing=lacking if found.reasons else "",
            corrected=_corrected(found, column),
        )
    interval = ""
    if found.ci_low is not None and found.ci_high is not None:
        interval = f"{figure(found.ci_low, column)} to {figure(found.ci_high, column)}"
    mark = ""
    if bound(column.of_suite):
        mark = "missed" if misses(found.mean, column) else "met"
    return Cell(
        figure_apart(found.mean, column.of_suite), interval, address, is_best, mark, without,
        lacking if without else "", _corrected(found, column), _bar(found, column, ends),
    )  # fmt: skip


def _without(found: MetricSummary, bot: BotSummary) -> str:
    """How many rows have a value, where not all have one, and why the others have none."""
    if found.n_ok >= bot.rows:
        return ""
    reasons = sorted(found.reasons.items(), key=lambda item: -item[1])
    told = [f"{number:,} {reason.replace('_', ' ') or 'without a reason'}" for reason, number in reasons[:MOST_REASONS]]
    rest = sum(number for _, number in reasons[MOST_REASONS:])
    why = ", ".join([*told, *([f"{rest:,} other"] if rest else [])])
    return f"{found.n_ok:,} of {bot.rows:,}{f': {why}' if why else ''}"


def _corrected(found: MetricSummary, column: MetricColumn) -> str:
    known = found.calibration
    if known is None:
        return ""
    if known.stale:
        return "stale"
    mean, _, interval = corrected_figures(known, column, " to ").partition(" ")
    return f"{mean} ({interval}), {'n' if known.is_random else 'picked'} {known.labels:,}"


def _range(column: MetricColumn, found: Iterable[MetricSummary]) -> tuple[float, float]:
    """The ends of the drawing: what the metric can be, else what was found."""
    values = [end for each in found for end in (each.mean, each.ci_low, each.ci_high) if end is not None]
    values += [wanted] if (wanted := column.of_suite.threshold) is not None else []
    low = column.low if column.low is not None else min(values, default=0.0)
    high = column.high if column.high is not None else max(values, default=1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _bar(found: MetricSummary, column: MetricColumn, ends: tuple[float, float]) -> Bar | None:
    if found.mean is None:
        return None
    threshold = column.of_suite.threshold if column.better != "neither" else None
    known = (found.ci_low, found.ci_high, threshold)
    return Bar(_at(found.mean, ends), *(None if each is None else _at(each, ends) for each in known))


def _at(value: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return round(BAR * min(max((value - low) / (high - low), 0.0), 1.0), 1)
