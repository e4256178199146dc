"""Perturbed file: the questions of a file reworded, written to another one whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ... import InputError
from ...bots.openai_endpoint import Endpoints
from ...knowledge.perturbing.variants import Recipe, Tally, Texts, reworded, some_questions
from ...knowledge.question_files import QuestionSet, open_questions
from ...knowledge.question_writing import extra_keys, question_pieces
from ...knowledge.questions import Question
from ...reports.shelf import VectorShelf
from ...reports.whole_files import check_file, whole_file
from ..engine.judging import CONCURRENCY, Judging, open_judging
from ..exams.embedders import default_embedder
from ..suite.judge_choice import choose_judge
from ..suite.judge_settings import JudgeSettings
from .perturbed_run import without_judge
from .question_writer import Written, write_questions


@dataclass(frozen=True, slots=True)
class Perturbed:
    """What came of it.

    Attributes:
        out: the file that was written.
        recipe: what was made of each question.
        tally: what was made and what could not be.
        written: what a judge wrote.
        warnings: sentences for the user.
    """

    out: Path
    recipe: Recipe
    tally: Tally
    written: Written = field(default_factory=Written)
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
    """Reword the questions of a file and write the variants.

    Args:
        path: the questions.
        out: the file of variants; how it ends says what is written.
        recipe: what is made of each question.
        named: the kinds as the user named them.
        limit: only the first so many questions; None for all.
        judge: who writes what no rule can make.
        environ: where keys are looked up.

    Raises:
        InputError: a file or the judge can't be used, or there is no question that could be reworded.
    """
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
    yield from reworded(questions, recipe, tally, texts)
    if not tally.made:
        why = ", because all of them are variants already" if tally.passed_over else ""
        raise InputError(f"{questions.path}: no variant of any question could be made{why}; nothing was written.")


def _judging(options: JudgeOptions, environ: Mapping[str, str]) -> Judging:
    choice = choose_judge(JudgeSettings(), {}, options.judge, options.url)
    embedder = default_embedder(VectorShelf())
    return open_judging(choice, embedder, Path(), environ, Endpoints(), options.concurrency or CONCURRENCY)
