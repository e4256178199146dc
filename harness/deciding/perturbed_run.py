"""Perturbed run: a suite's bots asked once more, with its questions reworded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ... import InputError
from ...bots.openai_endpoint import Endpoints
from ...knowledge.perturbing.kinds import KINDS
from ...knowledge.perturbing.variants import Recipe, Tally, Texts, reworded, some_questions
from ...knowledge.question_files import open_questions
from ...knowledge.question_list import QuestionList
from ...knowledge.questions import Question
from ...reports.run import REWORDED
from ...reports.shelf import VectorShelf
from ...reports.store import Store
from ..engine.judging import open_judging
from ..exams.embedders import open_embedder
from ..exams.exam import Exam
from ..exams.run_config import RunConfig
from ..exams.suite_exam import suite_exam
from ..suite.judge_choice import choose_judge
from .question_writer import Written, need_of_judge, rehearsed, write_questions

if TYPE_CHECKING:
    from ..engine.judging import Judging
    from ..suite.suite_file import LoadedSuite


@dataclass(slots=True)
class PerturbedRun:
    """What a suite's ``perturb`` comes to.

    Attributes:
        loaded: the suite.
        options: what the command line changes about it; its ``limit`` is of the questions that may be drawn.
        sources: the questions that are reworded.
        recipe: what is made of each.
        tally: what could be made, once the exam is.
        written: what a judge wrote of it.
    """

    loaded: LoadedSuite
    options: RunConfig
    sources: list[Question]
    recipe: Recipe
    tally: Tally = field(default_factory=Tally)
    written: Written = field(default_factory=Written)
    warnings: tuple[str, ...] = ()

    @property
    def to_write(self) -> int:
        """How many requests a judge needs to write questions, when none is kept."""
        return len(self.sources) * len(self.recipe.written)

    def exam(
        self, environ: Mapping[str, str], told: Callable[[str], None] | None = None, store: Store | None = None
    ) -> Exam:
        """The exam of the variants; a judge writes those that no rule can make.

        Without a store nothing is asked, and texts stand for what a judge would write.

        Raises:
            InputError: the judge or the suite can't be used.
        """
        texts: Texts = {}
        if self.recipe.written and store is not None:
            judging = _judging(self.loaded, self.options, environ)
            self.written = write_questions(judging, self.sources, self.recipe, store, fresh=self.options.fresh)
            texts = self.written.texts
        elif self.recipe.written:
            texts = rehearsed(self.sources, self.recipe)
        made = list(reworded(self.sources, self.recipe, self.tally, texts))
        suite = self.loaded.suite
        questions = QuestionList(self.loaded.base / suite.questions, made, (*self.warnings, *self._doubts()))
        named = replace(self.loaded, suite=suite.model_copy(update={"name": f"{suite.name}{REWORDED}"}))
        return suite_exam(named, self.options, environ, told, questions)

    def _doubts(self) -> Iterator[str]:
        if self.written.problem:
            yield self.written.problem
        for kind in self.recipe.all_kinds:
            if self.tally.refused[kind.name] and not self.tally.made[kind.name]:
                why, _ = self.tally.reasons[kind.name].most_common(1)[0]
                yield f"No question could be reworded by {kind.name}, mostly because {why}."


def perturbed_run(loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str]) -> PerturbedRun | None:
    """What a suite's ``perturb`` comes to; None where it has none, or no question that can be reworded.

    Kinds that need a language model are left out where the suite has none as judge and names ``all`` kinds.

    Raises:
        InputError: the questions can't be read, or kinds are named that need another judge.
    """
    settings = loaded.suite.perturb
    if settings is None:
        return None
    questions = open_questions(loaded.base / loaded.suite.questions, options.limit)
    sources = some_questions(questions, settings.questions, settings.seed)
    if not sources:
        return None
    recipe, warnings = settings.recipe, tuple[str, ...]()
    if recipe.written:
        recipe, warnings = _judged_recipe(recipe, settings.kinds, loaded, options, environ)
    return PerturbedRun(loaded, options, sources, recipe, warnings=warnings)


def _judged_recipe(
    recipe: Recipe, named: tuple[str, ...], loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str]
) -> tuple[Recipe, tuple[str, ...]]:
    if _judging(loaded, options, environ).is_language_model:
        return recipe, ()
    return without_judge(recipe, named)


def without_judge(recipe: Recipe, named: tuple[str, ...]) -> tuple[Recipe, tuple[str, ...]]:
    """The recipe without kinds that want a judge, where they were only meant by ``all``; and a sentence about it.

    Raises:
        InputError: such a kind was named.
    """
    wanted = [kind.name for kind in recipe.written]
    if set(wanted) & set(named):
        raise InputError(need_of_judge(wanted))
    offline = tuple(kind for kind in recipe.kinds if kind.offline)
    left_out = " and ".join(name for name in KINDS if name in wanted)
    return replace(recipe, kinds=offline), (f"{left_out} are left out: no language model is the judge.",)


def _judging(loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str]) -> Judging:
    """A judge of its own: that of an exam is closed with the exam."""
    suite = loaded.suite
    embedder, _ = open_embedder(loaded, VectorShelf())
    choice = choose_judge(suite.judge, suite.models, options.judge, options.judge_url)
    concurrency = options.concurrency or suite.concurrency
    return open_judging(choice, embedder, loaded.base, environ, Endpoints(), concurrency)
