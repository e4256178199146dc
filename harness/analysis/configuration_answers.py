"""Configuration answers: a bot asked with the best few configurations, scored by the metrics of the suite."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from ...bots import NamedBot, RagSettings
from ...knowledge import QuestionList
from ...reports import count, find_run
from ...reports.analysis import Configuration, ConfigurationResult, Grid
from ...reports.compare import ScoreTable, estimate, mean_of_repeats, run_tables
from ...reports.store import ANALYSED, OpenRun, RunResults
from ..run import (
    AnswerCache,
    BotQueue,
    Evaluation,
    RunConfig,
    build_bots,
    open_run,
    run_evaluation,
    suite_evaluation,
    todo_by_row,
)
from .configurations import contest_of
from .grid_expansion import ExpandedGrid, expand_grid
from .recommendation import halves, paired, why_not

if TYPE_CHECKING:
    from ...bots import BuiltBot
    from ...knowledge import Question
    from ...reports.store import Store
    from ..suite import AnalysisSettings, LoadedSuite
    from .corpus import CorpusIndex, Notify, Watching


@dataclass(frozen=True)
class _Asking:
    """What is asked: the configurations by the name of the bot that has them, and the questions."""

    name: str
    base: RagSettings
    bots: Mapping[str, int]
    questions: tuple[Question, ...]


def best_configurations(grid: Grid, corpus: CorpusIndex, best: int) -> tuple[int, ...]:
    """Positions of the configurations whose answers are measured: current, recommended, and the best few.

    They are ranked on the questions that configurations are chosen on; on all where nothing can be recommended.
    """
    clusters = corpus.clusters(grid.questions)
    contest = contest_of(grid.configurations, grid.metric, grid.budget, clusters, corpus.seed)
    on = np.full(len(clusters), True) if why_not(clusters, corpus.seed) else halves(clusters, corpus.seed)
    recommended = [] if grid.recommendation is None else [grid.recommendation.configuration]
    return tuple(dict.fromkeys([grid.current, *recommended, *contest.ranking(on)[:best]]))


def answered_questions(grid: Grid, corpus: CorpusIndex) -> tuple[Question, ...]:
    """The questions that bots are asked: the held-out ones, or all where nothing is recommended.

    A question that shares its cluster with one that was chosen on is left out.
    """
    if grid.recommendation is None:
        return corpus.questions
    clusters = corpus.clusters(grid.questions)
    chosen_on = np.array(grid.questions)[halves(clusters, corpus.seed)]
    codes = dict(zip(corpus.by_key, corpus.clusters(corpus.by_key).tolist(), strict=True))
    taken = {codes[key] for key in chosen_on.tolist()}
    return tuple(question for question in corpus.questions if codes[question.id] not in taken)


def answers_to_ask(
    grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, store: Store, options: RunConfig
) -> int:  # fmt: skip
    """How many answers ``answer_best`` would ask for; those that are cached are not among them. Nobody is asked."""
    asking = _asking(grid, corpus, settings, options)
    if asking is None:
        return 0
    expanded = expand_grid(corpus, settings.grid)
    try:
        evaluation = _evaluation(asking, grid, corpus, expanded, replace(options, only_planned=True))
        run = open_run(evaluation.header, store)
        waiting = (
            item
            for bot_queue in evaluation.bot_queues(run)
            for item in todo_by_row(bot_queue, AnswerCache(RunResults(store), run))
        )
        return sum(item is not None and not item.row.cached and item.row.reply is None for item in waiting)
    finally:
        expanded.close(corpus.embedder)


def answer_best(
    grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, store: Store, watching: Watching, options: RunConfig,
    notify: Notify | None = None,
) -> Grid:  # fmt: skip
    """The grid with the answers of the suite's first rag bot measured under its best few configurations.

    The configurations are bots of one run of their own, scored by the suite's metrics. Cached answers are not asked
    for again; those of the bot with its own configuration come from the suite's run.

    Args:
        grid: as it was measured on ``ground``.
        corpus: documents and questions.
        settings: how many are measured, and the names of models.
        store: the database.
        watching: makes somebody who watches a run.
        options: what the command line changes; the first rag bot among its bots is asked, and its limit doesn't count.
        notify: called with a sentence before what takes long.

    Raises:
        InputError: a bot with one of the configurations can't be built.
    """
    asking = _asking(grid, corpus, settings, options)
    if asking is None:
        return grid
    expanded = expand_grid(corpus, settings.grid)
    try:
        evaluation = _evaluation(asking, grid, corpus, expanded, options, notify)
        if notify is not None:
            notify(f"Asking {asking.name} with {count(len(asking.bots), 'configuration')}")
        with watching() as watcher:
            outcome = run_evaluation(evaluation, store, watcher)
    finally:
        expanded.close(corpus.embedder)
    run_id, _ = find_run(store, outcome.summary.run)
    tables = run_tables(store, run_id).tables
    unable = {**dict.fromkeys(outcome.unable, "it gave no answer."), **outcome.problems}
    warnings = [f"{name} could not be asked: {why}" for name, why in unable.items()]
    if grid.recommendation is None and len(asking.bots) > 1:
        warnings.append("Answers were measured on the same questions that the best configurations were chosen on.")
    results = _with_answers(grid, corpus, asking, tables)
    return replace(grid, configurations=results, bot=asking.name, warnings=(*grid.warnings, *warnings))


def _asking(grid: Grid, corpus: CorpusIndex, settings: AnalysisSettings, options: RunConfig) -> _Asking | None:
    """None where no bot retrieves from the documents, nothing is to be measured or there is nobody to ask."""
    bots = corpus.loaded.suite.bots
    wanted = ((name, bots[name]) for name in options.bots or bots if name in bots)
    found = next(((name, bot) for name, bot in wanted if isinstance(bot, RagSettings)), None)
    questions = answered_questions(grid, corpus)
    if found is None or not settings.best or not questions:
        return None
    name, base = found
    named = {
        name if name in grid.configurations[place].bots else f"{name}: {grid.names[place]}": place
        for place in best_configurations(grid, corpus, settings.best)
    }
    return _Asking(name, base, named, questions)


def _evaluation(
    asking: _Asking,
    grid: Grid,
    corpus: CorpusIndex,
    expanded: ExpandedGrid,
    options: RunConfig,
    notify: Notify | None = None,
) -> Evaluation:
    suite = corpus.loaded.suite
    chosen = {name: grid.configurations[place].configuration for name, place in asking.bots.items()}
    bots = {name: set_so(asking.base, configuration) for name, configuration in chosen.items()}
    named = replace(corpus.loaded, suite=suite.model_copy(update={"name": f"{suite.name}{ANALYSED}", "bots": bots}))
    questions = QuestionList(corpus.loaded.base / suite.questions, asking.questions)
    evaluation = suite_evaluation(named, replace(options, bots=(), limit=None), corpus.environ, notify, questions)
    return _with_embedders(evaluation, named, chosen, corpus, expanded, options.local_models)


def set_so(base: RagSettings, configuration: Configuration) -> RagSettings:
    """The configurations of a bot with those of a grid in their place."""
    changes: dict[str, object] = {
        "retriever": configuration.retriever, "top_k": configuration.top_k, "min_score": configuration.min_score,
        "reranker": configuration.reranker or None,
    }  # fmt: skip
    if configuration.splitter:
        changes |= {
            "splitter": configuration.splitter, "chunk_size": configuration.chunk_size,
            "chunk_overlap": configuration.chunk_overlap,
        }  # fmt: skip
    return RagSettings.model_validate({**base.model_dump(), **changes})


def _with_embedders(
    evaluation: Evaluation, named: LoadedSuite, configurations: Mapping[str, Configuration], corpus: CorpusIndex,
    expanded: ExpandedGrid,
    local_models: Sequence[str],
) -> Evaluation:  # fmt: skip
    """The run with bots built anew whose passages another model embeds; metrics keep the suite's model."""
    own = corpus.embedder.model_id
    others: dict[str, list[str]] = {}
    for name, configuration in configurations.items():
        if configuration.embedder not in ("", own):
            others.setdefault(configuration.embedder, []).append(name)
    built = {
        bot.name: bot
        for model, names in others.items()
        for bot in build_bots(named, names, expanded.embedders[model], corpus.environ, local_models=local_models)
    }
    if not built:
        return evaluation
    header = replace(
        evaluation.header,
        bots=[(name, built[name].identity if name in built else identity) for name, identity in evaluation.header.bots],
    )

    def bot_queues(run: OpenRun) -> Sequence[BotQueue]:
        return [
            dataclasses.replace(bot_queue, bot=_in_its_place(built[bot_queue.name], bot_queue))
            if bot_queue.name in built
            else bot_queue
            for bot_queue in evaluation.bot_queues(run)
        ]

    return dataclasses.replace(evaluation, header=header, bot_queues=bot_queues)


def _in_its_place(bot: BuiltBot, bot_queue: BotQueue) -> NamedBot:
    """A bot instead of that of a bot queue, which is closed with it: they may share connections with a third."""
    return NamedBot(bot, bot.name, (cast("BuiltBot", bot_queue.bot),))


def _with_answers(
    grid: Grid, corpus: CorpusIndex, asking: _Asking, tables: Mapping[str, ScoreTable]
) -> tuple[ConfigurationResult, ...]:
    made = list(grid.configurations)
    current = next((tables.get(name) for name, place in asking.bots.items() if place == grid.current), None)
    for name, place in asking.bots.items():
        if name in tables:
            made[place] = _with_means(made[place], corpus, tables[name], None if place == grid.current else current)
    return tuple(made)


def _with_means(
    result: ConfigurationResult, corpus: CorpusIndex, table: ScoreTable, current: ScoreTable | None
) -> ConfigurationResult:
    """The result with the means of a bot's metrics, and their differences to the current configuration."""
    clusters = corpus.clusters(case.key for case in table.cases)
    means, against = {}, {}
    for metric, column in table.columns.items():
        values = mean_of_repeats(table.values[metric])
        mean = estimate(values, clusters, column.low, column.high)
        if mean is not None:
            means[metric] = mean
        if current is not None:
            there = mean_of_repeats(current.values[metric])
            found = paired(there, values, clusters, column.low, column.high, corpus.seed)
            if found is not None:
                against[metric] = found
    return replace(result, answers=means, answer_differences=against)
