"""Blame: asks again without documents, and says which of them caused wrong answers and carried right ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...bots.settings import RagSettings
from ...reports.comparing.run_tables import run_tables
from ...reports.surveys.blame import Blame, BlamedAnswer, DocumentBlame
from .blame_plan import MOST_COALITIONS, BlamePlan
from .removals import Asked, Removal, Watching, ask_again
from .shares import Coalition, ShareDesign, Shares, design_shares, shares_of
from .verdicts import CHANCE, Evidence, Marks, judged, noise_of

if TYPE_CHECKING:
    from ...reports.store import Store
    from ..ground.answers import Answer
    from .blame_plan import Look

Place = tuple[str, str]  # bot and question


def blame(plan: BlamePlan, store: Store, watching: Watching, told: Callable[[str], None] | None = None) -> Blame:
    """Ask what the plan says, and tell the causes.

    Every question is asked without one document at a time, wrong ones from the gold alone, too; where no single
    document mends a wrong answer, without all but the gold; and where that mends it, without other sets of them, for
    Shapley values. All of it is kept, and asked once.

    Args:
        plan: what to ask.
        store: the database of the answers.
        watching: makes somebody who watches an exam.
        told: told a sentence before what takes long.
    """
    asking = _Asking(plan, store, watching, told or (lambda _: None))
    marks = Marks(plan.ground, plan.answers, _noise(plan, store))
    asking.ask("Asking again without each document", plan.removals)
    wrong = [Evidence(look, marks, asking.found) for look in plan.looks if look.wrong]
    left = plan.interplay
    doubtful = [one for one in wrong if one.may_interact][:left]
    asking.ask("Asking again without several documents", [one.look.without(one.others) for one in doubtful])
    designs, whole = _designs([one for one in wrong if one.interacts], left - len(doubtful), plan.ground.seed)
    asking.ask("Asking for what documents do together", whole)
    answers = tuple(judged(one, _shares(one, designs.get(_place(one)))) for one in wrong)
    return Blame(
        metric=plan.answers.metric.name,
        threshold=plan.answers.metric.threshold,
        answers=answers,
        documents=ranked(plan.looks, answers, asking.found, marks),
        bots=plan.bots,
        calls=asking.calls,
        kept=asking.kept,
        bound=plan.bound,
        left_out=plan.left_out,
        warnings=(*plan.warnings, *_warnings(answers, asking, plan)),
    )


@dataclass
class _Asking:
    """Asks, and remembers what came of it."""

    plan: BlamePlan
    store: Store
    watching: Watching
    told: Callable[[str], None]
    found: dict[Removal, Answer] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    kept: int = 0
    missing: int = 0

    def ask(self, what: str, removals: Iterable[Removal]) -> None:
        """Ask for those that are not known yet."""
        wanted = [removal for removal in dict.fromkeys(removals) if removal not in self.found]
        if not wanted:
            return
        plan = self.plan
        self.told(f"{what}: {len(wanted):,}")
        metric = plan.answers.metric.name
        asked: Asked = ask_again(plan.ground, wanted, metric, plan.options, self.store, self.watching, self.told)
        self.found |= asked.answers
        self.problems |= asked.problems
        self.calls += asked.calls
        self.kept += asked.kept
        self.missing += len(wanted) - len(asked.answers)


def ranked(
    looks: Sequence[Look], answers: Sequence[BlamedAnswer], found: dict[Removal, Answer], marks: Marks
) -> tuple[DocumentBlame, ...]:
    """What each document did: those that cause most failures first, then those that carry most right answers."""
    caused: dict[str, list[Place]] = {}
    for answer in answers:
        for document in answer.documents if answer.cause == "document" else ():
            caused.setdefault(document, []).append((answer.bot, answer.question))
    carried: dict[str, list[Place]] = {}
    effects: dict[str, list[float]] = {}
    for look in looks:
        for document in look.documents:
            after = found.get(look.without([document]))
            before_worth, after_worth = marks.worth(look.answer), marks.worth(after)
            if before_worth is None or after_worth is None:
                continue
            effects.setdefault(document, []).append(before_worth - after_worth)
            if marks.breaks(look.answer, after):
                carried.setdefault(document, []).append((look.answer.bot, look.answer.question))
    made = [
        DocumentBlame(
            document=one.id,
            caused=tuple(caused.get(one.id, ())),
            carried=tuple(carried.get(one.id, ())),
            effect=math.fsum(effects[one.id]) / len(effects[one.id]),
            tried=len(effects[one.id]),
        )
        for one in marks.ground.documents
        if one.id in effects
    ]
    return tuple(sorted(made, key=_worst_first))


def _worst_first(document: DocumentBlame) -> tuple[int, int, float]:
    caused, carried = ({question for _, question in places} for places in (document.caused, document.carried))
    return -len(caused), -len(carried), document.effect or 0.0


def _noise(plan: BlamePlan, store: Store) -> dict[str, float]:
    if plan.repeats < 2:
        return {}
    metric = plan.answers.metric.name
    tables = run_tables(store, plan.answers.run_id, plan.bots, [metric]).tables
    return {bot: noise_of(table, metric) for bot, table in tables.items()}


def _place(evidence: Evidence) -> Place:
    return evidence.look.answer.bot, evidence.look.answer.question


def _designs(evidences: Sequence[Evidence], left: int, seed: int) -> tuple[dict[Place, ShareDesign], list[Removal]]:
    """For which answers Shapley values can be had within what is left, and all that is asked for them."""
    designs: dict[Place, ShareDesign] = {}
    asked: list[Removal] = []
    for place, evidence in enumerate(evidences):
        players = evidence.look.documents
        known = [each for each in _known(evidence) if each <= frozenset(players)]
        most = min(MOST_COALITIONS, left // (len(evidences) - place))
        design = design_shares(players, known, most, seed)
        if design is None:
            continue
        new = [each for each in design.coalitions if each not in set(known)]
        designs[_place(evidence)] = design
        asked += [evidence.look.without(frozenset(players) - each) for each in new]
        left -= len(new)
    return designs, asked


def _known(evidence: Evidence) -> Iterator[Coalition]:
    """The coalitions of documents with which the question was answered already."""
    look = evidence.look
    players = frozenset(look.documents)
    yield players
    for removed in (*(frozenset([one]) for one in look.documents), evidence.others):
        if evidence.after(removed) is not None:
            yield players - removed


def _shares(evidence: Evidence, design: ShareDesign | None) -> Shares | None:
    """The shares where every value that they need could be had."""
    if design is None:
        return None
    players = frozenset(design.documents)
    worths = {each: evidence.marks.worth(evidence.after(players - each)) for each in design.coalitions}
    values = {each: worth for each, worth in worths.items() if worth is not None}
    return shares_of(design, values) if len(values) == len(worths) else None


def _not_filled(plan: BlamePlan, found: Mapping[Removal, Answer]) -> Iterator[str]:
    """Where a retriever of the user's own gave nothing in the place of what was taken away."""
    suite = plan.ground.loaded.suite
    for bot, settings in suite.bots.items():
        if not isinstance(settings, RagSettings) or settings.search_by is not None:
            continue
        pairs = [
            (look.answer, after)
            for look in plan.looks if look.answer.bot == bot
            for one in look.documents if (after := found.get(look.without([one]))) is not None
        ]  # fmt: skip
        if short := sum(len(after.contexts or ()) < len(before.contexts or ()) for before, after in pairs):
            yield (
                f"{short:,} of {len(pairs):,} answers of {bot} without a document rest on fewer passages than before, "
                f"because {settings.retriever} gave none to move up. Where such an answer is wrong, it may be for that."
            )


def _warnings(answers: Sequence[BlamedAnswer], asking: _Asking, plan: BlamePlan) -> Iterator[str]:
    for bot, problem in asking.problems.items():
        yield f"{bot} could not be asked again: {problem}"
    if asking.missing and not asking.problems:
        yield f"{asking.missing:,} of the answers could not be had; what they would have told is left out."
    yield from _not_filled(plan, asking.found)
    gold = {look.answer.question: look.gold for look in plan.looks}
    misled = [one for one in answers if one.cause == "document" and gold[one.question] & set(one.documents)]
    if misled:
        keys = ", ".join(dict.fromkeys(one.question for one in misled))
        yield f"Gold is blamed for answers to {keys}: other documents may contradict it, or it is wrong itself."
    if any(one.control is not None for one in answers):
        chance = sum(one.note == CHANCE for one in answers)
        yield (
            "The bots may say something else each time, and are asked once: each wrong answer was asked for once more "
            f"with nothing changed that matters, and {chance:,} turned right by that alone. With `repeat: 3` in the "
            "suite chance is told apart better."
        )
