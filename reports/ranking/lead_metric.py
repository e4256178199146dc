"""Lead metric: by which metric a run is looked at first, told from its summary alone."""

from __future__ import annotations

from ..summary import MetricColumn, Summary
from .shared_questions import by_directness, of_quality


def lead_metric(summary: Summary) -> MetricColumn | None:
    """The metric that says most directly whether answers are right; None where none of quality has a value.

    It is the one that ``ranked_run`` chooses by itself, but for runs whose bots lack so many values that their means
    over the questions that all share are others.
    """
    columns = {column.name: column for column in summary.metrics}
    means = {
        name: found
        for name in of_quality(columns)
        if (found := [mean for bot in summary.bots if (mean := bot.metrics[name].mean) is not None])
    }
    return columns[by_directness(means)[0]] if means else None
