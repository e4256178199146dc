"""Against: the same questions over old documents and today's, and which edit turned which answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...reports.comparing.comparable import pair
from ...reports.comparing.run_tables import run_tables
from ...reports.summary import find_run
from ...reports.surveys.against import Against, BotChange, Edit
from ..engine.engine import Watcher
from ..exams.exam import hold
from ..exams.run_config import RunConfig
from ..exams.suite_exam import suite_exam
from ..grids.recommending import paired
from ..ground.answers import Answers, read_answers
from .against_plan import AgainstPlan, plan_against
from .document_changes import DocumentChange
from .taking_back import TakenBack, ask_taken_back
from .turned_answers import Turned, credited, doubts, is_unmarked, turned_answers

if TYPE_CHECKING:
    from pathlib import Path

    from ...reports.comparing.score_table import ScoreTable
    from ...reports.store import Store
    from ..ground.ground import Ground
    from ..suite.suite_file import LoadedSuite

Watching = Callable[[], AbstractContextManager[Watcher]]
Told = Callable[[str], None]


def compare_documents(
    ground: Ground, folder: Path, store: Store, watching: Watching, options: RunConfig | None = None,
    metric: str | None = None, most_calls: int | None = None, told: Told | None = None, present: Answers | None = None,
) -> Against:  # fmt: skip
    """Hold today's documents against those of another folder, over the same questions and bots.

    What is kept is not asked again. Which edit turned an answer is found out by asking again over today's documents
    with that one edit taken back; answers that were lost come before those that were gained.

    Args:
        ground: today's documents and the questions.
        folder: the old documents.
        store: the database, in which all is kept as runs that stand aside.
        watching: makes somebody who watches an exam.
        options: as of the run over today's documents.
        metric: the metric that says right or wrong; None for the one that says it most directly.
        most_calls: answers asked for at most to find out which edit turned an answer; see ``plan_against``.
        told: told a sentence before what takes long.
        present: the answers of the suite's run; None where it is not held yet.

    Raises:
        InputError: there is no such folder, no document in it, or no such metric.
    """
    plan = plan_against(ground, folder, options, most_calls)
    comparing = _Comparing(plan, store, watching, told or _say_nothing)
    return comparing.against(metric, present)


def _say_nothing(_: str) -> None:
    """Nobody listens."""


@dataclass
class _Comparing:
    """A comparison while it goes on; ``calls`` counts the answers that were asked for."""

    plan: AgainstPlan
    store: Store
    watching: Watching
    told: Told
    calls: int = 0

    def against(self, metric: str | None, present: Answers | None) -> Against:
        """All of it."""
        plan = self.plan
        empty = Against(
            str(plan.folder), "", "" if present is None else present.metric.name,
            tuple(_edit(change) for change in plan.changes), warnings=tuple(plan.warnings()),
        )  # fmt: skip
        if plan.is_idle:
            return _with(empty, plan.sentence(self.store))
        now, problems = self._now(metric, present)
        if now is None:
            unmarked = "No metric says whether an answer is right, so nothing tells what the edits did."
            return _with(replace(empty, calls=self.calls), *problems, unmarked)
        was, further = self._was(now.metric.name)
        problems = tuple(dict.fromkeys((*problems, *further)))
        if was is None:
            return _with(replace(empty, calls=self.calls), *problems)
        return self._compared(empty, was, now, problems)

    def _compared(self, empty: Against, was: Answers, now: Answers, problems: Sequence[str]) -> Against:
        plan = self.plan
        bots = tuple(bot for bot in plan.bots if bot in was.bots and bot in now.bots)
        turned = [one for bot in bots for one in turned_answers(bot, was, now, plan)]
        taken = self._taken_back(turned, now)
        credit = {one.place: credited(one, taken) for one in turned}
        changes = tuple(self._bot_changes(bots, was, now, turned))
        without = [bot for bot in bots if bot not in {change.bot for change in changes}]
        found = replace(
            empty,
            run=was.run,
            metric=now.metric.name,
            edits=tuple(sorted((_edit(change, turned, credit) for change in plan.changes), key=_turned_most)),
            bots=changes,
            unexplained=tuple(
                one.place
                for one in turned
                if not credit[one.place] and one.place not in taken.left_out and not is_unmarked(one, taken)
            ),
            calls=self.calls,
        )
        unpaired = [f"{bot}: no question has a value of {now.metric.name} on both sides." for bot in without]
        return _with(found, *problems, *taken.problems, *unpaired, *doubts(turned, taken, plan.most_calls))

    def _now(self, metric: str | None, present: Answers | None) -> tuple[Answers | None, Sequence[str]]:
        """The answers over today's documents, marked by the metric; and why bots could not be asked."""
        if present is not None:
            is_marked = metric in (None, present.metric.name)
            return (present if is_marked else read_answers(self.store, present.run_id, metric)), ()
        self.told("Asking the bots over today's documents; what is kept is not asked again")
        run_id, why = self._hold(self.plan.present_suite, "today's documents")
        return read_answers(self.store, run_id, metric), why

    def _was(self, metric: str) -> tuple[Answers | None, Sequence[str]]:
        """The answers over the old documents; and why bots could not be asked."""
        self.told(f"Asking the bots over the documents of {self.plan.folder}; what is kept is not asked again")
        run_id, why = self._hold(self.plan.suite, "the old documents")
        return read_answers(self.store, run_id, metric), why

    def _hold(self, loaded: LoadedSuite, documents: str) -> tuple[int, Sequence[str]]:
        exam = suite_exam(loaded, self.plan.options, self.plan.ground.environ, self.told)
        with self.watching() as watcher:
            outcome = hold(exam, self.store, watcher)
        self.calls += outcome.asked
        run_id, _ = find_run(self.store, outcome.summary.run)
        told = {bot: outcome.problems.get(bot, "it gave no answer.") for bot in outcome.unable}
        return run_id, [f"{bot} could not be asked over {documents}: {why}" for bot, why in told.items()]

    def _taken_back(self, turned: Sequence[Turned], now: Answers) -> TakenBack:
        """What the bots answer with single edits taken back."""
        plan = self.plan
        ordered = [one for wanted in (True, False) for one in turned if one.is_lost is wanted and one.candidates]
        is_single = len(plan.changes) == 1  # with the only edit taken back, the documents are the old ones
        wanted = [(one.place, () if is_single else one.candidates) for one in ordered]
        taken = ask_taken_back(plan, wanted, now.metric.name, self.store, self.watching, self.told)
        self.calls += taken.calls
        if not is_single:
            return taken
        known = [one for one in ordered if one.place not in taken.left_out]
        before = {(*one.place, plan.changes[0].document): one.was for one in known}
        return replace(taken, answers={**taken.answers, **before})

    def _bot_changes(
        self, bots: Sequence[str], was: Answers, now: Answers, turned: Sequence[Turned]
    ) -> Iterator[BotChange]:
        name = now.metric.name
        old, new = (run_tables(self.store, each.run_id, bots, [name]).tables for each in (was, now))
        for bot in bots:
            of_bot = [one for one in turned if one.now.bot == bot]
            change = _bot_change(old[bot], new[bot], name, of_bot, self.plan.ground)
            if change is not None:
                yield change


def _edit(
    change: DocumentChange,
    turned: Sequence[Turned] = (),
    credited: Mapping[tuple[str, str], Sequence[DocumentChange]] | None = None,
) -> Edit:
    mine = [one for one in turned if credited is not None and change in credited[one.place]]
    return Edit(
        document=change.document,
        change=change.change,
        was=change.was.id if change.change == "renamed" and change.was is not None else "",
        gained=tuple(one.place for one in mine if not one.is_lost),
        lost=tuple(one.place for one in mine if one.is_lost),
    )


def _turned_most(edit: Edit) -> int:
    return -(len(edit.gained) + len(edit.lost))


def _bot_change(
    old: ScoreTable, new: ScoreTable, metric: str, turned: Sequence[Turned], ground: Ground
) -> BotChange | None:
    """What became of a bot; None where no question has a value on both sides."""
    pairing = pair(old, new)
    if metric not in pairing.metrics:
        return None
    base, head = pairing.values(metric)
    column = pairing.columns[metric]
    clusters = ground.clusters(case.key for case in pairing.cases)
    found = paired(base, head, clusters, column.low, column.high, ground.seed)
    if found is None:
        return None
    gained = tuple(one.now.question for one in turned if not one.is_lost)
    return BotChange(new.bot, found, gained, tuple(one.now.question for one in turned if one.is_lost))


def _with(against: Against, *warnings: str) -> Against:
    return replace(against, warnings=(*against.warnings, *warnings))
