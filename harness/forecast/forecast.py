"""Forecast: how many requests, tokens and how much money an exam will take, worked out without making any."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...metrics.judge.panel import Panel
from ...reports.judging.kept_checks import kept_check
from ...reports.ledger import Ledger
from ...reports.store import Store
from ..engine.lanes import Lane, Todo, todo
from ..engine.row_facts import RowFacts
from ..exams.sketches import tokens
from ..trust.canaries import canaries
from ..trust.judge_check import calls_of, fingerprint
from .open_run import open_run
from .rehearsal import RehearsalEmbedder, RehearsalJudge, Rehearsed

if TYPE_CHECKING:
    from ...metrics.plan import Plan
    from ..engine.listed_models import ListedModel
    from ..exams.exam import Exam

SAMPLE = 40  # rows of each bot that are rehearsed; the others are taken to be like them
SAMPLE_WITHOUT = 8  # the same for what a metric adds


@dataclass(frozen=True, slots=True)
class Amount:
    """Requests with their tokens, and the cost in the currency of the prices; None where no price is known."""

    requests: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0
    cost: float | None = None

    def __add__(self, other: Amount) -> Amount:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Amount(
            self.requests + other.requests,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Share:
    """What a metric, or an evaluator with several, adds to the rest.

    Attributes:
        name: of the metric or evaluator.
        per_row, per_question: requests that fall away without it.
        amount: what these come to in all.
        shares: calls that it rests on and others as well.
    """

    name: str
    per_row: int
    per_question: int
    amount: Amount
    shares: tuple[str, ...]


@dataclass(slots=True)
class Forecast:
    """What an exam will take.

    Attributes:
        suite: its name.
        questions, rows: how many there are, over all bots and repeats.
        to_ask, to_score: rows without an answer, and rows without a score for which the judge is asked.
        judge: its name; blank when no metric asks one.
        bots: by bot, what its own language model will take.
        calls: by the name of a call, what the judge will take.
        check: what its self-test will take, where the suite wants one that is not kept.
        shares: what each metric or evaluator adds.
        assumed: whether answers and contexts had to be assumed.
        planned: requests of a row and of a question with one accepted answer.
        unpriced: models of the judge whose prices are not known, where those of others are.
        models: local models that metrics want.
    """

    suite: str
    questions: int
    rows: int
    judge: str
    is_embedded: bool
    planned: tuple[int, int]
    to_ask: int = 0
    to_score: int = 0
    bots: dict[str, Amount] = field(default_factory=dict)
    calls: dict[str, Amount] = field(default_factory=dict)
    check: Amount = field(default_factory=Amount)
    shares: list[Share] = field(default_factory=list)
    assumed: bool = False
    unpriced: tuple[str, ...] = ()
    models: tuple[ListedModel, ...] = ()

    @property
    def total(self) -> Amount:
        """Bots and judge together, with its self-test."""
        return sum((*self.bots.values(), *self.calls.values(), self.check), Amount())

    @property
    def judging(self) -> Amount:
        """The judge alone, on what is to be judged."""
        return sum(self.calls.values(), Amount())


@dataclass(slots=True)
class _Group:
    """Rows of one bot that miss the same scores."""

    metrics: frozenset[str]
    rows: int = 0
    sample: list[Todo] = field(default_factory=list)


def forecast(exam: Exam, database: Path) -> Forecast:
    """Reckon what an exam will take; the database is read where there is one, and nothing is written.

    Rows that are kept with all their scores cost nothing; calls of the judge that are kept are not looked up.
    """
    there = database.exists()
    with contextlib.closing(Store.open(database if there else Path(":memory:"), create=not there)) as store:
        return _Forecaster(exam, store).work()


class _Forecaster:
    def __init__(self, exam: Exam, store: Store) -> None:
        self._exam = exam
        self._store = store
        self._ledger = Ledger(store)
        self._run = open_run(exam.header, store)
        self._judged = frozenset(
            metric.id for metric in exam.plan.metrics if "judge" in {*metric.needs, *metric.optional}
        )
        self._facts = RowFacts(self._ledger, RehearsalEmbedder(), exam.places)
        self._groups: list[_Group] = []
        lanes = list(exam.lanes(self._run))
        self._lanes = lanes
        requests = exam.plan.requests
        self.made = Forecast(
            suite=exam.header.suite,
            questions=max((lane.total for lane in lanes), default=0) // max(1, exam.header.repeats),
            rows=sum(lane.total for lane in lanes),
            judge=exam.judging.name if self._judged else "",
            is_embedded=not exam.judging.is_language_model,
            planned=(requests.per_row, requests.per_question),
            models=tuple(exam.models.needed(exam.plan)),
        )

    def work(self) -> Forecast:
        own_only = self._exam.header.fresh or self._exam.header.alone
        for lane in self._lanes:
            self._survey(lane, own_only)
        if self._exam.judging.is_language_model and self._judged:
            self.made.check = self._check()
            self.made.calls = self._rehearsed(SAMPLE, self._exam.plan)
            self.made.shares = self._shares()
            named = zip(self._exam.judging.settings.models, self._exam.judging.prices, strict=True)
            self.made.unpriced = tuple(name for name, prices in named if prices is None)
        return self.made

    def _survey(self, lane: Lane, own_only: bool) -> None:
        """Sort the rows of a lane by what they still need, and add up what its bot will take."""
        groups: dict[frozenset[str], _Group] = {}
        for item in todo(lane, self._ledger, self._run, own_only):
            if item is None:
                continue
            missing = self._judged if item.metrics is None else self._judged & item.metrics
            if not item.row.kept and item.row.reply is None:
                self._ask(lane, item)
            if not missing:
                continue
            self.made.to_score += 1
            group = groups.setdefault(missing, _Group(missing))
            group.rows += 1
            if len(group.sample) < SAMPLE:
                group.sample.append(item)
        self._groups += groups.values()

    def _ask(self, lane: Lane, item: Todo) -> None:
        self.made.to_ask += 1
        self.made.assumed = True
        reply = self._exam.sketch(lane.name, item.row.question)
        # No two bots answer alike, so what is asked of one answer is not taken to be asked of the other.
        item.row.reply = replace(reply, answer=f"{lane.name} {item.row.repeat}: {reply.answer}")
        if reply.usage.tokens_in is not None:
            taken = Amount(1, reply.usage.tokens_in, reply.usage.tokens_out or 0, reply.usage.cost)
            self.made.bots[lane.name] = self.made.bots.get(lane.name, Amount()) + taken

    def _rehearsed(self, most: int, plan: Plan) -> dict[str, Amount]:
        """By call, what the judge would take for all rows; equal requests count once."""
        seen: dict[int, tuple[Rehearsed, float]] = {}
        for group in self._groups:
            sample = group.sample[:most]
            known = {metric.id for metric in plan.metrics}
            part = plan.subset(sorted(group.metrics & known))
            noted: list[Rehearsed] = []
            asyncio.run(self._rehearse(part, sample, noted))
            weight = group.rows / len(sample)
            for each in noted:
                seen.setdefault(each.key, (each, weight))
        calls: dict[str, Amount] = {}
        for each, weight in seen.values():
            calls[each.call] = calls.get(each.call, Amount()) + self._amount(each, weight)
        return calls

    def _check(self) -> Amount:
        """What the self-test of the judge would take; nothing where none is wanted, or its result is kept."""
        judging, calls = self._exam.judging, calls_of(self._exam.plan)
        floors = judging.settings.check
        if floors is None or kept_check(self._store, fingerprint(judging, calls, floors)) is not None:
            return Amount()
        noted: list[Rehearsed] = []
        judge = self._judge(noted)

        async def rehearse() -> None:
            for canary in canaries(calls):
                for _ in range(floors.repeats if canary.variant == "plain" else 1):
                    await judge.ask(canary.call)

        asyncio.run(rehearse())
        return sum((self._amount(each, 1) for each in noted), Amount())

    def _judge(self, noted: list[Rehearsed]) -> Panel:
        settings = self._exam.judging.settings
        judges = tuple(RehearsalJudge(noted.append, number) for number in range(len(settings.models)))
        return Panel(judges, settings.votes, settings.combine == "mean")

    async def _rehearse(self, plan: Plan, sample: Sequence[Todo], noted: list[Rehearsed]) -> None:
        judge = self._judge(noted)
        for item in sample:
            facts = self._facts.of(item.row)
            facts["judge"] = judge
            await plan.score(facts)

    def _amount(self, request: Rehearsed, weight: float) -> Amount:
        sent, received = tokens(request.sent), tokens(request.received)
        prices = self._exam.judging.prices[request.judge]
        cost = prices.cost(sent, received) if prices else None
        return Amount(weight, sent * weight, received * weight, None if cost is None else cost * weight)

    def _shares(self) -> list[Share]:
        """What would fall away without each evaluator."""
        plan = self._exam.plan
        whole = _sum(self._rehearsed(SAMPLE_WITHOUT, plan))
        made = []
        for evaluator in self._exam.header.evaluators:
            under = [one for one in plan.requests.requests if not set(one.metrics).isdisjoint(evaluator.metrics)]
            added = [one for one in under if set(one.metrics) <= set(evaluator.metrics)]
            amount = Amount()
            if added:
                others = [metric.id for metric in plan.metrics if metric.id not in evaluator.metrics]
                amount = _difference(whole, _sum(self._rehearsed(SAMPLE_WITHOUT, plan.subset(others))))
            per_row, per_question = (
                sum(one.requests for one in added if one.per == per) for per in ("row", "question")
            )
            shared = dict.fromkeys(call for one in under if one not in added for call in one.calls)
            if under:
                made.append(Share(evaluator.id, per_row, per_question, amount, tuple(shared)))
        return made


def _sum(calls: Mapping[str, Amount]) -> Amount:
    return sum(calls.values(), Amount())


def _difference(whole: Amount, part: Amount) -> Amount:
    cost = None if whole.cost is None else whole.cost - (part.cost or 0.0)
    tokens_in, tokens_out = whole.tokens_in - part.tokens_in, whole.tokens_out - part.tokens_out
    return Amount(whole.requests - part.requests, tokens_in, tokens_out, cost)
