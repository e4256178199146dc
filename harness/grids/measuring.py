"""Measuring a grid: every setting on the same questions, with intervals, and the one to take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from ...reports.comparing.estimate import Estimate, estimate
from ...reports.comparing.score_table import Figures
from ...reports.surveys.grid import Grid, SettingResult, names_apart
from .laying import LaidGrid, lay_grid
from .recommending import Contest, paired, recommend
from .retrieving import Retrieved, Retrieving
from .scoring import METRICS, PROMPT_TOKENS, Places, Range, Yardstick, gold_places

if TYPE_CHECKING:
    from ...bots.base import Context
    from ...knowledge.questions import Question
    from ..ground.ground import Ground
    from ..suite.survey_settings import SurveySettings

Table = dict[str, Figures]
# Of the budget that the present setting makes: no two ways to cut fill a prompt to the same token.
LEEWAY: Final = 0.1


def measure_grid(
    ground: Ground, settings: SurveySettings, told: Callable[[str], None] | None = None,
    local_models: Iterable[str] = (),
) -> Grid | None:  # fmt: skip
    """Retrieve for every question with every setting, and measure it; None where no question has a known place.

    Questions count whose gold evidence stands in the documents, and those for which the support of the expected
    answer was found (see ``with_supports``). Nobody is asked; texts are embedded once for each embedder.

    Args:
        ground: documents, questions and where their answers stand.
        settings: what is compared, and by what.
        told: told a sentence before what takes long.
        local_models: other models for some roles, as ``ROLE=MODEL``.

    Raises:
        InputError: the grid is too large, or a model can't be had.
    """
    questions = evident_questions(ground)
    if not questions:
        return None
    laid = lay_grid(ground, settings.grid)
    retrieving = Retrieving(ground, [question.text for question in questions], laid.embedders, told, local_models)
    try:
        tables, retrieved = asyncio.run(_measured(ground, questions, laid, retrieving))
    finally:
        retrieving.close()
        laid.close(ground.embedder)
    yardstick_ranges = Yardstick().ranges()
    clusters = ground.clusters(question.id for question in questions)
    results = _results(laid, tables, retrieved, clusters, yardstick_ranges, ground.seed)
    budget = _budget(settings.max_tokens, tables[0])
    contest = contest_of(results, settings.rank_by, budget, clusters, ground.seed)
    recommendation, doubt = recommend(contest)
    by_evidence = sum(ground.gold[question.id].kind == "evidence" for question in questions)
    return Grid(
        metric=settings.rank_by,
        questions=tuple(question.id for question in questions),
        by_evidence=by_evidence,
        present=0,
        settings=results,
        recommendation=recommendation,
        budget=budget,
        distinct_passages=retrieving.distinct_passages,
        warnings=(*laid.warnings, *dict.fromkeys(retrieving.warnings), *filter(None, [doubt])),
    )


def evident_questions(ground: Ground) -> list[Question]:
    """Questions of which it is known where the answer stands, in the order of their file."""
    kinds = ("evidence", "support")
    known = {key for key, gold in ground.gold.items() if gold.kind in kinds and any(gold.groups)}
    return [question for question in ground.questions if question.id in known]


def contest_of(
    results: Sequence[SettingResult], metric: str, budget: float | None, clusters: NDArray[np.intp], seed: int
) -> Contest:
    """The settings as they are ranked by a metric."""
    low, high = Yardstick().ranges()[metric]
    return Contest(
        metric=metric,
        names=names_apart([result.setting for result in results]),
        values=np.array([_figures(result.by_question[metric]) for result in results]),
        tokens=np.array([float(np.nanmean(_figures(result.by_question[PROMPT_TOKENS]))) for result in results]),
        clusters=clusters,
        present=0,
        budget=budget,
        low=low,
        high=high,
        seed=seed,
    )


def _budget(wanted: int | None, present: Table) -> float:
    return float(np.mean(present[PROMPT_TOKENS])) * (1 + LEEWAY) if wanted is None else float(wanted)


async def _measured(
    ground: Ground, questions: Sequence[Question], laid: LaidGrid, retrieving: Retrieving
) -> tuple[list[Table], list[Retrieved]]:
    """For each setting its values and the search that it shares with others of another k, without what that found."""
    yardstick = Yardstick()
    gold = [gold_places(ground.gold[question.id]) for question in questions]
    tables: dict[int, Table] = {}
    by_setting: dict[int, Retrieved] = {}
    async for retrieved in retrieving.made(laid.settings):
        for place in retrieved.settings:
            tables[place] = _table(yardstick, retrieved.found, gold, laid.settings[place].top_k)
            by_setting[place] = replace(retrieved, found=())  # that of all searches together would be large
    order = range(len(laid.settings))
    return [tables[place] for place in order], [by_setting[place] for place in order]


def _table(
    yardstick: Yardstick, found: Sequence[Sequence[Context]], gold: Sequence[Sequence[Places]], top_k: int
) -> Table:
    """The values of a setting by metric, one a question; NaN where there is none."""
    rows = [yardstick.values(passages[:top_k], places) for passages, places in zip(found, gold, strict=True)]
    return {metric: _figures([row[metric] for row in rows]) for metric in METRICS}


def _figures(values: Sequence[float | None]) -> Figures:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _results(
    laid: LaidGrid,
    tables: Sequence[Table],
    retrieved: Sequence[Retrieved],
    clusters: NDArray[np.intp],
    ranges: Mapping[str, Range],
    seed: int,
) -> tuple[SettingResult, ...]:
    made = []
    for place, (setting, table, search) in enumerate(zip(laid.settings, tables, retrieved, strict=True)):
        against = {
            metric: found
            for metric in (METRICS if place else ())
            if (found := paired(tables[0][metric], table[metric], clusters, *ranges[metric], seed)) is not None
        }
        made.append(
            SettingResult(
                setting=setting,
                passages=search.passages,
                metrics=_means(table, clusters, ranges),
                by_question={metric: _listed(values) for metric, values in table.items()},
                bots=laid.bots.get(setting, ()),
                against=against,
                retrieve_ms=_percentiles(search.ms),
            )
        )
    return tuple(made)


def _means(table: Table, clusters: NDArray[np.intp], ranges: Mapping[str, Range]) -> dict[str, Estimate]:
    means = {metric: estimate(values, clusters, *ranges[metric]) for metric, values in table.items()}
    return {metric: mean for metric, mean in means.items() if mean is not None}


def _listed(values: Figures) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _percentiles(ms: Sequence[float]) -> tuple[float, float]:
    middle, late = np.percentile(ms, [50, 95])
    return float(middle), float(late)
