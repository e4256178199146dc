"""Gate JUnit: a gate as JUnit XML, which build servers read: a test case for every verdict."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal
from xml.sax.saxutils import escape, quoteattr

from . import gate_words as words
from .gate_flips import GateFlip
from .gate_report import GateReport
from .verdicts import BotVerdict

# Everything that XML 1.0 has no way to write, not even as an entity.
FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Kind = Literal["passed", "failure", "error", "skipped"]
# Regressed fails a build; what can't be told (too much missing, not comparable) is an error in the set-up; undecided is
# neither good nor bad, and build servers have "skipped" for that. The exit code still tells them apart.
KINDS: Final[dict[str, Kind]] = {
    "unchanged": "passed", "not worse": "passed", "met": "passed", "regressed": "failure", "missed": "failure",
    "undecided": "skipped", "not comparable": "error", "too much missing": "error",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    outcome: str
    message: str
    text: str = ""

    @property
    def kind(self) -> Kind:
        return KINDS[self.outcome]


def gate_junit(report: GateReport) -> str:
    """The XML document: a test suite for each bot; a case for each metric, threshold, what is missing, and latency."""
    suites = [_suite(report, bot) for bot in report.bots]
    counts = _counts([case for bot in report.bots for case in _cases(bot, report.rule.missing)])
    name = quoteattr(_text(f"proctor gate {report.suite}"))
    return "\n".join(
        ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name} {counts}>", *suites, "</testsuites>", ""]
    )


def _suite(report: GateReport, bot: BotVerdict) -> str:
    cases = list(_cases(bot, report.rule.missing))
    properties = {
        "run": bot.head_run, "baseline": report.baseline, "baseline_run": bot.base_run, "against": bot.base_bot,
        "verdict": bot.word, "questions": str(bot.questions), "clusters": str(bot.clusters),
    }  # fmt: skip
    return "\n".join(
        [
            f"  <testsuite name={_attribute(bot.bot)} {_counts(cases)}>",
            "    <properties>",
            *(
                f"      <property name={quoteattr(name)} value={_attribute(value)}/>"
                for name, value in properties.items()
            ),
            "    </properties>",
            *(_written(bot.bot, case) for case in cases),
            "  </testsuite>",
        ]
    )


def _written(bot: str, case: _Case) -> str:
    opening = f"    <testcase classname={_attribute(bot)} name={_attribute(case.name)}"
    if case.kind == "passed":
        return f"{opening}>\n      <system-out>{escape(_text(case.message))}</system-out>\n    </testcase>"
    kind = "" if case.kind == "skipped" else f" type={quoteattr(case.outcome)}"
    inner = f"      <{case.kind} message={_attribute(case.message)}{kind}>{escape(_text(case.text))}</{case.kind}>"
    return f"{opening}>\n{inner}\n    </testcase>"


def _cases(bot: BotVerdict, allowed: float) -> Iterator[_Case]:
    if not bot.metrics:
        yield _Case("metrics", "not comparable", "no gated metric has a value on both sides")
    falls = "\n".join(line for flip in bot.flips for line in _flip(flip))
    for each in bot.metrics:
        figures = "" if each.change is None else f"{words.change(each)}, p {words.p_of(each)}: "
        yield _Case(each.metric, each.outcome, f"{each.outcome}: {figures}{each.sentence}", falls)
        if lost := words.missing(each, allowed):
            outcome = "too much missing" if each.too_much_missing else "not worse"
            yield _Case(f"{each.metric} (missing)", outcome, lost)
    for threshold in bot.thresholds:
        message = f"{threshold.outcome}: {threshold.sentence}"
        yield _Case(f"{threshold.metric} (threshold)", threshold.outcome, message)
    if bot.latency.outcome is not None:
        yield _Case("latency", bot.latency.outcome, f"{bot.latency.outcome}: {bot.latency.sentence}")


def _flip(flip: GateFlip) -> Iterator[str]:
    yield f"{flip.key}: {flip.question}"
    yield f"  {'; '.join(map(words.fall, flip.falls))}"
    yield from (f"  {when}: {answer}" for when, answer in words.answers(flip))


def _counts(cases: list[_Case]) -> str:
    numbers = {kind: sum(case.kind == kind for case in cases) for kind in ("failure", "error", "skipped")}
    return (
        f'tests="{len(cases)}" failures="{numbers["failure"]}" errors="{numbers["error"]}"'
        f' skipped="{numbers["skipped"]}"'
    )


def _attribute(text: str) -> str:
    return quoteattr(_text(" ".join(text.split())))


def _text(text: str) -> str:
    """The text with a replacement for every character that XML can't hold."""
    return FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
