"""Gate annotations: the verdicts of a gate as GitHub Actions shows them beside the checks of a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..workflow_commands import Annotation, Level, commands
from . import gate_words as words
from .gate_report import GateReport
from .gate_rule import NOT_WORSE
from .verdicts import BotVerdict

LEVELS: Final[dict[str, Level]] = {
    "regressed": "error", "below threshold": "error", "not comparable": "error", "too much missing": "error",
    "undecided": "warning",
}  # fmt: skip


def gate_annotations(report: GateReport) -> Iterator[str]:
    """The commands, a line each: an error or warning for every verdict that is not good, a notice when all are."""
    found = [each for bot in report.bots for each in _of_bot(bot, report.rule.missing)]
    if report.exit_code == NOT_WORSE:
        bots = ", ".join(f"{bot.bot} {bot.word}" for bot in report.bots)
        found.append(Annotation("notice", f"proctor gate: {report.suite}", f"{bots}; compared with {report.baseline}"))
    return commands(found, "proctor gate")


def _of_bot(bot: BotVerdict, allowed: float) -> Iterator[Annotation]:
    """What fails the build first."""
    if not bot.metrics:
        yield Annotation("error", f"{bot.bot}: nothing to compare", "no gated metric has a value on both sides")
    if failed := words.failures(bot):
        yield Annotation("warning", f"{bot.bot}: answers failed", failed)
    for each in sorted(bot.metrics, key=lambda each: each.outcome == "undecided"):
        if each.outcome in LEVELS:
            figures = "" if each.change is None else f"{words.change(each)}, p {words.p_of(each)}: "
            title = f"{bot.bot}: {each.metric} {each.outcome}"
            yield Annotation(LEVELS[each.outcome], title, f"{figures}{each.sentence}")
        if each.too_much_missing:
            yield Annotation("error", f"{bot.bot}: {each.metric} too much missing", words.missing(each, allowed))
    for threshold in bot.thresholds:
        if threshold.outcome in LEVELS:
            title = f"{bot.bot}: {words.threshold(threshold)}"
            yield Annotation(LEVELS[threshold.outcome], title, threshold.sentence)
    if bot.latency.outcome in LEVELS:
        title = f"{bot.bot}: latency {bot.latency.outcome}"
        yield Annotation(LEVELS[bot.latency.outcome], title, bot.latency.sentence)
