"""Metric list: every metric with what it says, as a table or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import orjson
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..metrics import builtin_catalog
from ..reports.leaderboard import ARROWS

if TYPE_CHECKING:
    from ..metrics import Metric

DIRECTION = {"higher": "higher is better", "lower": "lower is better", "neither": "no direction"}


def show_metrics(as_json: bool, as_markdown: bool = False) -> None:
    """Print all metrics that there are."""
    metrics = builtin_catalog().metrics
    if as_json:
        made = {"metrics": [metric_object(metric) for metric in metrics.values()]}
        sys.stdout.buffer.write(orjson.dumps(made, option=orjson.OPT_INDENT_2, default=str) + b"\n")
    elif as_markdown:
        sys.stdout.write(markdown_table(metrics.values()))
    else:
        console = Console(highlight=False)
        for metric in metrics.values():
            console.print(Text(metric.id, style="bold"))
            console.print(Padding(Text(metric.summary.replace("``", "`")), (0, 0, 0, 4)))
            console.print(Padding(Text("; ".join(facts_of(metric)), style="dim"), (0, 0, 0, 4)))


def markdown_table(metrics: Iterable[Metric]) -> str:
    """The table of the README: one line a metric."""
    lines = ["| id | what it says | needs | range | threshold |", "|---|---|---|---|---|"]
    for metric in metrics:
        threshold = "" if metric.threshold is None else f"{metric.threshold:g}"
        cells = [
            f"`{metric.id}` {ARROWS[metric.better]}".rstrip(),
            metric.summary.replace("``", "`"),
            ", ".join(metric.needs),
            range_of(metric),
            threshold,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def facts_of(metric: Metric) -> list[str]:
    """Needs, range, direction, threshold and source, in words."""
    needs = ", ".join(metric.needs) or "nothing"
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
        "needs": list(metric.needs),
        "low": metric.low,
        "high": metric.high,
        "better": metric.better,
        "threshold": metric.threshold,
        "level": metric.level,
        "options": dict(metric.options),
        "source": metric.source,
    }
