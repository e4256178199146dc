"""Overview: what a decision-maker sees first: the verdict, the leaderboard, what quality costs, what is wrong."""

from __future__ import annotations

from markupsafe import Markup

from ...leaderboard import about_corrections, about_intervals, count
from ...problem import counted
from ...report import Report
from ..metric_meanings import metric_meanings
from ..templating import render
from .insight_list import insight_list
from .leading import Leading, leading_of
from .offers import about_offers, offer_charts
from .problem_list import problem_list
from .standings import standings_of
from .verdict import verdict_of


def overview_section(report: Report) -> Markup:
    """The part of a run's page that is shown first; its store is still open."""
    run, summary = report.run, report.run.summary
    leading = leading_of(run)
    series = {bot.name: number for number, bot in enumerate(run.bots)}
    insights, more_insights = insight_list(run, report.findings.insights)
    meanings, metric = metric_meanings(run), _metric(report, leading)
    charts = offer_charts(leading.detail, series) if leading else ()
    return render(
        "overview.html.j2",
        verdict=verdict_of(summary, leading),
        basis=_basis(report),
        metric=metric,
        meaning=meanings.get(metric, ""),
        why=_why(report, metric),
        standings=standings_of(run, _order(leading), metric, report.metrics, meanings),
        charts=charts,
        burdens=[chart.title.rpartition(" ")[2] for chart in charts],
        about_charts=about_offers(leading.detail) if leading else "",
        notes=_notes(report),
        counted=counted(report.findings.problems),
        problems=problem_list(run, report.findings.problems),
        insights=insights,
        more_insights=more_insights,
    )


def _order(leading: Leading | None) -> list[str]:
    """The bots from best to worst."""
    if leading is None:
        return []
    ranking = leading.detail.metric.ranking
    return [ranking.bots[place] for place in ranking.order]


def _metric(report: Report, leading: Leading | None) -> str:
    """The metric that the verdict rests on; blank where there is none."""
    if leading is not None:
        return leading.detail.metric.column.name
    primary = report.run.summary.primary
    return primary.name if primary else ""


def _why(report: Report, metric: str) -> str:
    """Why the verdict rests on that metric."""
    primary = report.run.summary.primary
    if primary is None or not metric or primary.name == metric:
        return primary.why if primary else ""
    return f"{primary.why} The bots can't be ranked by it, so {metric} is told here."


def _basis(report: Report) -> str:
    """What everything below rests on."""
    summary = report.run.summary
    rows = sum(bot.rows for bot in summary.bots)
    basis = [count(summary.questions, "question"), count(len(summary.bots), "bot"), count(rows, "row")]
    return f"{', '.join(basis)}; {counted(report.findings.problems).lower()}"


def _notes(report: Report) -> list[str]:
    """What the signs and figures of the leaderboard mean, and which models stand behind them."""
    summary = report.run.summary
    told = (*about_intervals(summary), *about_corrections(summary))
    notes = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in told]
    if any(bot.embedded for bot in summary.bots):
        notes.append("No LLM: answers come from an embedded model that only picks sentences or entries.")
    if summary.judge is not None:
        notes.append(f"{summary.judge.sentence[0].upper()}{summary.judge.sentence[1:]}.")
    notes += [f"{model.sentence[0].upper()}{model.sentence[1:]}." for model in summary.local_models]
    return notes
