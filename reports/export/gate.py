"""Renderings of a gate: Markdown, JUnit, JSON, annotations of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Final

from ..gate import report as words
from ..gate.report import GateReport
from ..gate.rule import BELOW_THRESHOLD, MEANING, NOT_WORSE, REGRESSED, UNDECIDED, GateRule
from ..gate.verdicts import BotVerdict, GateFlip, MetricVerdict, OnThese
from ..leaderboard import ARROWS
from ..markdown_text import cell_code, code, prose
from ..statistics.paired import Difference
from ..text import printable_lines
from .github import Annotation, Level, commands
from .junit import Case, CaseSuite, Kind, junit_xml

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
        "run": bot.candidate_run, "baseline": report.baseline, "baseline_run": bot.baseline_run, "against":
        bot.baseline_bot, "verdict": bot.word, "questions": str(bot.questions), "clusters": str(bot.clusters),
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


LONGEST: Final = 300  # characters of an answer
SIGNS: Final = {NOT_WORSE: "✅", REGRESSED: "❌", BELOW_THRESHOLD: "📉", UNDECIDED: "❔"}
OTHER_SIGN: Final = "⚠️"


def gate_markdown(report: GateReport, saved: Sequence[str] = ()) -> str:
    """The page. Names, questions and answers in it are texts of others, and stay texts.

    Args:
        report: the verdicts.
        saved: sentences about what was asked and what was kept.
    """
    return "\n".join(_page(report, saved)) + "\n"


def _page(report: GateReport, saved: Sequence[str]) -> Iterator[str]:
    sign = SIGNS.get(report.exit_code, OTHER_SIGN)
    yield f"## {sign} {prose(report.suite, 100)}: {MEANING[report.exit_code]}"
    yield ""
    unfinished = "" if report.status == "finished" else f" ({prose(report.status)})"
    yield (
        f"Run {code(report.run)}{unfinished} compared with {code(report.baseline, 200)} "
        f"(run {code(report.baseline_run)}). Exit code {report.exit_code}."
    )
    for bot in report.bots:
        yield ""
        yield from _bot(bot, report.rule)
    if report.notes or saved:
        yield ""
        yield from (f"- {prose(note)}" for note in (*report.notes, *saved))


def _bot(bot: BotVerdict, rule: GateRule) -> Iterator[str]:
    yield f"### {SIGNS.get(bot.exit_code, OTHER_SIGN)} {prose(words.headline(bot), 200)}"
    if failed := words.failures(bot):
        yield ""
        yield f"{OTHER_SIGN} **{prose(failed)}**"
    compared = [each for each in bot.metrics if each.outcome != "unchanged"]
    if compared:
        yield ""
        yield "| metric | before | now | change (95 %) | p | margin | verdict |"
        yield "|---|--:|--:|:--|--:|--:|:--|"
        yield from map(_line, compared)
    notes = list(_notes(bot, rule))
    if notes:
        yield ""
        yield from notes
    yield from _changes(bot)
    if bot.flips:
        yield ""
        yield f"<details><summary>What got worse most ({len(bot.flips)})</summary>"
        yield ""
        for flip in bot.flips:
            yield from _flip_line(flip)
        yield ""
        yield "</details>"


def _changes(bot: BotVerdict) -> Iterator[str]:
    """What the bot is made of that was otherwise, prompts line by line."""
    if others := words.other_changes(bot):
        yield ""
        yield f"Changed in {code(bot.bot, 80)}: {prose('; '.join(others))}."
    for name, lines in words.prompt_changes(bot):
        notify = "\n".join(lines)
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", notify)), default=0))
        yield ""
        yield f"<details open><summary>Changed prompt: {prose(name, 80)}</summary>"
        yield ""
        yield f"{fence}diff"
        yield printable_lines(notify)
        yield fence
        yield ""
        yield "</details>"


def _line(found: MetricVerdict) -> str:
    verdict = f"**{found.outcome}**" if found.outcome in ("regressed", "not comparable") else found.outcome
    cells = [
        f"{cell_code(found.metric, 80)} {ARROWS[found.better]}".strip(),
        words.mean(found, found.baseline_mean),
        words.mean(found, found.candidate_mean),
        words.change(found),
        words.p_of(found).replace("<", "&lt;"),
        f"{found.margin:g}",
        f"{verdict}: {prose(found.sentence, 300)}",
    ]
    return f"| {' | '.join(cells)} |"


def _notes(bot: BotVerdict, rule: GateRule) -> Iterator[str]:
    if not bot.metrics:
        yield "- **nothing to compare**: no gated metric has a value on both sides"
    for each in bot.metrics:
        if other := words.other_scope(each, rule.scope):
            yield f"- {code(each.metric, 80)} {prose(other)}"
        if lost := words.missing(each, rule.missing):
            much = "**too much missing**: " if each.too_much_missing else ""
            yield f"- {much}{code(each.metric, 80)}: {prose(lost)}"
    for threshold in bot.thresholds:
        notify = words.threshold(threshold).replace(threshold.metric, code(threshold.metric, 80))
        yield f"- {notify if threshold.outcome == 'met' else f'**{notify}**'}: {prose(threshold.sentence)}"
    if not bot.unchanged:
        outcome = f" **{bot.latency.outcome}**" if bot.latency.outcome else ""
        yield f"- latency{outcome}: {prose(bot.latency.sentence)}"
    yield from (f"- {prose(note)}" for note in bot.notes)


def _flip_line(flip: GateFlip) -> Iterator[str]:
    yield f"- {code(flip.key, 80)}: {prose(flip.question, LONGEST)}"
    yield f"  - {prose('; '.join(filter(None, [*map(words.fall, flip.falls), words.asked_again(flip)])))}"
    for when, answer in words.answers(flip):
        yield f"  - {when}: {prose(answer, LONGEST)}"


def bot_object(bot: BotVerdict) -> dict[str, object]:
    """Everything that a gate says of one bot."""
    latency = bot.latency
    return {
        "bot": bot.bot,
        "against": {"bot": bot.baseline_bot, "run": bot.baseline_run},
        "verdict": bot.word,
        "exit_code": bot.exit_code,
        "unchanged": bot.unchanged,
        "questions": bot.questions,
        "clusters": bot.clusters,
        "metrics": {each.metric: metric_object(each) for each in bot.metrics},
        "thresholds": [asdict(each) for each in bot.thresholds],
        "latency": {
            "outcome": latency.outcome,
            "limit": latency.limit,
            "figures": None if latency.found is None else asdict(latency.found),
            "sentence": latency.sentence,
        },
        "failures": asdict(bot.failures),
        "primary": bot.primary or None,
        "changes": [asdict(each) for each in bot.changes],
        "flips": [flip_object(flip) for flip in bot.flips],
        "notes": list(bot.notes),
    }


def metric_object(found: MetricVerdict) -> dict[str, object]:
    """One metric; ``gain`` is above 0 where the bot got better, ``difference`` is candidate less baseline."""
    gain, change = found.gain, found.change
    return {
        "outcome": found.outcome,
        "sentence": found.sentence,
        "these": None if found.these is None else _these_object(found.these),
        "like_these": None
        if found.like_these is None
        else {"outcome": found.like_these, "sentence": found.like_sentence},
        "margin": found.margin,
        "better": found.better,
        "baseline_mean": found.baseline_mean,
        "candidate_mean": found.candidate_mean,
        "difference": None if change is None else change[0],
        "difference_low": None if change is None else change[1],
        "difference_high": None if change is None else change[2],
        "gain": None if gain is None else asdict(gain),
        "p_value": None if gain is None else gain.p_value,
        "adjusted_p": found.adjusted_p,
        "questions": _questions(gain),
        "clusters": None if gain is None else gain.clusters,
        "further_questions": found.further,
        "missing": found.missing,
        "missing_in_part": found.missing_in_part,
        "missing_share": found.missing_share,
        "too_much_missing": found.too_much_missing,
        "gain_bounds": None if found.bounds is None else list(found.bounds),
    }


def _these_object(found: OnThese) -> dict[str, object]:
    return {**asdict(found), "gain_low": found.low, "gain_high": found.high}


def flip_object(flip: GateFlip) -> dict[str, object]:
    """A question that got worse."""
    return {
        "question_id": flip.key,
        "question": flip.question,
        "metrics": [asdict(each) for each in flip.falls],
        "again": {"before": list(flip.again[0]), "now": list(flip.again[1])},
        "baseline_answer": flip.baseline_answer,
        "candidate_answer": flip.candidate_answer,
        "candidate_answered": flip.candidate_answered,
    }


def rule_object(rule: GateRule) -> dict[str, object]:
    """What was gated and let pass."""
    return {
        "margins": dict(rule.margins),
        "margin": rule.margin,
        "missing": rule.missing,
        "latency": rule.latency,
        "scope": rule.scope,
        "confirm": rule.confirm,
        "metrics": list(rule.metrics),
        "thresholds": sorted(rule.thresholds),
        "cluster": rule.cluster,
    }


def _questions(gain: Difference | None) -> int:
    return 0 if gain is None else gain.questions
