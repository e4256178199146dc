"""AgainstPlan: how the documents differ from those of another folder, and what it takes to see what that did."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...bots.settings import FullContextSettings, RagSettings
from ...knowledge.evidence import EvidenceFinder
from ...knowledge.reading import read_knowledge
from ...reports.run import SURVEYED, ask_key
from ..exams.kept_answers import missing_answers
from ..exams.run_config import RunConfig
from ..exams.suite_exam import build_bots, chosen_bots
from ..ground.ground import gold_by_evidence
from ..ground.listed_names import listed
from .document_changes import DocumentChange, changes_between

if TYPE_CHECKING:
    from ...bots.wrapping import BuiltBot
    from ...knowledge.reading import Knowledge
    from ...reports.store import Store
    from ..ground.ground import Ground
    from ..suite.suite_file import LoadedSuite

MOST_CALLS: Final = 500  # answers asked for to find out which edit turned an answer
TAKING_DOCUMENTS: Final = (FullContextSettings, RagSettings)


@dataclass(frozen=True)
class AgainstPlan:
    """What is to be held to see what edits of the documents did.

    Attributes:
        ground: today's documents and the questions.
        folder: the old documents, as the user named them.
        old: what was read of them.
        options: as of the run over today's documents.
        changes: the documents that are not as they were.
        bots: those that take documents.
        left_out: those that don't.
        most_calls: answers asked for at most to find out which edit turned an answer.
    """

    ground: Ground
    folder: Path
    old: Knowledge
    options: RunConfig
    changes: tuple[DocumentChange, ...]
    bots: tuple[str, ...]
    left_out: tuple[str, ...]
    most_calls: int = MOST_CALLS

    @property
    def present_suite(self) -> LoadedSuite:
        """The suite under the name of runs that stand aside."""
        loaded = self.ground.loaded
        named = loaded.suite.model_copy(update={"name": f"{loaded.suite.name}{SURVEYED}"})
        return dataclasses.replace(loaded, suite=named)

    @property
    def suite(self) -> LoadedSuite:
        """That suite over the old documents."""
        loaded = self.present_suite
        over_old = loaded.suite.model_copy(update={"knowledge": (self.folder.resolve(),)})
        return dataclasses.replace(loaded, suite=over_old)

    @property
    def repeats(self) -> int:
        """How often each question is asked."""
        return self.options.repeat or self.ground.loaded.suite.repeat

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to ask."""
        return not self.changes or not self.bots

    def questions(self, store: Store) -> int:
        """How many answers are asked for over the old documents; those that are kept are free."""
        if self.is_idle:
            return 0
        asks = [ask_key(question) for question in self.ground.questions]
        return sum(missing(store, bot, asks, self.repeats) for bot in self._before)

    @cached_property
    def varying(self) -> frozenset[str]:
        """Names of the bots that may say another thing each time: those with a language model."""
        return frozenset(bot.name for bot in self._before if not bot.identity.embedded)

    @cached_property
    def _before(self) -> Sequence[BuiltBot]:
        """The bots over the old documents; nothing of them is loaded."""
        ground, models = self.ground, self.options.local_models
        return build_bots(self.suite, self.bots, ground.embedder, ground.environ, lambda: self.old, local_models=models)

    @property
    def most_to_explain(self) -> int:
        """How many answers are asked for at most to find out which edit turned an answer."""
        if self.is_idle:
            return 0
        edits = len(self.changes) if len(self.changes) > 1 else 0  # what the only edit did is what all did
        an_answer = len(self.bots) * edits + len(self.varying)
        return min(self.most_calls, len(self.ground.questions) * an_answer * self.repeats)

    def sentence(self, store: Store) -> str:
        """How the documents differ and what it takes, to be said before anything is asked."""
        if not self.changes:
            return f"{self.folder} holds the very documents of the suite, so nothing has to be asked."
        differ = f"Since {self.folder}: {worded(self.changes)}."
        if not self.bots:
            return f"{differ} No bot of the suite takes documents, so nothing can be asked."
        asked = f"{self.questions(store):,} answers are asked for over the old documents"
        further = self.most_to_explain
        return f"{differ} {asked}{f', and at most {further:,} to find out which edit did what' if further else ''}."

    def warnings(self) -> Iterator[str]:
        """What there is to say of the two sets of documents."""
        yield from self.old.warnings
        if self.left_out:
            verb = "takes" if len(self.left_out) == 1 else "take"
            yield f"{listed(self.left_out)} {verb} no documents from a folder, so nothing of them can be compared."
        added = sum(change.change == "added" for change in self.changes)
        if 2 * added >= len(self.ground.documents):
            whole = f"{added:,} of the {len(self.ground.documents):,} documents of the suite"
            yield f"{whole} are not in {self.folder}. If it holds only some of the old ones, the others count as added."
        yield from self._gold_warnings()

    def _gold_warnings(self) -> Iterator[str]:
        finder = EvidenceFinder(self.old.documents)
        missing_then, missing_now = [], []
        for question in self.ground.questions:
            if not question.evidence:
                continue
            is_stale = bool(self.ground.gold[question.id].stale)
            was_stale = bool(gold_by_evidence(question, finder).stale)
            missing_then += [question.id] if was_stale and not is_stale else []
            missing_now += [question.id] if is_stale and not was_stale else []
        if missing_then:
            yield f"The evidence of {_counted(missing_then)} is not in the old documents: {listed(missing_then)}."
        if missing_now:
            yield (
                f"The evidence of {_counted(missing_now)} was edited away: {listed(missing_now)}. An answer that "
                "counts as lost there may be right by today's documents; then the question has to be mended."
            )


def plan_against(
    ground: Ground, folder: Path, options: RunConfig | None = None, most_calls: int | None = None
) -> AgainstPlan:
    """Read the old documents and see how today's differ; nothing is asked.

    Args:
        ground: today's documents and the questions.
        folder: the old documents; a single file will do.
        options: as of the run over today's documents.
        most_calls: answers asked for at most to find out which edit turned an answer; None for MOST_CALLS.

    Raises:
        InputError: there is no such folder, or no document in it.
    """
    options = options or RunConfig()
    old = read_knowledge([folder])
    suite = ground.loaded.suite
    names = chosen_bots(options.bots, list(suite.bots))
    taking = tuple(name for name in names if isinstance(suite.bots[name], TAKING_DOCUMENTS))
    return AgainstPlan(
        ground=ground,
        folder=folder,
        old=old,
        options=dataclasses.replace(options, bots=taking, fresh=False, latency_run=False, only_planned=False),
        changes=changes_between(old.documents, ground.documents),
        bots=taking,
        left_out=tuple(name for name in names if name not in taking),
        most_calls=MOST_CALLS if most_calls is None else most_calls,
    )


def missing(store: Store, bot: BuiltBot, asks: Sequence[bytes], repeats: int) -> int:
    """How many answers of a bot are not kept."""
    return missing_answers(store, bot.name, bot.identity, asks, repeats)


def worded(changes: Sequence[DocumentChange]) -> str:
    """How many documents were changed, by kind: ``2 edited, 1 added``."""
    counts = Counter(change.change for change in changes)
    return ", ".join(f"{count:,} {change}" for change, count in counts.items())


def _counted(keys: Sequence[str]) -> str:
    return "1 question" if len(keys) == 1 else f"{len(keys):,} questions"
