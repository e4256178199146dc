"""Robustness words: what the figures of robustness say, in sentences that every output shares."""

from __future__ import annotations

from collections.abc import Iterator

from ..comparing.estimate import Estimate
from ..comparing.short_figures import share
from ..leaderboard import count, figure
from ..summary import MetricColumn
from .flip_table import KindFlips
from .flipped_pairs import Flip, FlippedPair
from .robustness import BotRobustness, MetricRobustness, Robustness

CONTROLS = {
    "identity": "control: identical copies",
    "repeats": "control: the question's own repeats, as there are no identical copies",
    None: "no control: flips by chance are not told apart",
}


def head(found: Robustness) -> str:
    """What was looked at."""
    runs = f"run {found.base}" if found.base == found.reworded else f"runs {found.base} and {found.reworded}"
    return f"{count(len(found.bots), 'bot')}, {runs}"


def about(bot: BotRobustness) -> str:
    """What a bot was asked."""
    times = "" if bot.repeats == 1 else f", each asked {bot.repeats} times"
    if not bot.rewordings:
        return f"no reworded questions{times}"
    kinds = len({kind.kind for kind in bot.answers.kinds})
    reworded = f"{count(bot.rewordings, 'rewording')} of {count(kinds, 'kind')}"
    return f"{count(bot.questions, 'question')}, {reworded}{times}; {CONTROLS[bot.control]}"


def of_answers(bot: BotRobustness) -> Iterator[tuple[str, str]]:
    """How far the answers agree: what, and the figure or why there is none."""
    found = bot.answers
    yield "same answer when reworded", _or_why(found.agreement, bot, "agreement")
    if found.overlap is not None:
        yield "words in common (F1)", share(found.overlap)
    yield "same answer when asked again", _or_why(found.self_consistency, bot, "self_consistency")
    if found.majority is not None:
        yield "share of the commonest answer", share(found.majority)


def _or_why(found: Estimate | None, bot: BotRobustness, name: str) -> str:
    return share(found) if found is not None else f"- {bot.reasons.get(name, '')}".rstrip(" -") or "-"


def conclusions(bot: BotRobustness) -> Iterator[str]:
    """Which kinds flip more than the control does and where they break down, and who answered as if nothing changed."""
    yield from _above_control(bot)
    for answers in bot.answers.kinds:
        if answers.must != "same" and answers.as_wanted is not None:
            done = "got another answer" if answers.must == "other" else "were declined"
            yield f"{answers.kind}: {answers.as_wanted.mean:.0%} {done}, as all should ({share(answers.as_wanted)})"


def _above_control(bot: BotRobustness) -> Iterator[str]:
    tested = False
    for metric in bot.metrics:
        curves = {curve.kind: curve for curve in metric.curves}
        for kind in metric.kinds:
            tested |= kind.above_control is not None
            if kind.is_above:
                curve = curves.get(kind.kind)
                breaks = f"; {curve.breakdown.sentence}" if curve and curve.breakdown else ""
                yield f"{kind.kind}, {metric.column.name}: {_excess(kind)}{breaks}"
    if tested and not any(kind.is_above for metric in bot.metrics for kind in metric.kinds):
        yield "no kind of rewording is shown to flip more than the control does"


def _excess(kind: KindFlips) -> str:
    found = kind.above_control
    if found is None or kind.rate is None:
        return ""
    ends = "" if found.low is None or found.high is None else f" ({found.low:+.2f} to {found.high:+.2f})"
    p = "" if kind.p_adjusted is None else f", p {p_value(kind.p_adjusted)}"
    return f"{kind.rate.mean:.0%} flip, {found.mean:+.2f} against the control{ends}{p}"


def p_value(value: float) -> str:
    """A p value in the digits that it deserves.

    >>> p_value(0.00005)
    'below 0.001'
    """
    return "below 0.001" if value < 0.001 else f"{value:.2g}"


def what_flipped(pair: FlippedPair, metrics: tuple[MetricRobustness, ...]) -> str:
    """The metrics that flipped with their values."""
    columns = {metric.column.name: metric.column for metric in metrics}
    return ", ".join(
        f"{each.metric} {_value(each.before, columns[each.metric])} → {_value(each.after, columns[each.metric])}"
        for each in pair.flips
    )


def _value(value: float, column: MetricColumn) -> str:
    """A value as boards show it, where a little less than nothing is nothing."""
    text = figure(value, column)
    return text.removeprefix("-") if not text.strip("-0.") else text


def how_reworded(flip: Flip) -> str:
    """The kind and intensity of a rewording."""
    intensity = "" if not flip.rewording.intensity else f" at {flip.rewording.intensity:g}"
    return f"{flip.rewording.kind}{intensity}"


DEMANDS: dict[str, str] = {"same": "", "other": " (other)", "decline": " (decline)"}
LEGEND = (
    "as it must: rows with the same answer, (other) another answer, (decline) none; metrics: share of rows whose"
    " outcome flipped, * more than the control does (p at most 0.05 by permutation, Holm over the kinds)"
)
SPREAD_LEGEND = (
    "worst: mean over questions of the worst score over their rewordings (or repeats); sd, range: how far the scores"
    " of one question lie apart, by chance as well; intervals of 95 % over clusters"
)
DETAILS_LEGEND = (
    "lost, won: rows that passed before and fail now, and the reverse; n/a: rows without an outcome on one side;"
    " above: flips above the control's; fit: the same, made to rise with the intensity"
)
