"""Latency verdict: whether a bot takes longer than it may, by the ratio of medians on the same questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..comparing.comparable import Pairing
from ..comparing.comparison_words import without_answer
from ..comparing.paired_latency import paired_latency
from ..leaderboard import milliseconds
from ..statistics.latency_difference import LatencyDifference
from .gate_rule import CODES, NOT_WORSE, GateRule, Outcome

ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class LatencyVerdict:
    """The latency of one bot.

    Attributes:
        outcome: the verdict; None where latency is only shown.
        limit: how many times as long the median may take; None likewise.
        found: the figures; None when nothing is paired or the answers are the same.
        sentence: the verdict in words.
    """

    outcome: Outcome | None
    limit: float | None
    found: LatencyDifference | None
    sentence: str

    @property
    def exit_code(self) -> int:
        """What the verdict alone would end with."""
        return NOT_WORSE if self.outcome is None else CODES[self.outcome]


def latency_verdict(pairing: Pairing, rule: GateRule) -> LatencyVerdict:
    """The verdict on the times of the paired questions, see ``paired_latency``.

    Not worse when a ratio of the limit is ruled out; regressed when a slowdown is shown; else undecided.
    """
    if pairing.same_answers:
        outcome: Outcome | None = "unchanged" if rule.latency is not None else None
        return LatencyVerdict(outcome, rule.latency, None, "the times of the answers that were kept")
    found = paired_latency(pairing, rule.seed)
    if found is None:
        failed = pairing.base.failed[pairing.base_places].any() or pairing.head.failed[pairing.head_places].any()
        outcome = None if rule.latency is None else "undecided" if failed else "not comparable"
        return LatencyVerdict(outcome, rule.latency, None, "no question has a time on both sides")
    outcome = None if rule.latency is None else _decided(found, rule.latency)
    return LatencyVerdict(outcome, rule.latency, found, _sentence(found, outcome, rule.latency))


def _decided(found: LatencyDifference, limit: float) -> Outcome:
    if found.p50.high is not None and found.p50.high < limit:
        return "not worse"
    shown = found.p50.low is not None and found.p50.low > 1
    if shown and found.p_value is not None and found.p_value <= ALPHA:
        return "regressed"
    return "undecided"


def _sentence(found: LatencyDifference, outcome: Outcome | None, limit: float | None) -> str:
    medians = f"median {_time(found.base.p50)}, now {_time(found.head.p50)}"
    if found.p50.value is None:
        ratio = ""
    elif found.p50.low is None:
        ratio = f": {_times(found.p50.value)} times{f' ({found.p50.untold})' if found.p50.untold else ''}"
    else:
        up_to = "any" if found.p50.high is None else _times(found.p50.high)
        ratio = f": {_times(found.p50.value)} times ({_times(found.p50.low)} to {up_to})"
    cut = [f"; {when} {what}" for when, side in (("before", found.base), ("now", found.head))
           if (what := without_answer(side))]  # fmt: skip
    if outcome is None or limit is None:
        return f"{medians}{ratio}{''.join(cut)}"
    means = {
        "not worse": f"{limit:g} times is ruled out",
        "regressed": "it is slower",
        "undecided": f"{limit:g} times is neither ruled out nor is it shown to be slower",
    }
    return f"{medians}{ratio}; {means[outcome]}{''.join(cut)}"


def _times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _time(value: float | None) -> str:
    return "not reached" if value is None else milliseconds(value)
