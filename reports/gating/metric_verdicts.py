"""Metric verdicts: whether one metric of a bot became worse, with the figures that it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...metrics.score import Better
from ..comparing.comparable import Pairing
from ..comparing.score_table import Figures, is_binary
from ..leaderboard import count
from ..statistics.correction import holm
from ..statistics.missing_bounds import missing_bounds
from ..statistics.paired import Difference, difference
from ..statistics.power import questions_to_settle
from ..summary import MetricColumn
from .gate_rule import GateRule, Outcome
from .metric_sentences import sentence_of, these_sentence
from .these_questions import Again, OnThese, on_these, samples_of

LEVEL: Final = 0.95
ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class MetricVerdict:
    """One metric of one bot.

    Attributes:
        metric: its name.
        outcome: the verdict.
        margin: how much worse its mean may become.
        column: the metric as it stands in the head's run, else in the base's; None where neither has it.
        base_mean: mean of the questions that have a value on both sides, on the base's side.
        head_mean: the same on the head's side.
        gain: head against base in the direction that is better: above 0 is an improvement; None when nothing is paired.
        adjusted_p: p value, corrected over the gated metrics of the bot (Holm).
        further: how many further questions would settle it; None where it is settled or nobody can tell.
        missing: questions with a value on the base's side and none on the head's.
        missing_in_part: questions on which fewer repeats have a value on the head's side than on the base's.
        missing_share: of the questions that have a value on the base's side; in part counts by its part.
        too_much_missing: whether the share is above what is let pass.
        bounds: least and greatest gain, whatever the missing values were; None where none is missing.
        sentence: the verdict in words.
        these: what is said of these very questions; None where nothing is paired, or nobody looked.
        like_these: the verdict for questions like these; None where nothing was compared.
        like_sentence: that verdict in words.
    """

    metric: str
    outcome: Outcome
    margin: float
    column: MetricColumn | None
    base_mean: float | None = None
    head_mean: float | None = None
    gain: Difference | None = None
    adjusted_p: float | None = None
    further: int | None = None
    missing: int = 0
    missing_in_part: int = 0
    missing_share: float = 0.0
    too_much_missing: bool = False
    bounds: tuple[float, float] | None = None
    sentence: str = ""
    these: OnThese | None = None
    like_these: Outcome | None = None
    like_sentence: str = ""

    @property
    def better(self) -> Better:
        """Which way is better."""
        return self.column.better if self.column else "neither"

    @property
    def change(self) -> tuple[float, float | None, float | None] | None:
        """Head less base in the metric's own direction, with the interval; None when nothing is paired."""
        gain = self.gain
        if gain is None:
            return None
        if self.better != "lower":
            return gain.mean, gain.low, gain.high
        return 0.0 - gain.mean, _negative(gain.high), _negative(gain.low)


def decided(gain: Difference, adjusted_p: float | None, margin: float) -> Outcome:
    """The rule: not worse when a loss of the margin is ruled out; regressed when a loss is shown; else undecided."""
    if gain.low is None or gain.high is None:
        return "undecided"
    if gain.low > -margin:
        return "not worse"
    if gain.high < 0 and adjusted_p is not None and adjusted_p <= ALPHA:
        return "regressed"
    return "undecided"


@dataclass(frozen=True, slots=True)
class _Measured:
    """A metric before the p values are corrected."""

    column: MetricColumn
    base: Figures
    head: Figures
    gain: Difference | None
    bounds: tuple[float, float] | None
    lost: Figures  # of each question that has a value on the base's side the share that the head's side lacks


def metric_verdicts(
    pairing: Pairing, metrics: Sequence[str], rule: GateRule, unasked: Mapping[str, int] | None = None,
    again: Again | None = None,
) -> list[MetricVerdict]:  # fmt: skip
    """A verdict for each metric, which are comparable.

    Args:
        pairing: the two sides.
        metrics: what is gated.
        rule: what is let pass.
        unasked: metric -> questions with a value on the base's side that the head's run should have asked and did not.
        again: what was asked again, because its value had changed.
    """
    measured = {name: _measured(pairing, name, rule, (unasked or {}).get(name, 0)) for name in metrics}
    alike = {name for name, each in measured.items() if pairing.same_words and _is_alike(each)}
    gains = {name: each.gain for name, each in measured.items() if each.gain is not None and name not in alike}
    p_values = {name: gain.p_to_correct for name, gain in gains.items() if gain.p_to_correct is not None}
    # Where no question changed, p is 1 whatever the truth is: nothing has to be paid for it (Tarone 1990).
    tested = [name for name in p_values if gains[name].wins + gains[name].losses]
    corrected = p_values | dict(zip(tested, holm([p_values[name] for name in tested]), strict=True))
    asked = again or Again()
    these = {
        name: on_these(samples_of(pairing, name, asked), rule.margin_of(name), len(metrics), asked.spent)
        for name in metrics
    }
    made = [
        _verdict(name, each, rule, corrected.get(name), len(tested), these[name]) for name, each in measured.items()
    ]
    same = f"the same {count(len(pairing.cases), 'answer')} as before, word for word"
    return [
        replace(each, outcome="unchanged", further=None, sentence=same) if each.metric in alike else each
        for each in made
    ]


def _is_alike(found: _Measured) -> bool:
    """Whether every question has the value that it had; of the same words, nothing can have become worse."""
    return not found.lost.any() and np.array_equal(found.base, found.head, equal_nan=True)


def unchanged(pairing: Pairing, name: str, rule: GateRule) -> MetricVerdict:
    """The verdict on a metric of a bot whose answers are those of the baseline: nothing can have become worse."""
    base_mean = head_mean = None
    if name in pairing.metrics:
        base, head = pairing.values(name)
        both = ~np.isnan(base) & ~np.isnan(head)
        base_mean, head_mean = _mean(base[both]), _mean(head[both])
    return MetricVerdict(
        name, "unchanged", rule.margin_of(name), pairing.head.columns[name], base_mean, head_mean,
        sentence="the same bot, and the same answers as before",
    )  # fmt: skip


def not_comparable(metric: str, rule: GateRule, column: MetricColumn | None, why: str) -> MetricVerdict:
    """The verdict on a metric that can't be compared, with the reason."""
    return MetricVerdict(metric, "not comparable", rule.margin_of(metric), column, sentence=why.rstrip("."))


def _measured(pairing: Pairing, name: str, rule: GateRule, unasked: int) -> _Measured:
    column = pairing.columns[name]
    base, head = pairing.values(name)
    there = ~np.isnan(base)
    both = there & ~np.isnan(head)
    sign = -1.0 if column.better == "lower" else 1.0
    gain = None
    if both.any():
        low, high = (column.low, column.high) if sign > 0 else (_negative(column.high), _negative(column.low))
        gain = difference(
            sign * base[both], sign * head[both], pairing.clusters[both], low, high, is_binary(column, base, head),
            LEVEL, rule.seed,
        )  # fmt: skip
    lost = _lost(*pairing.repeated_values(name))[there]
    return _Measured(
        column,
        base,
        head,
        gain,
        _bounds(pairing, name, there) if lost.any() else None,
        np.concatenate([lost, np.ones(unasked)]),
    )


def _lost(base: Figures, head: Figures) -> Figures:
    """Of each question's values, of shape (questions, repeats), the share that the head lacks and the base has."""
    had, has = (np.isfinite(values).mean(axis=1) for values in (base, head))
    kept: Figures = np.divide(has, had, out=np.ones_like(has), where=had > 0)
    return 1 - np.minimum(kept, 1)


def _verdict(
    name: str, found: _Measured, rule: GateRule, adjusted_p: float | None, tests: int, these: OnThese | None
) -> MetricVerdict:
    margin, gain, column = rule.margin_of(name), found.gain, found.column
    share = float(found.lost.mean()) if len(found.lost) else 0.0
    like: Outcome = "undecided" if gain is None else decided(gain, adjusted_p, margin)
    further = questions_to_settle(gain, margin, adjusted_p) if gain is not None and like == "undecided" else None
    like_sentence = sentence_of(like, gain, adjusted_p, tests, margin, further, column)
    decides = these if rule.scope == "these" else None
    both = ~np.isnan(found.base) & ~np.isnan(found.head)
    whole = int((found.lost == 1).sum())
    return MetricVerdict(
        metric=name, outcome=decides.outcome if decides else like, margin=margin, column=column,
        base_mean=_mean(found.base[both]), head_mean=_mean(found.head[both]), gain=gain, adjusted_p=adjusted_p,
        further=further, missing=whole,
        missing_in_part=int(np.count_nonzero(found.lost)) - whole, missing_share=share,
        too_much_missing=share > rule.missing, bounds=found.bounds,
        sentence=these_sentence(decides, margin, column) if decides else like_sentence, these=these, like_these=like,
        like_sentence=like_sentence,
    )  # fmt: skip


def _bounds(pairing: Pairing, name: str, there: NDArray[np.bool_]) -> tuple[float, float] | None:
    """Least and greatest gain over the questions that the base has a value for."""
    column = pairing.columns[name]
    base, head = (values[there] for values in pairing.repeated_values(name))
    made = missing_bounds(base, head, column.low, column.high)
    if made is None or column.better != "lower":
        return made
    return 0.0 - made[1], 0.0 - made[0]


def _mean(values: Figures) -> float | None:
    return float(values.mean()) if len(values) else None


def _negative(value: float | None) -> float | None:
    return None if value is None else 0.0 - value  # -0.0 would be shown
