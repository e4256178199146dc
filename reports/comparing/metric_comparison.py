"""MetricComparison: what one metric says of head against base, with how far it can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from ..leaderboard import figure
from ..statistics.correction import benjamini_hochberg, holm
from ..statistics.missing_bounds import missing_bounds
from ..statistics.paired import Difference, difference
from ..statistics.variance_parts import VarianceParts, variance_parts
from ..summary import MetricColumn
from .comparable import Pairing
from .score_table import ABSENT, STATUSES, Figures, ScoreTable, is_binary, passes

ALPHA: Final = 0.05
Correction = Literal["holm", "bh"]
Verdict = Literal["better", "worse", "higher", "lower", "no difference shown", "the same", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Missing:
    """On which side questions have no value, and why.

    Attributes:
        both: questions with a value on both sides, which are compared.
        base_only: with a value of the base alone.
        head_only: with a value of the head alone.
        neither: without a value on either side.
        base_reasons: the questions without a value of the base, by status.
        head_reasons: likewise of the head.
    """

    both: int
    base_only: int
    head_only: int
    neither: int
    base_reasons: Mapping[str, int]
    head_reasons: Mapping[str, int]

    @property
    def differs(self) -> bool:
        """Whether a question lacks its value on one side only."""
        return bool(self.base_only or self.head_only)


@dataclass(frozen=True, slots=True)
class Noise:
    """Where the spread of the differences comes from, and what more of either would buy.

    Attributes:
        parts: variance of a difference between questions, by the bots' chance, and by the judge's.
        twice_questions: width of the interval with twice the questions, as a share of today's.
        twice_repeats: likewise with twice the repeats.
    """

    parts: VarianceParts
    twice_questions: float
    twice_repeats: float


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric of two sides. Means and difference rest on the questions with a value on both.

    Attributes:
        column: the metric, with direction and threshold.
        base_mean: of the base.
        head_mean: of the head.
        difference: head - base, in the raw direction of the metric.
        holm: cautious p value corrected over the compared metrics by Holm; None where there is no test.
        bh: the same by Benjamini and Hochberg.
        verdict: after the correction that was asked for.
        missing: questions without a value.
        bounds: least and greatest mean difference, whatever the missing values had been; None where none is missing
            on one side alone, or the metric has no range.
        pass_to_fail: questions that met the threshold and don't any more; None without a threshold.
        fail_to_pass: the other way round.
        noise: None with one repeat.
    """

    column: MetricColumn
    base_mean: float
    head_mean: float
    difference: Difference
    missing: Missing
    holm: float | None = None
    bh: float | None = None
    verdict: Verdict = "cannot be told"
    bounds: tuple[float, float] | None = None
    pass_to_fail: int | None = None
    fail_to_pass: int | None = None
    noise: Noise | None = None

    def adjusted(self, correct: Correction) -> float | None:
        """The corrected p value."""
        return self.holm if correct == "holm" else self.bh

    @property
    def wins_ties_losses(self) -> tuple[int, int, int]:
        """Questions on which head is better, as good, and worse; higher, equal and lower where neither is better."""
        found = self.difference
        if self.column.better == "lower":
            return found.losses, found.ties, found.wins
        return found.wins, found.ties, found.losses

    def sentence(self, head: str) -> str:
        """The verdict in plain words; ``head`` is what the head is called.

        A gain is told without a sign, in the interval too; a difference that is not shown, as its range.
        """
        found = self.difference
        if self.verdict == "the same":
            return f"the same on all {found.questions:,} questions" + self._range(", so the true one lies")
        if found.low is None or found.high is None:
            return f"cannot be told: {found.untold}"
        if self.verdict == "no difference shown":
            after = " after correction" if found.low > 0 or found.high < 0 else ""
            return f"no difference shown{after}: between {self.shown(found.low)} and {self.shown(found.high)}"
        by, *ends = (self.shown(abs(value)) for value in (found.mean, *sorted((found.low, found.high), key=abs)))
        side = "lower" if found.mean < 0 else "higher"
        told = self.column.better == "lower"  # there, "better by" could be read as "higher by"
        what = f"{self.verdict} ({side})" if told else self.verdict
        return f"{head} is {what} by {by} [{ends[0]}, {ends[1]}]"

    def shown(self, value: float) -> str:
        """A difference in as many digits as the metric deserves."""
        text = figure(value, self.column)
        return text.removeprefix("-") if not float(text) else text

    def _range(self, words: str) -> str:
        found = self.difference
        if found.low is None or found.high is None:
            return ""
        return f"{words} between {self.shown(found.low)} and {self.shown(found.high)}"


def compare_metric(pairing: Pairing, metric: str, judge_variance: float | None, seed: int) -> MetricComparison | None:
    """Compare one metric, without correction and verdict yet; None where no question has a value on both sides.

    Args:
        pairing: the two sides.
        metric: one of its metrics.
        judge_variance: of a difference, by the judge's chance alone; 0 where no judge takes part, None if unknown.
        seed: of the draws of the test.
    """
    column = pairing.columns[metric]
    base, head = pairing.values(metric)
    missing = count_missing(pairing, metric, base, head)
    if not missing.both:
        return None
    both = np.isfinite(base) & np.isfinite(head)
    old, new, clusters = base[both], head[both], pairing.clusters[both]
    found = difference(old, new, clusters, column.low, column.high, is_binary(column, old, new), seed=seed)
    made = MetricComparison(column, float(old.mean()), float(new.mean()), found, missing)
    if missing.differs:
        made = replace(made, bounds=missing_bounds(base, head, column.low, column.high))
    if column.threshold is not None and column.better != "neither":
        were, are = passes(column, old), passes(column, new)
        made = replace(made, pass_to_fail=int((were & ~are).sum()), fail_to_pass=int((are & ~were).sum()))
    return replace(made, noise=_noise(pairing, metric, judge_variance))


def correct_all(found: list[MetricComparison], correct: Correction) -> tuple[MetricComparison, ...]:
    """The same with corrected p values and verdicts.

    Metrics of which no question changed are not counted: their p is 1 whatever the truth is, so that they can't be
    wrongly called different, and nothing has to be paid for them (Tarone 1990).
    """
    tested = [place for place, each in enumerate(found) if each.difference.p_value is not None and _changed(each)]
    p_values = [found[place].difference.p_to_correct or 0.0 for place in tested]
    corrected = dict(zip(tested, zip(holm(p_values), benjamini_hochberg(p_values), strict=True), strict=True))
    made = []
    for place, each in enumerate(found):
        alone = each.difference.p_to_correct
        by_holm, by_bh = corrected.get(place, (alone, alone))
        each = replace(each, holm=by_holm, bh=by_bh)
        made.append(replace(each, verdict=_verdict(each, correct)))
    return tuple(made)


def _changed(found: MetricComparison) -> bool:
    return found.difference.wins + found.difference.losses > 0


def _verdict(found: MetricComparison, correct: Correction) -> Verdict:
    """Interval and corrected test must both say so."""
    difference, p_value = found.difference, found.adjusted(correct)
    if not _changed(found):
        return "the same"
    if difference.low is None or difference.high is None or p_value is None:
        return "cannot be told"
    if p_value > ALPHA or difference.low <= 0 <= difference.high:
        return "no difference shown"
    rose = difference.mean > 0
    if found.column.better == "neither":
        return "higher" if rose else "lower"
    return "better" if rose == (found.column.better == "higher") else "worse"


def count_missing(pairing: Pairing, metric: str, base: Figures, head: Figures) -> Missing:
    """On which side the questions of a metric have no value; ``base`` and ``head`` are its values by question."""
    old, new = np.isfinite(base), np.isfinite(head)
    return Missing(
        both=int((old & new).sum()),
        base_only=int((old & ~new).sum()),
        head_only=int((new & ~old).sum()),
        neither=int((~old & ~new).sum()),
        base_reasons=_reasons(pairing.base, metric, pairing.base_places[~old]),
        head_reasons=_reasons(pairing.head, metric, pairing.head_places[~new]),
    )


def _reasons(table: ScoreTable, metric: str, places: np.ndarray[tuple[int, ...], np.dtype[np.intp]]) -> dict[str, int]:
    """Questions without a value by the status of their first row; most first."""
    if not len(places):
        return {}
    codes, counts = np.unique(table.statuses[metric][places, 0], return_counts=True)
    names = ["not scored" if code == ABSENT else STATUSES[code] for code in codes]
    return dict(sorted(zip(names, map(int, counts), strict=True), key=lambda item: -item[1]))


def _noise(pairing: Pairing, metric: str, judge_variance: float | None) -> Noise | None:
    base, head = pairing.repeated_values(metric)
    repeats = min(base.shape[1], head.shape[1])
    if repeats < 2:
        return None
    parts = variance_parts(head[:, :repeats] - base[:, :repeats], judge_variance, pairing.clusters)
    if parts is None or not parts.total or parts.bot is None:
        return None
    now = parts.standard_error(parts.questions, repeats)
    return Noise(
        parts,
        parts.standard_error(2 * parts.questions, repeats) / now,
        parts.standard_error(parts.questions, 2 * repeats) / now,
    )
