"""Survey plan: what a survey would ask at most, worked out without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ...bots.settings import FaqSettings, FullContextSettings, RagSettings
from ...knowledge.question_files import open_questions
from ...reports.leaderboard import count
from ..exams.suite_exam import chosen_bots, suite_exam
from ..forecast.forecast import Forecast, forecast
from .survey_options import SurveyOptions

if TYPE_CHECKING:
    from ..suite.suite_file import LoadedSuite

TAKE_DOCUMENTS = (RagSettings, FullContextSettings)


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
    """Reckon the run of a suite, and the answers that are asked for beside it.

    Args:
        loaded: the suite.
        options: what the command line says; its ``run`` only plans.
        database: where kept answers are looked for; it may not be there.
        environ: where keys are looked up.

    Raises:
        InputError: the suite can't be used.
    """
    if not options.asks:
        return SurveyPlan(sentences=("No bot is asked.",))
    suite = loaded.suite
    names = chosen_bots(options.run.bots, list(suite.bots))
    questions = open_questions(loaded.base / suite.questions, options.run.limit).count
    bound = suite.survey.most_calls if options.most_calls is None else options.most_calls
    most: dict[str, int] = {}
    if "grid" in options.parts and any(isinstance(suite.bots[name], RagSettings) for name in names):
        most["grid"] = (suite.survey.best + 2) * questions  # with the present and the recommended setting
    taking = [name for name in names if isinstance(suite.bots[name], TAKE_DOCUMENTS)]
    if "blame" in options.parts and taking:
        most["blame"] = bound
    if options.against is not None:
        others = [name for name in names if not isinstance(suite.bots[name], FaqSettings)]
        most["against"] = len(others) * questions + bound
    run = forecast(suite_exam(loaded, options.run, environ), database)
    return SurveyPlan(run, most, tuple(_sentences(most)))


def _sentences(most: Mapping[str, int]) -> tuple[str, ...]:
    why = {
        "grid": "answers with the best few settings",
        "blame": "to find which document caused an answer (--most-calls)",
        "against": "answers over the other documents, and to find which edit turned them",
    }
    return tuple(f"At most {count(number, 'answer')} more for {part}: {why[part]}." for part, number in most.items())
