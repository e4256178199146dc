"""Wagers: bets on a metric of a bot, one cluster of questions at a time, in an order that was drawn beforehand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ...reports.comparing.score_table import ScoreTable
from ...reports.run import RunMetric
from ...reports.statistics.betting import GateBets
from .early_result import EarlyVerdict, Word

Values = Mapping[tuple[str, int], float]  # of a bot's metric, by question and repeat; NaN where it has none


@dataclass(frozen=True, slots=True)
class Wager:
    """A metric of a bot that is gated.

    Attributes:
        bot: its name in the suite.
        metric: which.
        margin: of harm.
        against: the table of the baseline, or the name of another bot of the same exam.
    """

    bot: str
    metric: str
    margin: float
    against: ScoreTable | str


class Bet:
    """A wager while scores come in.

    A cluster is looked at when all its rows are scored and all clusters before it were looked at: the order in which
    answers come says nothing, or quick answers would count before slow ones and the clusters would be no random draw.

    Args:
        wager: what is bet on.
        metric: its range and direction; the range is bounded.
        units: questions that can be compared, by cluster, in the order that was drawn.
        repeats: how often each is asked.
        base: the baseline's values by question; None where another bot of the exam is the base.
        alpha: chance of either wrong word.
    """

    def __init__(
        self, wager: Wager, metric: RunMetric, units: Sequence[Sequence[str]], repeats: int,
        base: Mapping[str, float] | None, alpha: float,
    ) -> None:  # fmt: skip
        width = (metric.high or 0.0) - (metric.low or 0.0)
        self.wager = wager
        self.word: Word = "undecided"
        self.looked_at = 0
        self._units = units
        self._repeats = range(repeats)
        self._base = base
        self._sign = -1.0 if metric.better == "lower" else 1.0
        self._largest = max(map(len, units), default=1)
        self._bets = GateBets(wager.margin, -width, width, alpha)
        self._pairs: list[tuple[float, float]] = []  # values of the base and the head, a question

    def look(self, head: Values, other: Values) -> None:
        """Take in every cluster that is complete by now; ``other`` is the bot that it is held against."""
        while self.looked_at < len(self._units):
            keys = self._units[self.looked_at]
            sides = (head,) if self._base is not None else (head, other)
            if not all((key, repeat) in side for side in sides for key in keys for repeat in self._repeats):
                return
            self.looked_at += 1
            pairs = [self._pair(key, head, other) for key in keys]
            self._add([pair for pair in pairs if not any(map(math.isnan, pair))])

    def _pair(self, key: str, head: Values, other: Values) -> tuple[float, float]:
        base = self._mean(other, key) if self._base is None else self._base[key]
        return base, self._mean(head, key)

    def _mean(self, values: Values, key: str) -> float:
        known = [value for repeat in self._repeats if not math.isnan(value := values[key, repeat])]
        return fmean(known) if known else math.nan

    def _add(self, pairs: Sequence[tuple[float, float]]) -> None:
        if not pairs:
            return
        self._pairs += pairs
        self._bets.add(fmean(self._gains(pairs)), len(pairs) / self._largest)
        if self.word == "undecided" and self._bets.decided:
            self.word = "not worse" if self._bets.not_worse else "regressed"

    def _gains(self, pairs: Sequence[tuple[float, float]]) -> list[float]:
        return [self._sign * (head - base) for base, head in pairs]

    @property
    def verdict(self) -> EarlyVerdict:
        """What is known by now."""
        low, high = self._bets.interval.bounds
        gains = self._gains(self._pairs)
        bases, heads = zip(*self._pairs, strict=True) if self._pairs else ((), ())
        return EarlyVerdict(
            bot=self.wager.bot,
            metric=self.wager.metric,
            margin=self.wager.margin,
            word=self.word,
            mean=fmean(gains) if gains else None,
            low=low,
            high=high,
            level=1 - self._bets.interval.alpha,
            clusters=self._bets.count,
            questions=len(gains),
            base_mean=fmean(bases) if bases else None,
            head_mean=fmean(heads) if heads else None,
            wins=sum(gain > 0 for gain in gains),
            losses=sum(gain < 0 for gain in gains),
        )
