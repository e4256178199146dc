"""Flip table: for each kind of rewording how often results flipped, and how much oftener than on identical copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..comparing.estimate import Estimate, estimate
from ..comparing.flips import FlipRate
from ..comparing.score_table import Figures, Flags
from ..statistics.correction import holm
from ..statistics.paired import Difference, difference
from ..summary import MetricColumn
from .answer_agreement import repeat_flips
from .reworded_pairs import Places, RewordedPairs, outcomes
from .rewordings import CONTROL

SURE = 0.05  # adjusted p value up to which a kind is said to flip more than the control


@dataclass(frozen=True, slots=True)
class KindFlips:
    """One kind of rewording, as one metric of one bot sees it; rows are pairs of each repeat.

    Attributes:
        kind: how the questions were reworded.
        must: what a good bot does.
        pass_to_fail: rows that passed before and fail now.
        fail_to_pass: rows that failed before and pass now.
        counts: flips, comparable rows and those that are not, because either side has no outcome.
        rate: flips by comparable row, with its interval; None when there is none.
        above_control: the flip rate of each question less that of its control; None without a control.
        p_adjusted: p value of that, corrected over the kinds of this metric and bot (Holm).
        score_change: value after less value before, a question; None where no question has both, or where another
            answer is wanted.
    """

    kind: str
    must: str
    pass_to_fail: int
    fail_to_pass: int
    counts: FlipRate
    rate: Estimate | None
    above_control: Difference | None
    score_change: Difference | None
    p_adjusted: float | None = None

    @property
    def is_control(self) -> bool:
        """Whether these are copies that change nothing."""
        return self.kind == CONTROL

    @property
    def is_above(self) -> bool:
        """Whether it flips more than chance does on this bot."""
        return (
            self.above_control is not None
            and self.above_control.mean > 0
            and self.p_adjusted is not None
            and self.p_adjusted <= SURE
        )


def flip_table(pairs: RewordedPairs, column: MetricColumn, seed: int = 0) -> tuple[KindFlips, ...]:
    """Every kind of rewording, in order of appearance."""
    flips, control = pairs.flips(column), control_flips(pairs, column)
    made = [_kind(pairs, column, *name, chosen, flips, control, seed) for name, chosen in pairs.kinds.items()]
    return tuple(_corrected(made))


def control_flips(pairs: RewordedPairs, column: MetricColumn) -> Figures | None:
    """For every question of the base how often its outcome flips when nothing is changed; None where nothing tells.

    That is its flip rate on identical copies, or, in a set without copies, on its own repeats: to ask a copy and
    to ask once more is the same thing to a bot.
    """
    if pairs.is_control.any():
        return pairs.per_source(pairs.flips(column), pairs.is_control)
    if pairs.base.repeats > 1:
        found = repeat_flips(outcomes(pairs.base, column))
        return found if np.isfinite(found).any() else None
    return None


def _kind(
    pairs: RewordedPairs, column: MetricColumn, kind: str, must: str, chosen: Flags, flips: Figures,
    control: Figures | None, seed: int,
) -> KindFlips:  # fmt: skip
    before, after = (side[chosen] for side in pairs.outcomes(column))
    flipped = flips[chosen]
    comparable = int(np.isfinite(flipped).sum())
    rate = estimate(flipped.ravel(), np.repeat(pairs.clusters[pairs.sources[chosen]], pairs.repeats), 0, 1)
    above = None
    if control is not None and kind != CONTROL:
        above = paired(control, pairs.per_source(flips, chosen), pairs.clusters, 0, 1, seed)
    return KindFlips(
        kind=kind, must=must,
        pass_to_fail=int(((before == 1) & (after == 0)).sum()), fail_to_pass=int(((before == 0) & (after == 1)).sum()),
        counts=FlipRate(int(np.nansum(flipped)), comparable, flipped.size - comparable), rate=rate,
        above_control=above, score_change=_score_change(pairs, column, chosen, seed) if must == "same" else None,
    )  # fmt: skip


def _score_change(pairs: RewordedPairs, column: MetricColumn, chosen: Flags, seed: int) -> Difference | None:
    before, after = pairs.values(column.name)
    both = np.isfinite(before) & np.isfinite(after)
    old, new = (pairs.per_source(np.where(both, values, np.nan)[:, np.newaxis], chosen) for values in (before, after))
    return paired(old, new, pairs.clusters, column.low, column.high, seed)


def paired(
    base: Figures, head: Figures, clusters: Places, low: float | None, high: float | None, seed: int
) -> Difference | None:
    """The paired difference over the questions that have both values; None when none has."""
    both = np.isfinite(base) & np.isfinite(head)
    if not both.any():
        return None
    base, head = base[both], head[both]
    binary = (low, high) == (0, 1) and bool(np.isin(base, (0.0, 1.0)).all() and np.isin(head, (0.0, 1.0)).all())
    return difference(base, head, clusters[both], low, high, binary, seed=seed)


def _corrected(kinds: Sequence[KindFlips]) -> list[KindFlips]:
    """The p values corrected for the number of kinds that were looked at."""
    tested = [each for each in kinds if each.above_control and each.above_control.p_value is not None]
    adjusted = holm([each.above_control.p_value for each in tested])  # type: ignore[union-attr,misc] # not None above
    by_name = {(each.kind, each.must): p for each, p in zip(tested, adjusted, strict=True)}
    return [replace(each, p_adjusted=by_name.get((each.kind, each.must))) for each in kinds]
