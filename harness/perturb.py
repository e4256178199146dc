"""Perturbed questions: written to a file, or asked in a second run beside the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from .. import InputError
from ..knowledge import Question, QuestionList, QuestionSet, extra_keys, open_questions, question_pieces
from ..knowledge.perturbations.perturbations import KINDS, Recipe, Tally, Texts, perturbed, some_questions
from ..metrics import Block, Reading
from ..metrics.judge.call import TEXT, record, several
from ..metrics.judge.calls import SomeQuestions
from ..metrics.judge.replies import read_texts
from ..reports import check_file, check_no_parts, whole_file
from ..reports.store import PERTURBED, Store
from .run import (
    Evaluation,
    Judging,
    RunConfig,
    open_judging_alone,
    prompt_text,
    replies_of,
    suite_evaluation,
)
from .suite import JudgeSettings, choose_judge

if TYPE_CHECKING:
    from .suite import LoadedSuite


@dataclass(frozen=True, slots=True)
class QuestionCall(SomeQuestions[str]):
    """A question that is to be written anew."""

    name: ClassVar[str] = "question"

    kind: str  # how, which is also the name of the prompt
    question: str  # as it is
    count: int = 1  # how many versions are wanted

    def shown(self) -> Sequence[Block]:
        """The question."""
        return (Block("question", self.question),)

    def title(self) -> str:
        """The kind."""
        return self.kind

    def instructions(self) -> str:
        """The prompt of the kind."""
        return prompt_text(self.kind)

    def schema(self) -> Mapping[str, object]:
        """An object with a list of questions."""
        return record(questions=several(TEXT))

    def read_found(self, found: Mapping[str, object]) -> Reading[tuple[str, ...]]:
        """The questions that differ from the given one, no more than were asked for."""
        texts = read_texts(found, "questions")
        new = tuple(dict.fromkeys(text for text in texts if _plain(text) != _plain(self.question)))[: self.count]
        if len(new) < self.count:
            return Reading(new or None, f"{self.count} new questions were asked for; {len(new)} could be read.")
        return Reading(new)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(slots=True)
class Written:
    """What a judge wrote."""

    # by kind and id of the question; a sentence where there are none
    texts: Mapping[tuple[str, str], Sequence[str] | str] = field(default_factory=dict)
    paid: int = 0  # requests that were made
    cached: int = 0  # cached replies
    problem: str = ""  # why the judge was stopped; blank while it works


def write_questions(
    judging: Judging, sources: Sequence[Question], recipe: Recipe, store: Store | None = None, *, fresh: bool = False
) -> Written:
    """Have a judge write what the kinds of a recipe need, once for each question and kind; the judge is closed.

    Without a store nothing is cached.

    Raises:
        InputError: the judge is no language model.
    """
    kinds = [kind.name for kind in recipe.written]
    if not judging.is_language_model:
        raise InputError(need_of_judge(kinds))
    calls = {(kind, one.id): QuestionCall(kind, one.text, recipe.variants) for one in sources for kind in kinds}
    replies = replies_of(judging, list(calls.values()), store, fresh=fresh)
    texts = dict(zip(calls, replies, strict=True))
    return Written(texts, judging.judge_cache.paid, judging.judge_cache.cached, judging.problem)


def need_of_judge(kinds: Sequence[str]) -> str:
    """The sentence for kinds that want a judge where there is none."""
    which = " and ".join(kinds)
    return (
        f"{which[:1].upper()}{which[1:]} must be written by a language model: name one as judge (--judge openai:NAME, "
        "or `judge` in the suite), or leave out such kinds, as 'offline' does."
    )


def dry_run(sources: Sequence[Question], recipe: Recipe) -> Mapping[tuple[str, str], Sequence[str]]:
    """Texts that stand for what a judge would write, so that a run can be estimated beforehand."""
    numbers = range(1, recipe.variants + 1)
    return {
        (kind.name, source.id): tuple(f"{source.text} ({number})" for number in numbers)
        for source in sources
        for kind in recipe.written
    }


@dataclass(slots=True)
class PerturbedRun:
    """What a suite's ``perturb`` comes to."""

    loaded: LoadedSuite
    # what the command line changes about it; its ``limit`` is of the questions that may be drawn
    options: RunConfig
    sources: list[Question]  # the questions that are perturbed
    recipe: Recipe  # what is made of each
    tally: Tally = field(default_factory=Tally)  # what could be made, once the run is
    written: Written = field(default_factory=Written)  # what a judge wrote of it
    warnings: tuple[str, ...] = ()

    @property
    def to_write(self) -> int:
        """How many requests a judge needs to write questions, when none is cached."""
        return len(self.sources) * len(self.recipe.written)

    def evaluation(
        self, environ: Mapping[str, str], notify: Callable[[str], None] | None = None, store: Store | None = None
    ) -> Evaluation:
        """The run of the variants; a judge writes those that no rule can make.

        Without a store nothing is asked, and texts stand for what a judge would write.

        Raises:
            InputError: the judge or the suite can't be used.
        """
        texts: Texts = {}
        if self.recipe.written and store is not None:
            judging = _run_judging(self.loaded, self.options, environ)
            self.written = write_questions(judging, self.sources, self.recipe, store, fresh=self.options.fresh)
            texts = self.written.texts
        elif self.recipe.written:
            texts = dry_run(self.sources, self.recipe)
        made = list(perturbed(self.sources, self.recipe, self.tally, texts))
        suite = self.loaded.suite
        questions = QuestionList(self.loaded.base / suite.questions, made, (*self.warnings, *self._doubts()))
        named = self.loaded.with_changes(name=f"{suite.name}{PERTURBED}")
        return suite_evaluation(named, self.options, environ, notify, questions)

    def _doubts(self) -> Iterator[str]:
        if self.written.problem:
            yield self.written.problem
        for kind in self.recipe.all_kinds:
            if self.tally.refused[kind.name] and not self.tally.made[kind.name]:
                why, _ = self.tally.reasons[kind.name].most_common(1)[0]
                yield f"No question could be perturbed by {kind.name}, mostly because {why}."


def perturbed_run(loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str]) -> PerturbedRun | None:
    """What a suite's ``perturb`` comes to; None where it has none, or no question that can be perturbed.

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
    if _run_judging(loaded, options, environ).is_language_model:
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


def _run_judging(loaded: LoadedSuite, options: RunConfig, environ: Mapping[str, str]) -> Judging:
    """A judge of its own: that of a run is closed with the run."""
    choice = choose_judge(loaded.suite.judge, loaded.suite.models, options.judge, options.judge_url)
    return open_judging_alone(choice, environ, loaded, options.concurrency)


@dataclass(frozen=True, slots=True)
class Perturbed:
    """What came of it."""

    out: Path  # the file that was written
    recipe: Recipe  # what was made of each question
    tally: Tally  # what was made and what could not be
    written: Written = field(default_factory=Written)  # what a judge wrote
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Who writes what no rule can make, as the command line has it."""

    judge: str = ""
    url: str = ""
    concurrency: int | None = None


def perturb_file(
    path: Path,
    out: Path,
    recipe: Recipe,
    named: tuple[str, ...],
    limit: int | None,
    judge: JudgeOptions,
    environ: Mapping[str, str],
) -> Perturbed:
    """Perturb the questions of a file and write the variants.

    The end of ``out`` says what is written; ``named`` are the kinds as the user named them.

    Raises:
        InputError: a file or the judge can't be used, or there is no question that could be perturbed.
    """
    check_no_parts(path, "a file of questions")
    pieces = question_pieces(out, "--out")
    check_file(out, "--out", {path.resolve(): "the questions"})
    questions = open_questions(path, limit)
    tally, written, doubts = Tally(), Written(), tuple[str, ...]()
    if recipe.written:
        judging = _judging(judge, environ)
        if judging.is_language_model:
            written = write_questions(judging, some_questions(questions), recipe)
        else:
            recipe, doubts = without_judge(recipe, named)
    with whole_file(out) as file:
        file.writelines(pieces(_some(questions, recipe, tally, written.texts), extra_keys(questions)))
    return Perturbed(out, recipe, tally, written, (*questions.warnings, *doubts))


def _some(questions: QuestionSet, recipe: Recipe, tally: Tally, texts: Texts) -> Iterator[Question]:
    yield from perturbed(questions, recipe, tally, texts)
    if not tally.made:
        why = ", because all of them are variants already" if tally.passed_over else ""
        raise InputError(f"{questions.path}: no variant of any question could be made{why}; nothing was written.")


def _judging(options: JudgeOptions, environ: Mapping[str, str]) -> Judging:
    choice = choose_judge(JudgeSettings(), {}, options.judge, options.url)
    return open_judging_alone(choice, environ, concurrency=options.concurrency)
