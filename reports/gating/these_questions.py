"""These questions: whether a metric became worse on a fixed set, where nothing but noise of bot and judge misleads.

A value that changed may be noise: rows that changed are asked again, as flaky tests are run again, and what the answers
of one side differ among themselves is the noise by which the change is judged. Rows whose value is the same are taken
to be the same. How often the verdicts are right is measured by ``tests/benchmarks/gate_on_these.py``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..comparing.comparable import Pairing, mean_of_repeats
from ..comparing.score_table import Figures

TheseOutcome = Literal["not worse", "regressed", "undecided"]

SHARE: Final = 0.3  # of the questions of a bot: so many answers are asked again at most, and far fewer on average
ROUNDS: Final = 6  # in which they are asked, with a look after each
ONE_SIDED: Final = 1.645  # 5 %
# Where the old bot can't be asked, its noise is the new one's, and a lucky old answer looks like a loss: 2.5 %.
ONE_SIDED_ALONE: Final = 1.96
RULED_OUT_AT_LAST: Final = 0.8  # after the last answer; else one gate in five would stay open
PRIOR: Final = 1.0  # answers' worth of the belief that every change is noise, before anything was asked again
EQUAL: Final = 1e-9


@dataclass(frozen=True)
class Samples:
    """All values of the paired questions of one metric, in the direction that is better (higher); NaN where none is.

    Attributes:
        before: of shape (questions, repeats), the base's own answers.
        now: the head's own.
        before_again: of shape (questions, answers), what was asked again of the old bot.
        now_again: of the new one.
        both_sides: whether the old bot can be asked again.
    """

    before: Figures
    now: Figures
    before_again: Figures
    now_again: Figures
    both_sides: bool = False

    @cached_property
    def moved(self) -> Figures:
        """How far each question moved by the runs' own answers; NaN where a side has no value."""
        return mean_of_repeats(self.now) - mean_of_repeats(self.before)

    @cached_property
    def changed(self) -> NDArray[np.bool_]:
        """Which questions have another value than before."""
        return np.isfinite(self.moved) & (np.abs(self.moved) > EQUAL)

    @cached_property
    def base(self) -> Figures:
        """All answers of the old bot."""
        return np.hstack([self.before, self.before_again])

    @cached_property
    def head(self) -> Figures:
        """All answers of the new one."""
        return np.hstack([self.now, self.now_again])

    @cached_property
    def differences(self) -> Figures:
        """Head less base of each question, all answers taken together; 0 where the runs' own are equal."""
        return np.where(self.changed, mean_of_repeats(self.head) - mean_of_repeats(self.base), 0.0)

    @property
    def asked_again(self) -> int:
        """How many answers were asked again."""
        return int(np.isfinite(self.before_again).sum() + np.isfinite(self.now_again).sum())


@dataclass(frozen=True, slots=True)
class OnThese:
    """A metric on these very questions.

    Attributes:
        outcome: the verdict.
        gain: mean change a question, above 0 where the bot got better; all answers taken together.
        noise: its standard error, from the bots' and the judge's noise alone.
        questions: how many are paired.
        worse: of these, how many have a worse value than before, by the run's own answers.
        better: how many have a better one.
        asked_again: answers that were asked again, on both sides together.
        both_sides: whether the old bot was asked, too.
    """

    outcome: TheseOutcome
    gain: float
    noise: float
    questions: int
    worse: int
    better: int
    asked_again: int
    both_sides: bool

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval of the gain."""
        return self.gain - 1.96 * self.noise

    @property
    def high(self) -> float:
        """Its upper end."""
        return self.gain + 1.96 * self.noise


Values = Mapping[str, Mapping[str, Sequence[float]]]  # metric -> key of a question -> values, one an answer


@dataclass(frozen=True, slots=True)
class Again:
    """What was asked again of a bot, because its value had changed.

    Attributes:
        before: values of the old bot; empty where it could not be asked.
        now: values of the new one.
        both_sides: whether the old bot can be asked.
        spent: share of the answers that may be asked again which were; 1 when no more will be asked.
        note: a sentence about what could not be asked; blank where all could.
    """

    before: Values = field(default_factory=dict)
    now: Values = field(default_factory=dict)
    both_sides: bool = False
    spent: float = 1.0
    note: str = ""

    def of(self, metric: str, key: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """The values of one question, of the old bot and of the new one."""
        return tuple(self.before.get(metric, {}).get(key, ())), tuple(self.now.get(metric, {}).get(key, ()))


def samples_of(pairing: Pairing, metric: str, again: Again) -> Samples:
    """The values of a metric, turned so that higher is better."""
    sign = -1.0 if pairing.columns[metric].better == "lower" else 1.0
    base, head = pairing.repeated_values(metric)
    sides = [_table(pairing, of_side.get(metric, {})) for of_side in (again.before, again.now)]
    return Samples(sign * base, sign * head, sign * sides[0], sign * sides[1], again.both_sides)


def _table(pairing: Pairing, values: Mapping[str, Sequence[float]]) -> Figures:
    made = np.full((len(pairing.cases), max(map(len, values.values()), default=0)), np.nan)
    for place, case in enumerate(pairing.cases):
        of_case = values.get(case.key, ())
        made[place, : len(of_case)] = of_case
    return made


def on_these(samples: Samples, margin: float, tests: int = 1, spent: float = 1.0) -> OnThese | None:
    """The verdict on a metric of these questions; None where no question has a value on both sides.

    Args:
        samples: its values.
        margin: how much worse the mean may become.
        tests: how many metrics are gated; the more, the clearer a loss must be (Bonferroni).
        spent: share of the answers that may be asked again which were: before the last, a loss must be clearer, for
            who looks often sees one by chance (O'Brien and Fleming 1979). 1 when no more will be asked.
    """
    changed, number = samples.changed, int(np.isfinite(samples.moved).sum())
    if not number:
        return None
    moved = samples.moved[changed]
    gain, noise = 0.0, 0.0
    if len(moved):
        base, head = samples.base[changed], samples.head[changed]
        gain = float(samples.differences.sum()) / number
        answers = float((1 / _counts(base) + 1 / _counts(head)).sum())
        noise = math.sqrt(_noise(base, head, moved) * answers) / number
    again = samples.asked_again
    return OnThese(
        _outcome(gain, noise, margin, _clear(samples, tests) / max(spent, 0.01), spent >= 1 and again > 0),
        gain, noise, number, int((moved < 0).sum()), int((moved > 0).sum()), again, samples.both_sides,
    )  # fmt: skip


def next_asked(
    samples: Sequence[Samples], ranges: Sequence[float], confirm: int, most: int, seed: int
) -> list[tuple[int, bool]]:
    """What is asked next: questions that changed, the one that counts most first, and the side that was asked less.

    Args:
        samples: of each gated metric that is open, over the same questions.
        ranges: how far each metric can go, so that none is heard above another for its units.
        confirm: how often a question is asked again at most, on each side.
        most: how many answers are wanted.
        seed: settles ties by chance.

    Returns:
        Places of questions, each with whether the old bot is asked; at most ``most``.
    """
    weights = np.max([np.abs(each.differences) / reach for each, reach in zip(samples, ranges, strict=True)], axis=0)
    changed = np.any([each.changed for each in samples], axis=0)
    old, new = (
        np.max([_counts(side) for side in sides], axis=0)
        for sides in ([each.before_again for each in samples], [each.now_again for each in samples])
    )
    drawn = np.random.default_rng(seed)
    chance, coin = drawn.random(len(weights)), drawn.random(len(weights)) < 0.5
    picked = []
    for place in sorted(np.flatnonzero(changed).tolist(), key=lambda place: (-weights[place], chance[place])):
        is_old = samples[0].both_sides and (old[place] < new[place] or (old[place] == new[place] and bool(coin[place])))
        if (old if is_old else new)[place] < confirm:
            picked.append((place, is_old))
    return picked[:most]


def _outcome(gain: float, noise: float, margin: float, clear: float, at_last: bool) -> TheseOutcome:
    ruled_out = RULED_OUT_AT_LAST if at_last else ONE_SIDED
    if gain - ruled_out * noise > -margin + EQUAL:
        return "not worse"
    return "regressed" if gain + clear * noise < -EQUAL else "undecided"


def _clear(samples: Samples, tests: int) -> float:
    """How many standard errors a loss must have."""
    one = ONE_SIDED if samples.both_sides else ONE_SIDED_ALONE
    return one if tests <= 1 else NormalDist().inv_cdf(1 - (1 - NormalDist().cdf(one)) / tests)


def _noise(base: Figures, head: Figures, moved: Figures) -> float:
    """Variance of a single answer to a question that changed, from what was asked more than once.

    Without any such answer it is that of changes which are nothing but noise.
    """
    squares, free = 0.0, 0
    for side in (base, head):
        counts = _counts(side)
        squares += float(np.nansum((side - mean_of_repeats(side)[:, None]) ** 2))
        free += int((counts - 1).clip(min=0).sum())
    return (squares + PRIOR * float(np.mean(moved**2)) / 2) / (free + PRIOR)


def _counts(values: Figures) -> NDArray[np.intp]:
    made: NDArray[np.intp] = np.isfinite(values).sum(axis=1)
    return made
