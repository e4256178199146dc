"""Metric list: every metric with what it says, as a table or as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import orjson
from rich.console import Console
from rich.text import Text

from ..metrics import builtin_catalog

if TYPE_CHECKING:
    from ..metrics import Metric

DIRECTION = {"higher": "higher is better", "lower": "lower is better", "neither": "no direction"}


def show_metrics(as_json: bool) -> None:
    """Print all metrics that there are."""
    metrics = builtin_catalog().metrics
    if as_json:
        made = {"metrics": [metric_object(metric) for metric in metrics.values()]}
        sys.stdout.buffer.write(orjson.dumps(made, option=orjson.OPT_INDENT_2, default=str) + b"\n")
        return
    console = Console(highlight=False)
    for metric in metrics.values():
        console.print(Text(metric.id, style="bold"))
        console.print(Text(f"    {metric.summary}", overflow="fold"))
        console.print(Text(f"    {', '.join(facts_of(metric))}", style="dim", overflow="fold"))


def facts_of(metric: Metric) -> list[str]:
    """Needs, range, direction, threshold and source, in words."""
    needs = " ".join(sorted(metric.needs)) or "nothing"
    threshold = "no threshold" if metric.threshold is None else f"threshold {metric.threshold:g}"
    return [f"needs {needs}", range_of(metric), DIRECTION[metric.better], threshold, metric.source or "own"]


def range_of(metric: Metric) -> str:
    """The range in mathematical brackets."""
    low = "(-inf" if metric.low is None else f"[{metric.low:g}"
    high = "inf)" if metric.high is None else f"{metric.high:g}]"
    return f"{low}, {high}"


def metric_object(metric: Metric) -> dict[str, object]:
    """All that is known of a metric, JSON-able."""
    return {
        "id": metric.id,
        "summary": metric.summary,
        "needs": sorted(metric.needs),
        "low": metric.low,
        "high": metric.high,
        "better": metric.better,
        "threshold": metric.threshold,
        "level": metric.level,
        "options": dict(metric.options),
        "source": metric.source,
    }
