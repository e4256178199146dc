"""Gate annotations: a gate as workflow commands of GitHub Actions, which show beside the checks of a pull request."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Final, Literal

from ..markdown_text import one_line
from . import gate_words as words
from .gate_report import GateReport
from .gate_rule import NOT_WORSE
from .verdicts import BotVerdict

Level = Literal["error", "warning", "notice"]
MOST: Final = 10  # annotations of a level that GitHub shows of a step
LONGEST: Final = 1000
LEVELS: Final[dict[str, Level]] = {
    "regressed": "error", "missed": "error", "not comparable": "error", "too much missing": "error",
    "undecided": "warning",
}  # fmt: skip


def gate_annotations(report: GateReport) -> Iterator[str]:
    """The commands, a line each: an error or warning for every verdict that is not good, a notice when all are."""
    found = [each for bot in report.bots for each in _of_bot(bot, report.rule.missing)]
    for level in ("error", "warning"):
        of_level = [(title, message) for each, title, message in found if each == level]
        kept = of_level if len(of_level) <= MOST else of_level[: MOST - 1]
        yield from (command(level, title, message) for title, message in kept)
        if len(kept) < len(of_level):
            more = f"{len(of_level) - len(kept)} more; the log and the step summary have them all"
            yield command(level, "proctor gate", more)
    if report.exit_code == NOT_WORSE:
        bots = ", ".join(f"{bot.bot} {bot.word}" for bot in report.bots)
        yield command("notice", f"proctor gate: {report.suite}", f"{bots}; compared with {report.baseline}")


def command(level: Level, title: str, message: str) -> str:
    r"""One workflow command; nothing in title or message can end it or begin another.

    >>> command("error", "a,b: c", "50%\nworse")
    '::error title=a%2Cb%3A c::50%25 worse'
    """
    return f"::{level} title={_property(one_line(title, LONGEST))}::{_data(one_line(message, LONGEST))}"


def paused(token: str = "") -> tuple[str, str]:
    """Lines that make GitHub take what stands between them as plain text, whatever answers hold."""
    word = token or secrets.token_hex(16)
    return f"::stop-commands::{word}", f"::{word}::"


def _of_bot(bot: BotVerdict, allowed: float) -> Iterator[tuple[Level, str, str]]:
    """Level, title and message; what fails the build first."""
    if not bot.metrics:
        yield "error", f"{bot.bot}: nothing to compare", "no gated metric has a value on both sides"
    for each in sorted(bot.metrics, key=lambda each: each.outcome == "undecided"):
        if each.outcome in LEVELS:
            figures = "" if each.change is None else f"{words.change(each)}, p {words.p_of(each)}: "
            yield LEVELS[each.outcome], f"{bot.bot}: {each.metric} {each.outcome}", f"{figures}{each.sentence}"
        if each.too_much_missing:
            yield "error", f"{bot.bot}: {each.metric} too much missing", words.missing(each, allowed)
    for threshold in bot.thresholds:
        if threshold.outcome in LEVELS:
            title = f"{bot.bot}: threshold of {threshold.metric} {threshold.outcome}"
            yield LEVELS[threshold.outcome], title, threshold.sentence
    if bot.latency.outcome in LEVELS:
        yield LEVELS[bot.latency.outcome], f"{bot.bot}: latency {bot.latency.outcome}", bot.latency.sentence


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
