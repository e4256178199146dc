"""Gate table: the verdicts of a gate for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...reports.gating import gate_words as words
from ...reports.gating.gate_flips import GateFlip
from ...reports.gating.gate_report import GateReport
from ...reports.gating.gate_rule import MEANING, WRONG, GateRule
from ...reports.gating.metric_verdicts import MetricVerdict
from ...reports.gating.verdicts import BotVerdict
from ...reports.leaderboard import ARROWS, count
from ...reports.markdown_text import one_line
from ...reports.printable import printable, printable_lines
from .attribution_table import explained_parts
from .comparison_table import broken

if TYPE_CHECKING:
    from ..deciding.gate import GateResult
    from ..deciding.gate_savings import Savings

STYLES: Final = {
    "not worse": "green", "unchanged": "green", "met": "green", "regressed": "bold red", "below threshold": "bold red",
    "undecided": "yellow", "not comparable": "bold red", "too much missing": "bold red",
}  # fmt: skip
WIDTHS: Final = (21, 6, 6, 26, 7, 9)  # name, before, now, change, p, verdict
MOST_FALLS: Final = 3  # metrics that are named of a question
LONGEST: Final = 160  # characters of an answer


def gate_table(result: GateResult) -> RenderableType:
    """Bot by bot: metrics, thresholds, latency, the questions that got worse; then what was saved and the verdict."""
    report = result.report
    parts: list[RenderableType] = [_title(report), Text(printable(result.took), overflow="fold")]
    parts.append(Text(printable(f"Compared with {report.baseline}, run {report.baseline_run}."), overflow="fold"))
    if report.primary is not None:
        parts.append(Text(printable(report.primary.why), overflow="fold", style="dim"))
    for bot in report.bots:
        parts += [Text(), *_bot(bot, report.rule)]
    parts.append(Text())
    if report.notes:
        parts += [*_notes(report.notes), Text()]
    if result.explained is not None:
        parts += [*explained_parts(result.explained), Text()]
    if result.early is not None:
        parts.append(Text(printable(result.early.sentence), overflow="fold"))
    if result.saved is not None:
        parts += [Text(printable(line), overflow="fold") for line in saved_lines(result.saved)]
    if report.exit_code == WRONG:
        parts.append(Text("If what can't be compared was meant to change, write the baseline anew: proctor baseline"))
    word = MEANING[report.exit_code]
    parts.append(Text.assemble("Verdict: ", (word, STYLES[word]), f" (exit code {report.exit_code})"))
    return Group(*parts)


def saved_lines(saved: Savings) -> Iterator[str]:
    """What was asked, what was not asked again, and what that had cost."""
    if saved.asked:
        asked = ", ".join(f"{bot} {count(number, 'question')}" for bot, number in saved.asked.items())
        yield f"Asked {asked}."
    else:
        yield "Nothing was asked."
    if saved.kept:
        bots = " and ".join(saved.kept)
        yield (
            f"Saved: {count(sum(saved.kept.values()), 'answer')} of {bots} kept, "
            f"{words.kept(saved.seconds, saved.cost)}."
        )
    if saved.judge_calls or saved.judge_calls_kept:
        yield (
            f"The judge was sent {count(saved.judge_calls, 'request')};"
            f" {saved.judge_calls_kept:,} kept from before or shared."
        )


def _title(report: GateReport) -> Text:
    unfinished = "" if report.status == "finished" else f" ({report.status})"
    title = Text(overflow="fold")
    title.append(printable(report.suite), style="bold")
    return title.append(f": gate of {count(len(report.bots), 'bot')}, run {printable(report.run)}{unfinished}")


def _bot(bot: BotVerdict, rule: GateRule) -> Iterator[RenderableType]:
    yield Text(printable(words.headline(bot)), style=STYLES[bot.word], overflow="fold")
    compared = [each for each in bot.metrics if each.gain is not None]
    if compared:
        table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        for title, width in zip(("", "before", "now", "change", "p Holm", ""), WIDTHS, strict=True):
            justify: Literal["left", "right"] = "left" if title in ("", "change") else "right"
            table.add_column(Text(title, style="dim"), width=width, justify=justify, overflow="fold")
        for each in compared:
            table.add_row(*_cells(each))
        yield table
    if failed := words.failures(bot):
        yield Padding(Text(f"!! {printable(failed)}", style="bold red", overflow="fold"), (0, 0, 0, 2))
    for line, style in _sentences(bot, rule):
        yield Padding(Text(printable(line), style=style, overflow="fold"), (0, 0, 0, 2))
    if bot.flips:
        yield Text("  Got worse:" if not bot.unchanged else "", style="dim")
        for flip in bot.flips:
            yield from _flip(flip)


def _cells(found: MetricVerdict) -> Iterator[Text]:
    yield Text(printable_lines("\n".join(broken(f"{found.metric} {ARROWS[found.better]}".rstrip(), WIDTHS[0]))))
    yield Text(words.mean(found, found.base_mean))
    yield Text(words.mean(found, found.head_mean))
    yield Text(words.change(found))
    yield Text(words.p_of(found))
    yield Text(found.outcome, style=STYLES[found.outcome])


def _sentences(bot: BotVerdict, rule: GateRule) -> Iterator[tuple[str, str]]:
    """What the figures mean, what is missing, thresholds and latency."""
    if not bot.metrics:
        yield "There is nothing to compare: no gated metric has a value on both sides.", STYLES["not comparable"]
    passed = [each for each in bot.metrics if each.outcome == "not worse"]
    for sentence in dict.fromkeys(each.sentence for each in passed):
        yield f"{', '.join(each.metric for each in passed if each.sentence == sentence)}: {sentence}", ""
    told = set()
    for each in bot.metrics:
        if each.outcome not in ("not worse", "unchanged") and each.metric not in told:
            alike = [other.metric for other in bot.metrics if _same_reason(other, each)] or [each.metric]
            told.update(alike)
            yield f"{', '.join(alike)}: {each.sentence}", STYLES[each.outcome]
        if other := words.other_scope(each, rule.scope):
            yield f"{each.metric} {other}", "dim"
        if lost := words.missing(each, rule.missing):
            yield f"{each.metric}: {lost}", STYLES["too much missing"] if each.too_much_missing else ""
    yield from _beside(bot)


def _beside(bot: BotVerdict) -> Iterator[tuple[str, str]]:
    """Thresholds, latency, what changed in the bot, and what was left out."""
    for threshold in bot.thresholds:
        style = STYLES[threshold.outcome]
        yield f"{words.threshold(threshold)}: {threshold.sentence}", style
    outcome = bot.latency.outcome
    if not bot.unchanged:
        verdict = f" {outcome}" if outcome else ""
        yield f"latency{verdict}: {bot.latency.sentence}", STYLES[outcome] if outcome else ""
    changed = [
        *(("prompt" if name == "prompt" else f"prompt {name}") for name, _ in words.prompt_changes(bot)),
        *words.other_changes(bot),
    ]
    if changed:
        yield f"changed: {'; '.join(changed)}", ""
    for note in bot.notes:
        yield note, "dim"


def _same_reason(one: MetricVerdict, other: MetricVerdict) -> bool:
    """Whether two metrics can't be compared for the same reason, which is told once."""
    return one.outcome == other.outcome == "not comparable" and one.sentence == other.sentence


def _flip(flip: GateFlip) -> Iterator[RenderableType]:
    line = Text(overflow="fold")
    line.append(printable(flip.key), style="bold").append(f": {one_line(flip.question, LONGEST)}")
    yield Padding(line, (0, 0, 0, 4))
    more = f" and {len(flip.falls) - MOST_FALLS} more" if len(flip.falls) > MOST_FALLS else ""
    fell = "; ".join(map(words.fall, flip.falls[:MOST_FALLS])) + more
    fell = "; ".join(filter(None, [fell, words.asked_again(flip)]))
    yield Padding(Text(printable(fell), style="dim", overflow="fold"), (0, 0, 0, 6))
    for when, answer in words.answers(flip):
        yield Padding(Text(f"{when}: {one_line(answer, LONGEST)}", overflow="fold"), (0, 0, 0, 6))


def _notes(notes: tuple[str, ...]) -> Iterator[Text]:
    yield from (Text(printable(f"Note: {note}."), overflow="fold", style="dim") for note in notes)
