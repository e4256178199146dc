"""Boards section: every figure of a run by bot, and what is behind the means: spread, latency, tags and documents."""

from __future__ import annotations

from markupsafe import Markup

from ...boards import BoolBoard, ClassificationBoard
from ...report import Report
from ...summary import MetricSummary
from ..templating import render
from .breakdowns import SMALL, breakdowns
from .confusion import confusions
from .distributions import distributions
from .heatmap import board_cells, boards_with_values, heatmap
from .latency_percentiles import PERCENTILES, latency_percentiles
from .score_values import score_values
from .spread_charts import histograms, latency_chart


def boards_section(report: Report) -> Markup:
    """The part of a page that shows all boards of a run.

    Args:
        report: the run, whose store is still open.
    """
    run = report.run
    heat = heatmap(report)
    scores = score_values(run)
    latencies = latency_percentiles(run)
    places = [bot.name for bot in run.bots]
    leading = run.summary.primary.name if run.summary.primary else ""
    spreads = sorted(distributions(run, scores, heat.bots), key=lambda each: each.column.name != leading)
    return render(
        "boards.html.j2",
        heat=heat,
        reason_of=lambda bot, metric: _reason(run.bot(bot).metrics[metric]),
        bool_boards=boards_with_values(report.boards, BoolBoard),
        classification_boards=boards_with_values(report.boards, ClassificationBoard),
        board_cells=board_cells,
        confusions=confusions,
        distributions=[histograms(each, places) for each in spreads],
        latencies=latencies,
        latency_chart=latency_chart(latencies),
        percentiles=PERCENTILES,
        breakdowns=breakdowns(run, scores, heat.bots, leading),
        small=SMALL,
    )


def _reason(metric: MetricSummary) -> tuple[str, int] | None:
    """The commonest reason for which there is no value, with its number of rows."""
    return max(metric.reasons.items(), key=lambda each: each[1], default=None)
