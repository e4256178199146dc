"""Comparison annotations: what became worse, as GitHub Actions shows it beside the checks of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ..leaderboard import figure
from ..workflow_commands import Annotation, commands
from . import comparison_words as words
from .compared_sides import Compared
from .comparison import Comparison
from .metric_comparison import MetricComparison


def comparison_annotations(found: Compared) -> Iterator[str]:
    """The commands, a line each: a warning for every metric that is worse, and a notice of what came out.

    Warnings and no errors: a comparison stops no build, which is for the gate.
    """
    said = [each for comparison in found.comparisons for each in _worse(comparison)]
    for comparison in found.comparisons:
        title = f"proctor report: {comparison.head.suite}: {comparison.head.bot}"
        said.append(Annotation("notice", title, words.headline(comparison)))
    return commands(said, "proctor report")


def _worse(comparison: Comparison) -> Iterator[Annotation]:
    for metric in comparison.metrics:
        if metric.verdict == "worse":
            column, difference = metric.column, metric.difference
            means = f"{figure(metric.base_mean, column)} to {figure(metric.head_mean, column)}"
            by = f"{words.signed(difference.mean, column)} {words.interval(difference.low, difference.high, column)}"
            title = f"{comparison.head.bot}: {column.name} is worse"
            yield Annotation("warning", title, f"{means}, {by.strip()}, p {_p(metric, comparison)}")


def _p(metric: MetricComparison, comparison: Comparison) -> str:
    return words.p_value(metric.adjusted(comparison.correct))
