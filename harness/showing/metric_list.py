"""Metric list: every metric with what it says, as a table or as JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ...metrics import builtin_catalog
from ...metrics.evaluator_table import RATES
from ...metrics.evaluators import evaluator_of
from ...reports.leaderboard import ARROWS
from .streams import write_json

if TYPE_CHECKING:
    from ...metrics import Metric

RATES_NOTE = (
    f"Beside each `.{RATES[0]}` there are "
    + ", ".join(f"`.{rate}`" for rate in RATES[1:-1])
    + f" and `.{RATES[-1]}`, each with the threshold 0.5."
)
ASPECTS_OF = "gptscore_"  # metrics of one evaluator that differ by a few words of an instruction
DIRECTION = {"higher": "higher is better", "lower": "lower is better", "neither": "no direction"}


def show_metrics(as_json: bool, as_markdown: bool = False) -> None:
    """Print all metrics that there are."""
    metrics = builtin_catalog().metrics
    if as_json:
        made = {"metrics": [metric_object(metric) for metric in metrics.values()]}
        write_json(made, sys.stdout)
    elif as_markdown:
        sys.stdout.write(markdown_table(metrics.values()))
    else:
        console = Console(emoji=False, highlight=False)
        for metric, alike in _folded(metrics.values()):
            console.print(Text(metric.id, style="bold"))
            console.print(Padding(Text(metric.summary.replace("``", "`")), (0, 0, 0, 4)))
            if alike:
                console.print(Padding(Text(f"Likewise {', '.join(alike)}."), (0, 0, 0, 4)))
            console.print(Padding(Text("; ".join(facts_of(metric)), style="dim"), (0, 0, 0, 4)))
        console.print(Text(f"\n{RATES_NOTE}".replace("`", "")))


def markdown_table(metrics: Iterable[Metric]) -> str:
    """The table of the README: one line a metric, or several of one kind, of which the first stands for all."""
    lines = ["| id | what it says | needs | range | threshold |", "|---|---|---|---|---|"]
    for metric, alike in _folded(metrics):
        threshold = "" if metric.threshold is None else f"{metric.threshold:g}"
        cells = [
            f"`{metric.id}` {ARROWS[metric.better]}".rstrip(),
            metric.summary.replace("``", "`") + (f" Likewise {', '.join(f'`{id}`' for id in alike)}." if alike else ""),
            ", ".join(metric.needs),
            range_of(metric),
            threshold,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\n{RATES_NOTE}\n"


def _folded(metrics: Iterable[Metric]) -> list[tuple[Metric, list[str]]]:
    """The metrics, each with those that it stands for: they say the same of another aspect.

    Of the rates of an evaluator only the first is there, which stands for the others without their names.
    """
    shown = [metric for metric in metrics if not metric.id.endswith(tuple(f".{rate}" for rate in RATES[1:]))]
    families: dict[str, tuple[Metric, list[str]]] = {}
    for metric in shown:
        evaluator = evaluator_of(metric.id) if metric.id.startswith(ASPECTS_OF) else None
        family = evaluator.id if evaluator else metric.id
        if family in families:
            families[family][1].append(metric.id)
        else:
            families[family] = (metric, [])
    return list(families.values())


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
