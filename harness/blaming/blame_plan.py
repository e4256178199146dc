"""BlamePlan: which answers are asked for again to find out who is to blame, said before any is."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...metrics import builtin_catalog
from ..exams.run_config import RunConfig
from ..suite.judge_choice import choose_judge
from .reading import candidates
from .removals import Removal, knowing_bots, to_ask

if TYPE_CHECKING:
    from ...bots.reduced import TakesKnowledge
    from ...reports.store import Store
    from ..ground.answers import Answer, Answers
    from ..ground.ground import Ground

MOST_CALLS = 500
# Coalitions of the documents of one answer, at most: all of five documents.
MOST_COALITIONS = 32
# Share of a bound that cuts which is left for documents that act together.
FOR_INTERPLAY = 0.2


@dataclass(frozen=True, slots=True)
class Look:
    """An answer that is looked at.

    Attributes:
        answer: as it was given.
        documents: ids of those that are taken away, one at a time.
        gold: ids of the documents in which the answer stands; empty where none is known.
        but_gold: ids of all others; None where there is no gold, or nothing else.
        control: id of a document from which the answer was not made; blank where none is taken away to see whether
            the bot says the same again.
    """

    answer: Answer
    documents: tuple[str, ...]
    gold: frozenset[str] = frozenset()
    but_gold: frozenset[str] | None = None
    control: str = ""

    @property
    def wrong(self) -> bool:
        """Whether the answer is wrong; only what is known to be right or wrong is looked at."""
        return not self.answer.right

    def without(self, documents: Iterable[str]) -> Removal:
        """The answer without these documents."""
        return Removal(self.answer.bot, self.answer.question, frozenset(documents))

    @property
    def removals(self) -> tuple[Removal, ...]:
        """What is asked of it in any case."""
        singles = (self.without([document]) for document in self.documents)
        gold_only = () if self.but_gold is None else (self.without(self.but_gold),)
        control = (self.without([self.control]),) if self.control else ()
        return tuple(dict.fromkeys((*singles, *gold_only, *control)))


@dataclass(frozen=True)
class BlamePlan:
    """What is to be asked.

    Attributes:
        ground: the documents and questions.
        answers: those of the run.
        looks: those that are looked at, wrong ones first.
        options: as of the run.
        interplay: how many answers at most are asked for where documents act together.
        bound: how many answers may be asked for.
        left_out: wrong and right answers that are not looked at, because of the bound.
        bots: whose documents can be taken away.
        judged: whether a language model judges each answer, which takes calls as well.
        warnings: sentences for the user.
    """

    ground: Ground
    answers: Answers
    looks: tuple[Look, ...] = ()
    options: RunConfig = field(default_factory=RunConfig)
    interplay: int = 0
    bound: int = MOST_CALLS
    left_out: int = 0
    bots: tuple[str, ...] = ()
    judged: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def repeats(self) -> int:
        """How often each question is asked."""
        return self.options.repeat or self.ground.loaded.suite.repeat

    @property
    def removals(self) -> tuple[Removal, ...]:
        """What is asked in any case."""
        return tuple(dict.fromkeys(removal for look in self.looks for removal in look.removals))

    @property
    def calls(self) -> int:
        """How many answers are asked for at most."""
        return (len(self.removals) + self.interplay) * self.repeats

    def to_ask(self, store: Store) -> int:
        """How many are asked for at most beside those that are kept."""
        return to_ask(self.ground, self.removals, self.options, store) + self.interplay * self.repeats

    def sentence(self, store: Store) -> str:
        """What it takes, to be said before anything is asked."""
        if not self.looks:
            return "Blame: there is no answer whose documents could be taken away, so nothing is asked."
        wrong = sum(look.wrong for look in self.looks)
        looked = f"{_count(wrong, 'wrong answer')} and {_count(len(self.looks) - wrong, 'right one')}"
        cut = f" {_count(self.left_out, 'answer')} left out by the bound of {self.bound:,}." if self.left_out else ""
        most = _count(self.to_ask(store), "question")
        judge = " The judge grades each answer." if self.judged else ""
        return f"Blame: {looked} are looked at, for which at most {most} are asked again.{judge}{cut}"


def plan_blame(
    ground: Ground, answers: Answers, bots: Collection[str] | None = None, most_calls: int = MOST_CALLS,
    options: RunConfig | None = None,
) -> BlamePlan:  # fmt: skip
    """Choose the answers to look at; nothing is asked.

    Wrong ones come first, then right ones, to learn what documents carry. Where the bound cuts, they are drawn by the
    ground's seed.

    Args:
        ground: the documents and questions.
        answers: those of the run.
        bots: whose answers are looked at; None for all bots that take knowledge.
        most_calls: how many answers may be asked for.
        options: as of the run.
    """
    options = options or RunConfig()
    wanted = [bot for bot in answers.bots if bots is None or bot in bots]
    knowing = knowing_bots(ground, wanted, options)
    repeats = options.repeat or ground.loaded.suite.repeat
    looks = [
        look
        for answer in answers.rows
        if answer.bot in knowing and answer.right is not None and answer.question in ground.by_key
        if (look := _look(ground, answer, knowing[answer.bot], repeats)).documents
    ]
    most = max(most_calls, 0) // repeats
    chosen, interplay = _chosen(looks, most, ground.seed)
    return BlamePlan(
        ground=ground,
        answers=answers,
        looks=tuple(chosen),
        options=options,
        interplay=interplay,
        bound=most_calls,
        left_out=len(looks) - len(chosen),
        bots=tuple(knowing),
        judged=_is_judged(ground, answers.metric.name, options),
        warnings=tuple(_warnings(wanted, knowing, answers, chosen, looks, most_calls)),
    )


def _is_judged(ground: Ground, metric: str, options: RunConfig) -> bool:
    """Whether a language model says what answers are worth; it may where the metric is not one of ours."""
    suite = ground.loaded.suite
    if choose_judge(suite.judge, suite.models, options.judge, options.judge_url).settings.is_embedded:
        return False
    known = builtin_catalog().metrics.get(metric)
    return known is None or "judge" in {*known.needs, *known.optional}


def _look(ground: Ground, answer: Answer, bot: TakesKnowledge, repeats: int) -> Look:
    ids = [document.id for document in bot.documents]
    known = frozenset(ids)
    gold_of = ground.gold.get(answer.question)
    gold = known & gold_of.documents if gold_of else frozenset()
    documents = candidates(answer, known, gold, bot.documents)
    if answer.right:
        return Look(answer, documents)
    read = {*answer.documents, *gold}
    aside = [id for id in ids if id not in read] or [id for id in ids if id not in {*documents, *gold}]
    wanted = aside and repeats == 1 and not bot.identity.embedded
    return Look(answer, documents, gold, (known - gold or None) if gold else None, aside[0] if wanted else "")


def _chosen(looks: Sequence[Look], most: int, seed: int) -> tuple[list[Look], int]:
    """The looks that fit, wrong ones first, and how many coalitions may be asked for."""
    wrong, right = ([look for look in looks if look.wrong is is_wrong] for is_wrong in (True, False))
    costs = [len(look.removals) for look in wrong]
    for_wrong = most if sum(costs) <= most else max(int(most * (1 - FOR_INTERPLAY)), min(most, *costs))
    chosen, _ = _drawn(wrong, for_wrong, seed)
    left = most - sum(len(look.removals) for look in chosen)
    interplay = min(MOST_COALITIONS * sum(len(look.documents) > 1 for look in chosen), left if not right else left // 2)
    carrying, _ = _drawn(right, left - interplay, seed)
    return [*chosen, *carrying], interplay


def _drawn(looks: Sequence[Look], most: int, seed: int) -> tuple[list[Look], int]:
    """Looks that fit, in their order, and what is left of the calls; all of them, or some by chance."""
    order = list(range(len(looks)))
    if sum(len(look.removals) for look in looks) > most:
        random.Random(seed).shuffle(order)  # noqa: S311 - a sample, no secret
    taken = []
    for place in order:
        if (cost := len(looks[place].removals)) <= most:
            taken.append(place)
            most -= cost
    return [looks[place] for place in sorted(taken)], most


def _warnings(
    wanted: Sequence[str], knowing: Collection[str], answers: Answers, chosen: Sequence[Look], looks: Sequence[Look],
    most_calls: int,
) -> Iterator[str]:  # fmt: skip
    others = [bot for bot in wanted if bot not in knowing]
    if others:
        yield f"The documents of {', '.join(others)} can't be taken away, so nothing of its answers is blamed on any."
    untold = sum(answer.right is None for answer in answers.rows if answer.bot in knowing)
    if untold:
        yield f"{_count(untold, 'answer')} can't be told to be right or wrong by {answers.metric.name}."
    if len(chosen) < len(looks):
        wrong = sum(look.wrong for look in looks) - sum(look.wrong for look in chosen)
        yield (
            f"{_count(len(looks) - len(chosen), 'answer')} ({wrong:,} wrong) were not looked at, because at most "
            f"{most_calls:,} answers may be asked for. Those that were are a sample."
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
