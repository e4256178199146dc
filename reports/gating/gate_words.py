"""Gate words: what a gate's verdicts are called wherever they are shown."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from ..comparing.changed_parts import change_words
from ..leaderboard import count, milliseconds
from .gate_flips import Fall, GateFlip
from .gate_rule import Scope
from .metric_sentences import p_value, shown, signed, these_sentence
from .metric_verdicts import MetricVerdict
from .threshold_verdicts import ThresholdVerdict
from .verdicts import BotVerdict


def headline(bot: BotVerdict) -> str:
    """The verdict on a bot in a line."""
    against = "" if bot.base_bot == bot.bot else f" against {bot.base_bot}"
    if bot.unchanged:
        same = f"the same bot and the same {count(bot.questions, 'answer')}"
        return f"{bot.bot}: {bot.word}" + (f", {same}" if bot.word == "unchanged" else f", though {same}")
    clusters = "" if bot.clusters == bot.questions else f" in {count(bot.clusters, 'cluster')}"
    return f"{bot.bot}{against}: {bot.word}, {count(bot.questions, 'question')}{clusters}"


def failures(bot: BotVerdict) -> str:
    """How many answers failed outright, and what that means; blank where none did."""
    failed = bot.failures
    if not failed.now:
        return ""
    before = f", {failed.before:,} before" if failed.before else ", none before"
    wrong = f"; counted as wrong in {bot.primary}" if bot.primary else "; counted as missing"
    return f"{failed.now:,} of {count(failed.rows, 'answer')} failed outright{before}{wrong}"


def other_scope(found: MetricVerdict, scope: Scope) -> str:
    """What is said of the other question than the one that decides; blank where nothing is."""
    if found.these is None or found.like_these is None or found.column is None or found.outcome == "unchanged":
        return ""
    if scope == "these":
        return f"on questions like these: {found.like_these}, {found.like_sentence}"
    told = these_sentence(found.these, found.margin, found.column)
    return f"on these very questions: {found.these.outcome}, {told}"


def prompt_changes(bot: BotVerdict) -> Iterator[tuple[str, list[str]]]:
    """The prompts that changed, by name, each with the lines of a unified diff."""
    for each in bot.changes:
        if each.what == "prompt":
            was, now = (str(side or "").splitlines() for side in (each.base, each.head))
            yield each.name, list(difflib.unified_diff(was, now, "before", "now", lineterm="", n=2))


def other_changes(bot: BotVerdict) -> list[str]:
    """What else of the bot is not as it was, each in a few words."""
    return [change_words(each) for each in bot.changes if each.what != "prompt"]


def threshold(found: ThresholdVerdict) -> str:
    """What became of a threshold, such as ``rouge_l below threshold``."""
    if found.outcome == "below threshold":
        return f"{found.metric} {found.outcome}"
    return f"threshold of {found.metric} {found.outcome}"


def change(found: MetricVerdict) -> str:
    """Head less base with its interval, such as ``-0.12 (-0.19 to -0.041)``."""
    if found.change is None or found.column is None:
        return "-"
    mean, low, high = found.change
    if low is None or high is None:
        return signed(mean, found.column)
    return f"{signed(mean, found.column)} ({signed(low, found.column)} to {signed(high, found.column)})"


def mean(found: MetricVerdict, value: float | None) -> str:
    """A mean of one side."""
    return "-" if value is None or found.column is None else shown(value, found.column)


def p_of(found: MetricVerdict) -> str:
    """The corrected p value, a dash where nothing was tested."""
    return "-" if found.adjusted_p is None else p_value(found.adjusted_p)


def missing(found: MetricVerdict, allowed: float) -> str:
    """How many questions lost their value, and what that could mean; blank where none did."""
    if not found.missing and not found.missing_in_part:
        return ""
    too = f"more than the {allowed:.0%} that may be" if found.too_much_missing else f"{allowed:.0%} may be"
    text = f"{_lost(found)}; {too}"
    if found.bounds is None or found.column is None:
        return text
    ends = found.bounds if found.better != "lower" else (-found.bounds[1], -found.bounds[0])
    low, high = (signed(value, found.column) for value in ends)
    return f"{text}; with them the change is between {low} and {high}"


def _lost(found: MetricVerdict) -> str:
    if not found.missing_in_part:
        return f"{count(found.missing, 'question')} ({found.missing_share:.0%}) lost the value"
    whole = f"{count(found.missing, 'question')} lost the value, and " if found.missing else ""
    return (
        f"{whole}{count(found.missing_in_part, 'question')} lost it in some repeats ({found.missing_share:.0%} of all)"
    )


def fall(found: Fall) -> str:
    """What became of a metric on a question."""
    if found.head is None:
        return f"{found.metric} {found.base:.3g} -> no value"
    fails = ", fails now" if found.failed_now else ""
    return f"{found.metric} {found.base:.3g} -> {found.head:.3g}{fails}"


def asked_again(flip: GateFlip) -> str:
    """What came of asking a question again; blank where it was not."""
    told = [f"{when} {', '.join(f'{value:.3g}' for value in values)}"
            for when, values in zip(("before", "now"), flip.again, strict=True) if values]  # fmt: skip
    return f"asked again: {'; '.join(told)}" if told else ""


def answers(flip: GateFlip) -> Iterator[tuple[str, str]]:
    """What was said before and what is said now."""
    yield "before", "(not on record)" if flip.base_answer is None else flip.base_answer or "(nothing)"
    if not flip.head_answered:
        yield "now", "(no answer)"
    else:
        yield "now", "(not on record)" if flip.head_answer is None else flip.head_answer or "(nothing)"


def kept(seconds: float, cost: float | None) -> str:
    """What kept answers had cost when they were asked."""
    money = "" if cost is None else f" and cost {cost:.4f}"
    return f"which had taken {milliseconds(seconds * 1000)}{money}"
