"""Survey plan: what a survey would ask at most, worked out without asking anybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...bots.settings import RagSettings
from ...reports.leaderboard import count
from ..exams.suite_exam import chosen_bots, suite_exam
from ..forecast.forecast import Forecast, forecast
from ..ground.answers import marking_metric
from ..ground.ground import Ground, lay_ground
from .against_plan import TAKING_DOCUMENTS, plan_against
from .survey_options import SurveyOptions, settings_of

if TYPE_CHECKING:
    from ..suite.suite_file import LoadedSuite
    from ..suite.survey_settings import SurveySettings


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """What a survey would ask.

    Attributes:
        run: of the suite's own run; None where no bot is asked.
        most: most answers that are asked for beside it, by part.
        sentences: the same in words.
    """

    run: Forecast | None = None
    most: Mapping[str, int] = field(default_factory=dict)
    sentences: tuple[str, ...] = ()


def survey_plan(loaded: LoadedSuite, options: SurveyOptions, database: Path, environ: Mapping[str, str]) -> SurveyPlan:
    """Reckon the run of a suite, and the answers that are asked for beside it; documents and questions are read.

    Args:
        loaded: the suite.
        options: what the command line says; its ``run`` only plans.
        database: where kept answers are looked for; it may not be there.
        environ: where keys are looked up.

    Raises:
        InputError: the suite or the options can't be used.
    """
    settings = settings_of(loaded, options)
    ground = lay_ground(loaded, environ, options.run.limit)
    if not options.asks:
        return SurveyPlan(sentences=("No bot is asked.",))
    exam = suite_exam(loaded, options.run, environ)
    if settings.metric is not None:
        marking_metric(settings.metric, exam.header.metrics, "The suite")
    most = dict(_most(ground, options, settings))
    run = forecast(exam, database)
    return SurveyPlan(run, most, tuple(_sentences(run, most)))


def _most(ground: Ground, options: SurveyOptions, settings: SurveySettings) -> Iterator[tuple[str, int]]:
    """Most answers of each part that asks for any; those that are kept are not known yet."""
    suite = ground.loaded.suite
    names = chosen_bots(options.run.bots, list(suite.bots))
    rows = len(ground.questions) * (options.run.repeat or suite.repeat)
    if "grid" in options.parts and settings.best and any(isinstance(suite.bots[name], RagSettings) for name in names):
        yield "grid", (settings.best + 2) * rows  # with the present and the recommended setting
    if "blame" in options.parts and any(isinstance(suite.bots[name], TAKING_DOCUMENTS) for name in names):
        yield "blame", settings.most_calls
    if options.against is not None:
        plan = plan_against(ground, options.against, options.run, settings.most_calls)
        yield "against", 0 if plan.is_idle else len(plan.bots) * rows + plan.most_to_explain


def _sentences(run: Forecast, most: Mapping[str, int]) -> Iterator[str]:
    why = {
        "grid": "answers with the best few settings",
        "blame": "to find which document caused an answer (--most-calls)",
        "against": "answers over the other documents, and to find which edit turned them",
    }
    for part, number in most.items():
        yield f"At most {count(number, 'answer')} more for {part}: {why[part]}."
    per_row, _ = run.planned
    if any(most.values()) and run.judge and not run.is_embedded and per_row:
        yield f"Each of them may take up to {count(per_row, 'request')} to the judge {run.judge} as well."
