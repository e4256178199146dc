"""EarlyStop: asks questions in random order and stops when the verdict on every gated bot is certain.

Looking after every question would make an ordinary test cry wolf in the end. The bets look as often as they like: the
chance that one of them ever says "regressed" of a bot that is not harmed, or "not worse" of one that is harmed by the
margin, is bounded over all times at once (betting, Waudby-Smith and Ramdas 2024). Each of the two words has half of
5 %, split evenly over all wagers (Bonferroni). What is never certain early is asked to the end and decided by the
ordinary rule, which says "regressed" of an unharmed bot in 2.5 % of cases at most: its p value of 5 % has two sides.
Both together stay below 5 %.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from ...metrics import Score
from ...reports.comparing.comparable import check_cluster, cluster_of, mean_of_repeats, same_metric
from ...reports.comparing.run_tables import case_of
from ...reports.comparing.score_table import Case, ScoreTable
from ...reports.ledger import OpenRun
from ...reports.run import Row, RunMetric
from ...reports.summary import MetricColumn
from ..engine.lanes import Item, Lane
from ..engine.stopping import KeptScores
from ..exams.exam import Exam
from .early_result import EarlyResult, Word, word_of
from .wagers import Bet, Wager

ALPHA = 0.05


class EarlyStop:
    """Watches an exam; ``arranged`` first, then hold what it gives, then read ``result``.

    Args:
        wagers: the metrics that are gated, each with its margin and what it is held against.
        cluster: how questions are clustered: ``source``, ``tag``, ``tag:PREFIX`` or ``none``.
        seed: of the order.
        alpha: chance of a wrong "regressed" at most, together with the ordinary rule.
    """

    def __init__(self, wagers: Sequence[Wager], cluster: str = "source", seed: int = 0, alpha: float = ALPHA) -> None:
        check_cluster(cluster)
        self._wagers, self._cluster, self._seed, self._alpha = tuple(wagers), cluster, seed, alpha
        self._metrics: Mapping[str, RunMetric] = {}
        self._repeats = 1
        self._order: list[list[Item]] = []
        self._lanes: Sequence[Lane] = ()
        self._names: dict[int, str] = {}
        self._values: dict[tuple[str, str], dict[tuple[str, int], float]] = {}
        self._bets: list[Bet] = []
        self._reasons: list[str] = []
        self._not_bet_on: set[str] = set()
        self._known = dict[int, int]()
        self._enough = self._certain = False
        self._began = 0.0
        self._costs: list[float] = []
        self._ended: EarlyResult | None = None

    def arranged(self, exam: Exam) -> Exam:
        """The exam with its questions in random order, clusters together, and an eye on its scores."""
        self._metrics = {metric.name: metric for metric in exam.header.metrics if metric.level == "row"}
        self._repeats = exam.header.repeats

        def lanes(run: OpenRun) -> list[Lane]:
            made = []
            for lane in exam.lanes(run):
                self._order = shuffled(lane.items(), self._cluster, self._seed)
                items = [item for unit in self._order for item in unit]
                made.append(dataclasses.replace(lane, items=lambda items=items: items))  # type: ignore[misc]
            return made

        return dataclasses.replace(exam, lanes=lanes, stopper=self)

    @property
    def result(self) -> EarlyResult:
        """What came of it; the exam is over."""
        if self._ended is None:
            raise ValueError("the exam has not ended")
        return self._ended

    @property
    def certain(self) -> bool:
        """Whether every bot that is gated has its verdict, and every answer that it rests on stands in the run.

        Never where all answers are there or kept: the ordinary rule costs no question then.
        """
        if not self._certain and self._unanswered > 0 and self._bets:
            self._enough = self._enough or all(self._word(wager.bot) != "undecided" for wager in self._wagers)
            self._certain = self._enough and all(_passed(lane) >= self._rested_on for lane in self._lanes)
        return self._certain

    def begin(self, lanes: Sequence[Lane], kept: Callable[[Lane], Iterable[KeptScores]]) -> None:
        """Place the bets, and count at once what earlier passes left."""
        self._lanes, self._names = lanes, {lane.bot_id: lane.name for lane in lanes}
        self._place_bets()
        for lane in lanes:
            self._known[lane.bot_id] = 0
            for answer in kept(lane):
                self._known[lane.bot_id] += 1
                for metric, score in answer.scores.items():
                    value = self._value(metric, score.value, score.status)
                    self._note(lane.name, metric, answer.item.question.id, answer.item.repeat, value)
        self._began = time.monotonic()
        self._look()

    def heard(self, row: Row, scores: Sequence[Score]) -> None:
        """Note the scores of a row, and look at every cluster that they complete."""
        bot = self._names[row.bot_id]
        for score in scores:
            value = self._value(score.metric, score.value, score.status.value)
            self._note(bot, score.metric, row.question.id, row.repeat, value)
        if not row.kept and row.reply is not None and row.reply.usage.cost is not None:
            self._costs.append(row.reply.usage.cost)
        self._look(bot)

    def end(self) -> Mapping[str, object] | None:
        """What the manifest says; None where nothing was left out."""
        asked, left = sum(lane.asked for lane in self._lanes), self._unanswered
        pace = (time.monotonic() - self._began) / asked if asked else None
        cost = math.fsum(self._costs) / len(self._costs) if self._costs else None
        self._ended = EarlyResult(
            stopped=self.certain and any(_passed(lane) < lane.total for lane in self._lanes),
            questions=max((-(-self._answered(lane) // self._repeats) for lane in self._gated_lanes), default=0),
            of=max((lane.total // self._repeats for lane in self._lanes), default=0),
            rows=sum(map(self._answered, self._lanes)),
            rows_left=left,
            saved_seconds=None if pace is None else pace * left,
            saved_cost=None if cost is None else cost * left,
            verdicts=tuple(bet.verdict for bet in self._bets),
            reasons=tuple(self._reasons),
        )
        return self._ended.as_object if self._ended.stopped else None

    @property
    def _gated_lanes(self) -> list[Lane]:
        """Lanes of bots on which there are bets; the others, whose answers are all kept, go along."""
        bots = {name for wager in self._wagers for name in (wager.bot, wager.against) if isinstance(name, str)}
        return [lane for lane in self._lanes if lane.name in bots]

    def _answered(self, lane: Lane) -> int:
        """Rows that were asked in this pass, or before."""
        return self._known[lane.bot_id] + lane.asked

    @property
    def _unanswered(self) -> int:
        return sum(lane.total - self._answered(lane) for lane in self._lanes)

    def _place_bets(self) -> None:
        cases = [[case_of(item.question) for item in unit if item.repeat == 0] for unit in self._order]
        for wager in self._wagers:
            metric = self._metrics.get(wager.metric)
            if metric is None or metric.low is None or metric.high is None or metric.better == "neither":
                self._leave_out(wager, "it has no range, or no direction")
                continue
            if isinstance(wager.against, str):
                base, units = None, [[case.key for case in unit] for unit in cases]
            else:
                if not _same(wager.against, metric):
                    self._leave_out(wager, "the baseline has none of the same version")
                    continue
                base = _base(wager.against, wager.metric, cases)
                units = [[case.key for case in unit if case.key in base] for unit in cases]
            alpha = self._alpha / 2 / len(self._wagers)
            self._bets.append(Bet(wager, metric, units, self._repeats, base, alpha))
            for bot in (wager.bot, wager.against):
                if isinstance(bot, str):
                    self._values[bot, wager.metric] = {}

    def _leave_out(self, wager: Wager, why: str) -> None:
        self._not_bet_on.add(wager.bot)
        self._reasons.append(f"{wager.metric} of {wager.bot} can't be bet on: {why}.")

    def _value(self, metric: str, value: float | None, status: str) -> float:
        """The value as in every mean: an unreadable verdict of a rate counts as 0."""
        if value is None and status == "parse_failure" and self._metrics[metric].aggregate == "rate":
            return 0.0
        return math.nan if value is None else value

    def _note(self, bot: str, metric: str, key: str, repeat: int, value: float) -> None:
        noted = self._values.get((bot, metric))
        if noted is not None:
            noted[key, repeat] = value

    def _look(self, bot: str | None = None) -> None:
        for bet in self._bets:
            against = bet.wager.against
            if bot is None or bot in (bet.wager.bot, against):
                other = self._values[against, bet.wager.metric] if isinstance(against, str) else {}
                bet.look(self._values[bet.wager.bot, bet.wager.metric], other)

    def _word(self, bot: str) -> str:
        """What is certain of a bot; a metric that can't be bet on leaves it open, but for a loss in another."""
        words: list[Word] = [bet.word for bet in self._bets if bet.wager.bot == bot]
        return word_of([*words, "undecided"] if bot in self._not_bet_on else words)

    @property
    def _rested_on(self) -> int:
        """Rows of a lane, from the first, on which the bets rest so far."""
        units = max(bet.looked_at for bet in self._bets)
        return sum(len(unit) for unit in self._order[:units])


def shuffled(items: Iterable[Item], cluster: str, seed: int) -> list[list[Item]]:
    """The items by cluster, clusters in random order, each with the place that it has in the exam.

    The order comes from raw bits of PCG64 by the seed, and so is the same on every machine.
    """
    units: dict[tuple[bool, str], list[Item]] = {}
    for position, item in enumerate(items):
        unit = units.setdefault(cluster_of(case_of(item.question), cluster), [])
        unit.append(item._replace(position=position))
    drawn = np.random.PCG64(seed).random_raw(len(units))
    listed = list(units.values())
    return [listed[place] for place in np.argsort(drawn, kind="stable")]


def _passed(lane: Lane) -> int:
    """Rows that were asked, or found kept."""
    return lane.kept + lane.asked


def _same(table: ScoreTable, metric: RunMetric) -> bool:
    there = table.columns.get(metric.name)
    named = MetricColumn(metric.name, metric.version, metric.better, metric.low, metric.high, metric.threshold)
    return there is not None and same_metric(there, dataclasses.replace(named, aggregate=metric.aggregate))


def _base(table: ScoreTable, metric: str, cases: Sequence[Sequence[Case]]) -> dict[str, float]:
    """The baseline's values of the questions that it was asked in the same words and marked by the same yardstick."""
    values, asked = mean_of_repeats(table.values[metric]), [any(row) for row in table.asked.tolist()]
    found = {}
    for case in (case for unit in cases for case in unit):
        place = table.places.get(case.key)
        if place is None or not asked[place]:
            continue
        there = table.cases[place]
        if (there.text, there.yardstick) == (case.text, case.yardstick):
            found[case.key] = float(values[place])
    return found
