"""Gate flips: the questions on which a bot became worse, with what it said before and now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..comparing.comparable import Pairing
from ..comparing.score_table import Figures, ScoreTable, passes
from ..summary import MetricColumn
from .these_questions import Again, samples_of


@dataclass(frozen=True, slots=True)
class Fall:
    """A metric that fell on a question: mean over the repeats before and now; None now where there is no value."""

    metric: str
    base: float
    head: float | None
    failed_now: bool


@dataclass(frozen=True, slots=True)
class GateFlip:
    """A question on which a bot became worse.

    Attributes:
        key: of the question.
        question: its text.
        falls: the gated metrics that fell, worst first.
        base_answer: what the bot said; None where nothing is on record.
        head_answer: what it says now.
        head_answered: whether it answered at all.
        again: what the metric that fell most was when it was asked again, before and now; blank where it was not.
    """

    key: str
    question: str
    falls: tuple[Fall, ...]
    base_answer: str | None
    head_answer: str | None
    head_answered: bool
    again: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())


@dataclass(frozen=True, slots=True)
class _Falling:
    """How far a metric fell, by question: above 0 is worse, in parts of its range; NaN where it can't be told."""

    column: MetricColumn
    base: Figures
    head: Figures
    fall: Figures
    flipped: list[bool]
    lost: list[bool]
    fleeting: list[bool]  # asked again, more than half of the fall was gone


def gate_flips(pairing: Pairing, metrics: Sequence[str], most: int, again: Again | None = None) -> tuple[GateFlip, ...]:
    """The questions that got worse, a pass that failed first, then an answer without a value, then the largest fall.

    Those that were asked again and did not stay worse come last.

    Args:
        pairing: the two sides.
        metrics: comparable metrics, those that matter most first.
        most: how many questions are wanted.
        again: what was asked again.
    """
    asked = again or Again()
    falling = [_falling(pairing, name, asked) for name in metrics]
    order = sorted(
        (place for place in range(len(pairing.cases)) if any(_worse(each, place) for each in falling)),
        key=lambda place: (_rank(falling, place), place),
    )
    return tuple(_flip(pairing, falling, place, asked) for place in order[:most])


def _falling(pairing: Pairing, name: str, again: Again) -> _Falling:
    column = pairing.columns[name]
    base, head = pairing.values(name)
    fall = base - head if column.better == "higher" else head - base
    failed_now = ~np.isnan(head) & ~passes(column, head)
    flipped = (passes(column, base) & failed_now).tolist()
    lost = (~np.isnan(base) & np.isnan(head)).tolist()
    samples = samples_of(pairing, name, again)
    fleeting = np.abs(samples.differences) < np.abs(np.nan_to_num(samples.moved)) / 2
    return _Falling(column, base, head, fall / _scale(column, base, head), flipped, lost, fleeting.tolist())


def _scale(column: MetricColumn, base: Figures, head: Figures) -> float:
    """The range of the metric, or the largest value that occurs where it has none."""
    if column.low is not None and column.high is not None and column.high > column.low:
        return column.high - column.low
    values = np.abs(np.concatenate([base, head]))
    return float(values[~np.isnan(values)].max(initial=0.0)) or 1.0


def _worse(found: _Falling, place: int) -> bool:
    return found.lost[place] or bool(found.fall[place] > 0)


def _rank(falling: Sequence[_Falling], place: int) -> tuple[bool, int, int, float]:
    """Small is worst: whether it stayed so, failed or was lost, and how far it fell; by the first metrics first."""
    first = next((at for at, each in enumerate(falling) if each.flipped[place]), len(falling))
    kind = 0 if first < len(falling) else 1 if any(each.lost[place] for each in falling) else 2
    falls = [float(each.fall[place]) for each in falling if each.fall[place] > 0]
    fleeting = any(each.fleeting[place] for each in falling)
    return fleeting, kind, first, -max(falls, default=0.0)


def _flip(pairing: Pairing, falling: Sequence[_Falling], place: int, again: Again) -> GateFlip:
    case = pairing.cases[place]
    base_place, head_place = int(pairing.base_places[place]), int(pairing.head_places[place])
    worst = min((each for each in falling if _worse(each, place)), key=lambda each: _rank([each], place))
    base_repeat = _repeat(pairing.base, worst.column, base_place, best=True)
    head_repeat = _repeat(pairing.head, worst.column, head_place, best=False)
    return GateFlip(
        key=case.key,
        question=case.text,
        falls=tuple(_falls(falling, place)),
        base_answer=pairing.base.answers(case.key, base_repeat),
        head_answer=pairing.head.answers(case.key, head_repeat),
        head_answered=bool(pairing.head.answered[head_place, head_repeat]),
        again=again.of(worst.column.name, case.key),
    )


def _falls(falling: Sequence[_Falling], place: int) -> Iterator[Fall]:
    fallen = [each for each in falling if _worse(each, place)]
    for each in sorted(fallen, key=lambda each: _rank([each], place)):
        head = None if each.lost[place] else float(each.head[place])
        yield Fall(each.column.name, float(each.base[place]), head, each.flipped[place])


def _repeat(table: ScoreTable, column: MetricColumn, place: int, best: bool) -> int:
    """Which of the repeats to show: the best or the worst by the metric; one without an answer is the worst."""
    if not best and not table.answered[place].all():
        return int(np.argmin(table.answered[place]))
    values = table.values[column.name][place]
    if np.isnan(values).all():
        return 0
    highest = best == (column.better == "higher")
    return int(np.nanargmax(values) if highest else np.nanargmin(values))
