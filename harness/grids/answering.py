"""Answering: a bot asked with the best few settings of a grid, beside the suite's own run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from ...bots.settings import RagSettings
from ...knowledge.question_list import QuestionList
from ...reports.comparing.comparable import mean_of_repeats
from ...reports.comparing.estimate import estimate
from ...reports.comparing.run_tables import run_tables
from ...reports.comparing.score_table import ScoreTable
from ...reports.leaderboard import count
from ...reports.ledger import Ledger, OpenRun
from ...reports.run import SURVEYED
from ...reports.summary import find_run
from ..engine.engine import Watcher
from ..engine.lanes import Lane, todo
from ..exams.exam import Exam, hold
from ..exams.run_config import RunConfig
from ..exams.suite_exam import build_bots, suite_exam
from ..exams.variant_exam import NamedBot
from ..forecast.open_run import open_run
from .laying import LaidGrid, lay_grid
from .measuring import contest_of
from .recommending import halves, paired, why_not

if TYPE_CHECKING:
    from ...bots.wrapping import BuiltBot
    from ...knowledge.questions import Question
    from ...reports.store import Store
    from ...reports.surveys.grid import Grid, Setting, SettingResult
    from ..ground.ground import Ground
    from ..suite.suite_file import LoadedSuite
    from ..suite.survey_settings import SurveySettings

Watching = Callable[[], AbstractContextManager[Watcher]]
Told = Callable[[str], None]


@dataclass(frozen=True)
class _Asking:
    """What is asked: the settings by the name of the bot that has them, and the questions."""

    name: str
    base: RagSettings
    bots: Mapping[str, int]
    questions: tuple[Question, ...]


def best_settings(grid: Grid, ground: Ground, best: int) -> tuple[int, ...]:
    """Places of the settings whose answers are measured: the present one, the recommended one, and the best few.

    These are ranked on the questions that settings are chosen on; on all of them where nothing can be recommended.
    """
    clusters = ground.clusters(grid.questions)
    contest = contest_of(grid.settings, grid.metric, grid.budget, clusters, ground.seed)
    on = np.full(len(clusters), True) if why_not(clusters, ground.seed) else halves(clusters, ground.seed)
    recommended = [] if grid.recommendation is None else [grid.recommendation.setting]
    return tuple(dict.fromkeys([grid.present, *recommended, *contest.ranking(on)[:best]]))


def answered_questions(grid: Grid, ground: Ground) -> tuple[Question, ...]:
    """The questions that bots are asked: those that settings were not chosen on, all where nothing is recommended.

    A question that shares its cluster with one that was chosen on is none of them.
    """
    if grid.recommendation is None:
        return ground.questions
    clusters = ground.clusters(grid.questions)
    chosen_on = np.array(grid.questions)[halves(clusters, ground.seed)]
    codes = dict(zip(ground.by_key, ground.clusters(ground.by_key).tolist(), strict=True))
    taken = {codes[key] for key in chosen_on.tolist()}
    return tuple(question for question in ground.questions if codes[question.id] not in taken)


def answers_to_ask(
    grid: Grid, ground: Ground, settings: SurveySettings, store: Store, options: RunConfig
) -> int:  # fmt: skip
    """How many answers ``answer_best`` would ask for; those that are kept are not among them. Nobody is asked."""
    asking = _asking(grid, ground, settings, options)
    if asking is None:
        return 0
    laid = lay_grid(ground, settings.grid)
    try:
        exam = _exam(asking, grid, ground, laid, replace(options, only_planned=True))
        run, ledger = open_run(exam.header, store), Ledger(store)
        own_only = exam.header.fresh or exam.header.alone
        waiting = (item for lane in exam.lanes(run) for item in todo(lane, ledger, run, own_only))
        return sum(item is not None and not item.row.kept and item.row.reply is None for item in waiting)
    finally:
        laid.close(ground.embedder)


def answer_best(
    grid: Grid, ground: Ground, settings: SurveySettings, store: Store, watching: Watching, options: RunConfig,
    told: Told | None = None,
) -> Grid:  # fmt: skip
    """The grid with the answers of the suite's first rag bot measured under its best few settings.

    The settings are bots of one exam that is held beside the suite's run, and scored by the suite's metrics. Answers
    that are kept are not asked for again; those of the bot with its own setting are the ones of the suite's run.

    Args:
        grid: as it was measured on ``ground``.
        ground: documents and questions.
        settings: how many are measured, and the names of models.
        store: the database.
        watching: makes somebody who watches an exam.
        options: what the command line changes; the first rag bot among its bots is asked, and its limit doesn't count.
        told: told a sentence before what takes long.

    Raises:
        InputError: a bot with one of the settings can't be built.
    """
    asking = _asking(grid, ground, settings, options)
    if asking is None:
        return grid
    laid = lay_grid(ground, settings.grid)
    try:
        exam = _exam(asking, grid, ground, laid, options, told)
        if told is not None:
            told(f"Asking {asking.name} with {count(len(asking.bots), 'setting')}")
        with watching() as watcher:
            outcome = hold(exam, store, watcher)
    finally:
        laid.close(ground.embedder)
    run_id, _ = find_run(store, outcome.summary.run)
    tables = run_tables(store, run_id).tables
    unable = {**dict.fromkeys(outcome.unable, "it gave no answer."), **outcome.problems}
    warnings = [f"{name} could not be asked: {why}" for name, why in unable.items()]
    if grid.recommendation is None and len(asking.bots) > 1:
        warnings.append("Answers were measured on the same questions that the best settings were chosen on.")
    results = _with_answers(grid, ground, asking, tables)
    return replace(grid, settings=results, bot=asking.name, warnings=(*grid.warnings, *warnings))


def _asking(grid: Grid, ground: Ground, settings: SurveySettings, options: RunConfig) -> _Asking | None:
    """None where no bot retrieves from the documents, nothing is to be measured or there is nobody to ask."""
    bots = ground.loaded.suite.bots
    wanted = ((name, bots[name]) for name in options.bots or bots if name in bots)
    found = next(((name, bot) for name, bot in wanted if isinstance(bot, RagSettings)), None)
    questions = answered_questions(grid, ground)
    if found is None or not settings.best or not questions:
        return None
    name, base = found
    named = {
        name if name in grid.settings[place].bots else f"{name}: {grid.names[place]}": place
        for place in best_settings(grid, ground, settings.best)
    }
    return _Asking(name, base, named, questions)


def _exam(
    asking: _Asking, grid: Grid, ground: Ground, laid: LaidGrid, options: RunConfig, told: Told | None = None
) -> Exam:
    suite = ground.loaded.suite
    chosen = {name: grid.settings[place].setting for name, place in asking.bots.items()}
    bots = {name: set_so(asking.base, setting) for name, setting in chosen.items()}
    named = replace(ground.loaded, suite=suite.model_copy(update={"name": f"{suite.name}{SURVEYED}", "bots": bots}))
    questions = QuestionList(ground.loaded.base / suite.questions, asking.questions)
    exam = suite_exam(named, replace(options, bots=(), limit=None), ground.environ, told, questions)
    return _with_embedders(exam, named, chosen, ground, laid, options.local_models)


def set_so(base: RagSettings, setting: Setting) -> RagSettings:
    """The settings of a bot with those of a grid in their place."""
    changes: dict[str, object] = {
        "retriever": setting.retriever, "top_k": setting.top_k, "min_score": setting.min_score,
        "reranker": setting.reranker or None,
    }  # fmt: skip
    if setting.splitter:
        changes |= {
            "splitter": setting.splitter, "chunk_size": setting.chunk_size, "chunk_overlap": setting.chunk_overlap,
        }  # fmt: skip
    return RagSettings.model_validate({**base.model_dump(), **changes})


def _with_embedders(
    exam: Exam, named: LoadedSuite, settings: Mapping[str, Setting], ground: Ground, laid: LaidGrid,
    local_models: Sequence[str],
) -> Exam:  # fmt: skip
    """The exam with bots built anew whose passages another model embeds; metrics keep the suite's model."""
    own = ground.embedder.model_id
    others: dict[str, list[str]] = {}
    for name, setting in settings.items():
        if setting.embedder not in ("", own):
            others.setdefault(setting.embedder, []).append(name)
    built = {
        bot.name: bot
        for model, names in others.items()
        for bot in build_bots(named, names, laid.embedders[model], ground.environ, local_models=local_models)
    }
    if not built:
        return exam
    header = replace(
        exam.header,
        bots=[(name, built[name].identity if name in built else identity) for name, identity in exam.header.bots],
    )

    def lanes(run: OpenRun) -> Sequence[Lane]:
        return [
            dataclasses.replace(lane, bot=_in_its_place(built[lane.name], lane)) if lane.name in built else lane
            for lane in exam.lanes(run)
        ]

    return dataclasses.replace(exam, header=header, lanes=lanes)


def _in_its_place(bot: BuiltBot, lane: Lane) -> NamedBot:
    """A bot instead of that of a lane, which is closed with it: they may share connections with a third."""
    return NamedBot(bot, bot.name, (cast("BuiltBot", lane.bot),))


def _with_answers(
    grid: Grid, ground: Ground, asking: _Asking, tables: Mapping[str, ScoreTable]
) -> tuple[SettingResult, ...]:
    made = list(grid.settings)
    present = next((tables.get(name) for name, place in asking.bots.items() if place == grid.present), None)
    for name, place in asking.bots.items():
        if name in tables:
            made[place] = _with_means(made[place], ground, tables[name], None if place == grid.present else present)
    return tuple(made)


def _with_means(result: SettingResult, ground: Ground, table: ScoreTable, present: ScoreTable | None) -> SettingResult:
    """The result with the means of a bot's metrics, and their differences to the present setting."""
    clusters = ground.clusters(case.key for case in table.cases)
    means, against = {}, {}
    for metric, column in table.columns.items():
        values = mean_of_repeats(table.values[metric])
        mean = estimate(values, clusters, column.low, column.high)
        if mean is not None:
            means[metric] = mean
        if present is not None:
            there = mean_of_repeats(present.values[metric])
            found = paired(there, values, clusters, column.low, column.high, ground.seed)
            if found is not None:
                against[metric] = found
    return replace(result, answers=means, answers_against=against)
