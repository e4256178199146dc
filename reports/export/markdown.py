"""Markdown: a run as a page for a pull request: leaderboard, problems, insights, analysis and boards."""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.messages import analysis_markdown
from ..analysis.store import analysis_of_run
from ..boards import board_markdown, table
from ..insights import Insight
from ..leaderboard import (
    ARROWS,
    about_corrections,
    about_intervals,
    best_bots,
    corrected_figures,
    count,
    figure,
    milliseconds,
    primary_first,
)
from ..markdown_text import cell_code, code, prose
from ..models_in_use import families
from ..problems import Problem, counted
from ..report import Report
from ..summary import BotSummary, MetricColumn

MOST_PROBLEMS = 30  # a comment on a pull request has room for about 65,000 characters
MOST_BOARDS = 20


def markdown(report: Report) -> str:
    """The page. Names, questions and answers in it are texts of others, and stay texts."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    summary = report.run.summary
    bots = count(len(summary.bots), "bot")
    yield f"## {prose(summary.suite, 100)}: {count(summary.questions, 'question')}, {bots}"
    yield ""
    yield f"{_provenance(report)}."
    yield ""
    yield f"**{counted(report.findings.problems)}.**"
    yield ""
    yield from _leaderboard(report)
    yield from _problems(report.findings.problems)
    yield from _insights(report.findings.insights)
    yield from _knowledge(report)
    yield from _boards(report)


def _provenance(report: Report) -> str:
    summary = report.run.summary
    status = "" if summary.status == "finished" else f" ({summary.status})"
    by = f"Proctor {code(str(report.manifest.get('proctor', '')))}"
    if not report.timed:
        return f"{by}{status}"
    ended = f", {report.finished_at[:16].replace('T', ' ')} UTC" if report.finished_at else ""
    return f"Run {code(summary.run)}{status}{ended}, {by}"


def _leaderboard(report: Report) -> Iterator[str]:
    summary = report.run.summary
    shown = [name for name in report.metrics if name != "latency_ms"]
    columns = [column for column in primary_first(summary) if column.name in shown]
    headings = ["", *(f"{cell_code(bot.name, 60)}{_nature(bot)}" for bot in summary.bots)]
    lines = []
    for column in columns:
        best = best_bots(column, summary.bots)
        cells = [_mean(bot, column, bot.name in best) for bot in summary.bots]
        lines.append([f"{code(column.name)} {ARROWS[column.better]}".strip(), *cells])
        if any(bot.metrics[column.name].calibration for bot in summary.bots):
            lines.append(["corrected", *(_corrected(bot, column) for bot in summary.bots)])
    if report.timed:
        lines.append(["latency p50", *(milliseconds(bot.latency.p50) if bot.latency else "-" for bot in summary.bots)])
        lines.append(["latency p95", *(milliseconds(bot.latency.p95) if bot.latency else "-" for bot in summary.bots)])
    lines.append(["failed", *(f"{bot.failed:,} of {bot.rows:,}" for bot in summary.bots)])
    if any(bot.cost is not None for bot in summary.bots):
        lines.append(["cost", *("-" if bot.cost is None else f"{bot.cost:.4f}" for bot in summary.bots)])
    yield from table(headings, lines, numbers=1)
    yield ""
    yield "Mean and 95 % interval over the questions; the best in bold, a dash where there is no value."
    if summary.primary is not None:
        yield prose(summary.primary.why)
    for sentence in (*about_intervals(summary), *about_corrections(summary)):
        yield prose(f"{sentence[0].upper()}{sentence[1:]}.", 2000)
    if (judge := summary.judge) is not None:
        who = "Embedded judge, no LLM" if judge.embedded else f"Judged by {code(judge.name, 200)}"
        yield f"{who}: {', '.join(code(name) for name in families(judge.metrics))}."
    for model in summary.local_models:
        where = "On a server" if model.is_served else "Not here" if model.is_absent else "Local model"
        metrics = ", ".join(code(name) for name in families(model.metrics))
        yield f"{where}: {code(model.model_id, 200)}, for {metrics}."
    yield ""


def _nature(bot: BotSummary) -> str:
    return " (no LLM)" if bot.embedded else f" ({cell_code(bot.model, 60)})" if bot.model else ""


def _mean(bot: BotSummary, column: MetricColumn, best: bool) -> str:
    metric = bot.metrics[column.name]
    if metric.mean is None:
        return "-"
    mean = figure(metric.mean, column)
    text = f"**{mean}**" if best else mean
    if metric.ci_low is not None and metric.ci_high is not None:
        text += f" ({figure(metric.ci_low, column)} to {figure(metric.ci_high, column)})"
    return text if metric.n_ok >= bot.rows else f"{text}, n {metric.n_ok:,}"


def _corrected(bot: BotSummary, column: MetricColumn) -> str:
    found = bot.metrics[column.name].calibration
    if found is None or found.stale:
        return "stale" if found else "-"
    mean, _, interval = corrected_figures(found, column, " to ").partition(" ")
    return f"{mean} ({interval}), {'n' if found.is_random else 'picked'} {found.labels:,}"


def _problems(problems: tuple[Problem, ...]) -> Iterator[str]:
    if not problems:
        return
    yield "### Problems"
    yield ""
    lines = [
        [str(problem.id), problem.severity, problem.type, prose(problem.what), _rows(problem)]
        for problem in problems[:MOST_PROBLEMS]
    ]
    yield from table(["", "severity", "type", "what", "rows, worst first"], lines, numbers=5)
    yield ""
    yield from _actions(problems[:MOST_PROBLEMS])
    if len(problems) > MOST_PROBLEMS:
        yield ""
        yield f"And {len(problems) - MOST_PROBLEMS:,} more, all of which are in the database."
    yield ""


def _actions(problems: tuple[Problem, ...]) -> Iterator[str]:
    """What to do, once for all problems for which it is the same."""
    numbers: dict[str, list[int]] = {}
    for problem in problems:
        numbers.setdefault(problem.action, []).append(problem.id)
    for action, ids in numbers.items():
        yield f"- {_spans(ids)}: {prose(action)}"


def _spans(numbers: list[int]) -> str:
    """Numbers in rising order, with runs of them drawn together.

    >>> _spans([1, 2, 3, 5])
    '1 to 3, 5'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _rows(problem: Problem) -> str:
    if not problem.row_count:
        return "-"
    shown = problem.rows[:3]
    names = ", ".join(
        cell_code(row.question_id, 40) + (f" (repeat {row.repeat + 1})" if row.repeat else "") for row in shown
    )
    more = problem.row_count - len(shown)
    return f"{names} and {more:,} more" if more else names


def _insights(insights: tuple[Insight, ...]) -> Iterator[str]:
    if not insights:
        return
    yield "### Insights"
    yield ""
    for insight in insights:
        quoted = insight.details.get("question") or insight.details.get("sentence")
        yield f"- {prose(insight.text)}" + (f" {code(str(quoted), 200)}" if quoted else "")
    yield ""


def _knowledge(report: Report) -> Iterator[str]:
    """What the run's analysis found; nothing where times don't count, as an analysis is made when it is made."""
    analysis = analysis_of_run(report.run.store, report.run.id) if report.timed else None
    if analysis is not None:
        yield from analysis_markdown(analysis)


def _boards(report: Report) -> Iterator[str]:
    """The boards that say more than the leaderboard; folded, because they are many."""
    boards = [board for board in report.boards if len(board.columns) > 1]
    if not boards:
        return
    yield f"<details><summary>Boards of {count(len(boards), 'evaluator')}</summary>"
    yield ""
    for board in boards[:MOST_BOARDS]:
        yield f"### {prose(board.evaluator.title, 100)}"
        yield ""
        yield from board_markdown(board)
        yield ""
    yield "</details>"
