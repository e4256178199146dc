"""Silent metrics: those that had nothing to say on any row of any bot, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...metrics.evaluator_table import RATES
from ...metrics.score import Reason
from ...reports.judging.judge_in_use import families

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...reports.summary import MetricSummary, Summary

UNREADABLE = RATES[-1]  # is null by definition where no judge reads anything


def silent_metrics(summary: Summary) -> Iterator[str]:
    """A sentence when metrics of the run were not applicable wherever a bot answered."""
    silent: dict[str, list[str]] = {}
    ungraded: list[str] = []
    for column in summary.metrics:
        cells = [bot.metrics[column.name] for bot in summary.bots]
        reasons = sum((_reasons(cell) for cell in cells), Counter[str]())
        if not reasons or any(_has_said(cell) for cell in cells) or column.name.endswith(f".{UNREADABLE}"):
            continue
        if Reason.CONTEXTS_NOT_CHECKED in reasons:
            continue  # as its evaluator has it
        if Reason.JUDGE_CANNOT_GRADE in reasons:
            ungraded.append(column.name)
        else:
            silent.setdefault(reasons.most_common(1)[0][0], []).append(column.name)
    if silent:
        parts = [f"{', '.join(names)} ({reason})" for reason, names in silent.items()]
        yield f"Without a value on any row: {'; '.join(parts)}."
    if ungraded:
        who = "embedded judge" if summary.judge is None or summary.judge.embedded else "judge"
        hint = "take a language model for them: --judge openai:NAME" if who == "embedded judge" else "take another one"
        yield f"The {who} can't grade {', '.join(families(ungraded))}; {hint}."


def _reasons(cell: MetricSummary) -> Counter[str]:
    return Counter({reason: count for reason, count in cell.reasons.items() if reason != "bot_raised"})


def _has_said(cell: MetricSummary) -> bool:
    """Whether there is a value, or a failure of the metric itself; a row on which the bot failed is neither."""
    return cell.n_ok > 0 or cell.n_failed > cell.reasons.get("bot_raised", 0)
