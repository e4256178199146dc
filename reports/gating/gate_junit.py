"""Gate JUnit: a gate as JUnit XML, which build servers read: a test case for every verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..junit_xml import Case, CaseSuite, Kind, junit_xml
from . import gate_words as words
from .gate_flips import GateFlip
from .gate_report import GateReport
from .verdicts import BotVerdict

# Regressed fails a build; what can't be told (too much missing, not comparable) is an error in the set-up; undecided is
# neither good nor bad, and build servers have "skipped" for that. The exit code still tells them apart.
KINDS: Final[dict[str, Kind]] = {
    "unchanged": "passed", "not worse": "passed", "met": "passed", "regressed": "failure", "below threshold": "failure",
    "undecided": "skipped", "failed": "skipped", "not comparable": "error", "too much missing": "error",
}  # fmt: skip


def gate_junit(report: GateReport) -> str:
    """The XML document: a test suite for each bot; a case for each metric, threshold, what is missing, and latency."""
    return junit_xml(f"proctor gate {report.suite}", [_suite(report, bot) for bot in report.bots])


def _suite(report: GateReport, bot: BotVerdict) -> CaseSuite:
    properties = {
        "run": bot.head_run, "baseline": report.baseline, "baseline_run": bot.base_run, "against": bot.base_bot,
        "verdict": bot.word, "questions": str(bot.questions), "clusters": str(bot.clusters),
    }  # fmt: skip
    return CaseSuite(bot.bot, list(_cases(bot, report.rule.missing)), properties)


def _case(name: str, outcome: str, message: str, text: str = "") -> Case:
    return Case(name, KINDS[outcome], message, text, outcome)


def _cases(bot: BotVerdict, allowed: float) -> Iterator[Case]:
    if not bot.metrics:
        yield _case("metrics", "not comparable", "no gated metric has a value on both sides")
    falls = "\n".join(line for flip in bot.flips for line in _flip(flip))
    if failed := words.failures(bot):
        yield _case("failed answers", "failed", failed)
    for each in bot.metrics:
        figures = "" if each.change is None else f"{words.change(each)}, p {words.p_of(each)}: "
        yield _case(each.metric, each.outcome, f"{each.outcome}: {figures}{each.sentence}", falls)
        if lost := words.missing(each, allowed):
            outcome = "too much missing" if each.too_much_missing else "not worse"
            yield _case(f"{each.metric} (missing)", outcome, lost)
    for threshold in bot.thresholds:
        message = f"{threshold.outcome}: {threshold.sentence}"
        yield _case(f"{threshold.metric} (threshold)", threshold.outcome, message)
    if bot.latency.outcome is not None:
        yield _case("latency", bot.latency.outcome, f"{bot.latency.outcome}: {bot.latency.sentence}")


def _flip(flip: GateFlip) -> Iterator[str]:
    yield f"{flip.key}: {flip.question}"
    yield f"  {'; '.join(map(words.fall, flip.falls))}"
    yield from (f"  {when}: {answer}" for when, answer in words.answers(flip))
