"""Gate Markdown: a gate as a comment for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ..leaderboard import ARROWS
from ..markdown_text import cell_code, code, prose
from ..printable import printable_lines
from . import gate_words as words
from .gate_flips import GateFlip
from .gate_report import GateReport
from .gate_rule import BELOW_THRESHOLD, MEANING, NOT_WORSE, REGRESSED, UNDECIDED, GateRule
from .metric_verdicts import MetricVerdict
from .verdicts import BotVerdict

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
            yield from _flip(flip)
        yield ""
        yield "</details>"


def _changes(bot: BotVerdict) -> Iterator[str]:
    """What the bot is made of that was otherwise, prompts line by line."""
    if others := words.other_changes(bot):
        yield ""
        yield f"Changed in {code(bot.bot, 80)}: {prose('; '.join(others))}."
    for name, lines in words.prompt_changes(bot):
        told = "\n".join(lines)
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", told)), default=0))
        yield ""
        yield f"<details open><summary>Changed prompt: {prose(name, 80)}</summary>"
        yield ""
        yield f"{fence}diff"
        yield printable_lines(told)
        yield fence
        yield ""
        yield "</details>"


def _line(found: MetricVerdict) -> str:
    verdict = f"**{found.outcome}**" if found.outcome in ("regressed", "not comparable") else found.outcome
    cells = [
        f"{cell_code(found.metric, 80)} {ARROWS[found.better]}".strip(),
        words.mean(found, found.base_mean),
        words.mean(found, found.head_mean),
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
        told = words.threshold(threshold).replace(threshold.metric, code(threshold.metric, 80))
        yield f"- {told if threshold.outcome == 'met' else f'**{told}**'}: {prose(threshold.sentence)}"
    if not bot.unchanged:
        outcome = f" **{bot.latency.outcome}**" if bot.latency.outcome else ""
        yield f"- latency{outcome}: {prose(bot.latency.sentence)}"
    yield from (f"- {prose(note)}" for note in bot.notes)


def _flip(flip: GateFlip) -> Iterator[str]:
    yield f"- {code(flip.key, 80)}: {prose(flip.question, LONGEST)}"
    yield f"  - {prose('; '.join(filter(None, [*map(words.fall, flip.falls), words.asked_again(flip)])))}"
    for when, answer in words.answers(flip):
        yield f"  - {when}: {prose(answer, LONGEST)}"
