"""Spread charts: distributions and latencies as drawings, each with the same figures in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...leaderboard import count, figure, milliseconds
from ...summary import MetricColumn
from ..charts.histogram import Histogram
from ..charts.intervals import DotIntervals, Line, interval_scale
from .distributions import Distribution, MetricDistributions
from .latency_percentiles import PERCENTILES, BotLatency


@dataclass(frozen=True, slots=True)
class BotHistogram:
    """The values of one bot: drawn, and in a sentence; ``chart`` is None without a value."""

    bot: str
    chart: Histogram | None
    words: str


@dataclass(frozen=True, slots=True)
class MetricHistograms:
    """One metric with a drawing for each bot, all with the same axes; ``missing`` is a share of all rows."""

    column: MetricColumn
    bots: tuple[BotHistogram, ...]
    missing: float


def histograms(metric: MetricDistributions, places: Sequence[str]) -> MetricHistograms:
    """Drawings of one metric.

    Args:
        metric: what is drawn.
        places: names of all bots, in the order by which they have their colours everywhere.
    """
    most = max(max(each.counts) for each in metric.bots)
    drawn = tuple(_bot_histogram(metric, each, places.index(each.bot), most) for each in metric.bots)
    rows = sum(each.known + each.missing for each in metric.bots)
    return MetricHistograms(metric.column, drawn, sum(each.missing for each in metric.bots) / rows)


def _bot_histogram(metric: MetricDistributions, each: Distribution, place: int, most: int) -> BotHistogram:
    column = metric.column
    words = _words(each, column)
    if not each.known:
        return BotHistogram(each.bot, None, words)
    chart = Histogram(
        title=f"{column.name} of {each.bot}", description=words, edges=metric.bins.edges, counts=each.counts,
        series=place, label=_label(column, is_log=metric.bins.is_log), reference=metric.limit,
        is_log=metric.bins.is_log, most=most,
    )  # fmt: skip
    return BotHistogram(each.bot, chart, words)


def _label(column: MetricColumn, *, is_log: bool) -> Callable[[float], str] | None:
    if column.name.endswith("_ms"):
        return milliseconds
    return (lambda value: f"{value:.3g}") if is_log else None


def _words(each: Distribution, column: MetricColumn) -> str:
    """Mean with interval, median, how many miss the threshold, how many rows have no value."""
    said = []
    if (mean := each.summary.mean) is not None:
        low, high = each.summary.ci_low, each.summary.ci_high
        interval = "" if low is None or high is None else f" ({figure(low, column)} to {figure(high, column)})"
        said.append(f"mean {figure(mean, column)}{interval}")
    if each.median is not None:
        said.append(f"median {figure(each.median, column)}")
    default = "the default of " if column.threshold_is_default else ""
    if each.failing is not None and column.threshold is not None and each.known:
        said.append(f"{each.failing:,} of {each.known:,} miss {default}{figure(column.threshold, column)}")
    else:
        said.append(count(each.known, "value"))
    said.append(f"{each.missing:,} missing ({each.missing_share:.0%})" if each.missing else "none missing")
    return "; ".join(said)


def latency_chart(latencies: Sequence[BotLatency]) -> DotIntervals | None:
    """Percentiles of all bots below one another on a logarithmic axis; None without an answered row."""
    lines = tuple(_line(place, each) for place, each in enumerate(latencies) if each.percentiles)
    if not lines:
        return None
    scale = interval_scale(lines, label=milliseconds, is_log=True)
    said = "; ".join(f"{line.name}: {line.figures}" for line in lines)
    return DotIntervals(
        title="Latency of answered rows by bot", description=said, x=scale, lines=lines,
        x_title="time to the answer, logarithmic",
    )  # fmt: skip


def _line(place: int, each: BotLatency) -> Line:
    by_name = dict(zip(PERCENTILES, each.percentiles, strict=True))
    p50, p95 = by_name[50], by_name[95]
    inner = None if each.p25 is None else (each.p25, by_name[75])
    figures = f"p50 {milliseconds(p50)}, p95 {milliseconds(p95)}"
    return Line(each.bot, p50, each.p5, p95, figures, series=place, inner=inner)
