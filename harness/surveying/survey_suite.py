"""Survey suite: all parts of a survey, one after the other, from the documents on disk to the record that is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...reports.comparing.run_tables import run_tables
from ...reports.ledger import new_name, now
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.surveys.kept_surveys import keep_survey
from ...reports.surveys.survey import Gaps, Survey, SurveyedQuestion
from ..auditing.audit import audit
from ..blaming.blame import blame
from ..blaming.blame_plan import plan_blame
from ..engine.engine import Watcher
from ..engine.judge_entailment import open_entailment
from ..exams.exam import Outcome, hold
from ..exams.manifest import MOST_DOCUMENTS, manifest
from ..exams.suite_exam import suite_exam
from ..grids.answering import answer_best, answers_to_ask
from ..grids.measuring import measure_grid
from ..ground.answers import Answers, read_answers
from ..ground.ground import Ground, lay_ground
from ..ground.support import with_supports
from ..suite.survey_settings import SurveySettings, overridden_grid
from .against import compare_documents, plan_against
from .cards import coverage, document_cards
from .gaps import find_gaps
from .inside import look_inside
from .survey_options import SurveyOptions

if TYPE_CHECKING:
    from ...reports.surveys.against import Against
    from ...reports.surveys.audit import Audit
    from ...reports.surveys.blame import Blame
    from ...reports.surveys.finding import Finding
    from ...reports.surveys.grid import Grid
    from ..suite.suite_file import LoadedSuite

Watching = Callable[[], AbstractContextManager[Watcher]]
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A survey that was made, with the exam that was held for it."""

    survey: Survey
    outcome: Outcome | None


def survey_suite(
    loaded: LoadedSuite,
    options: SurveyOptions,
    store: Store,
    environ: Mapping[str, str],
    watching: Watching,
    told: Told,
) -> Surveyed:
    """Look at a suite's documents and questions, and keep what was found. What is kept is not asked again.

    Args:
        loaded: the suite.
        options: what the command line says.
        store: where answers and the survey are kept.
        environ: where keys are looked up.
        watching: makes somebody who watches an exam.
        told: told a sentence before whatever takes long or asks bots.

    Raises:
        InputError: suite, documents, questions or options can't be used.
    """
    surveying = _Surveying(options, store, environ, watching, told, _settings(loaded, options), now())
    found = surveying.survey(loaded)
    keep_survey(store, found)
    return Surveyed(found, surveying.outcome)


def _settings(loaded: LoadedSuite, options: SurveyOptions) -> SurveySettings:
    """The suite's, with what the command line changes about them."""
    given = loaded.suite.survey
    return given.model_copy(
        update={
            "grid": overridden_grid(given.grid, options.grid),
            "metric": options.metric or given.metric,
            "most_calls": given.most_calls if options.most_calls is None else options.most_calls,
        }
    )


@dataclass
class _Surveying:
    """A survey while it is made."""

    options: SurveyOptions
    store: Store
    environ: Mapping[str, str]
    watching: Watching
    told: Told
    settings: SurveySettings
    started: str
    outcome: Outcome | None = None
    warnings: list[str] = field(default_factory=list)

    def survey(self, loaded: LoadedSuite) -> Survey:
        """All parts that are wanted."""
        wanted = self.options.parts
        if self.options.against is not None:  # a folder that can't be read is told before anything is asked
            self._check_against(loaded)
        ground = with_supports(lay_ground(loaded, self.environ, self.options.run.limit, self.told), self.told)
        self.warnings += ground.warnings
        grid = self._grid(ground) if "grid" in wanted else None
        answers = self._answers(loaded) if self.options.asks else None
        if grid is not None and answers is not None:
            grid = self._answered(grid, ground)
        blamed = self._blame(ground, answers) if "blame" in wanted and answers is not None else None
        self.told("Looking at documents and questions")
        cards = document_cards(ground, answers, blamed) if "documents" in wanted else None
        self.warnings += () if cards is None else cards.warnings
        return Survey(
            survey=new_name(),
            suite=loaded.suite.name,
            run="" if answers is None else answers.run,
            started_at=self.started,
            finished_at=now(),
            manifest=self._manifest(ground),
            metric="" if answers is None else answers.metric.name,
            threshold=None if answers is None else answers.metric.threshold,
            bots=() if answers is None else answers.bots,
            questions=_questions(ground),
            grid=grid,
            documents=() if cards is None else cards.cards,
            coverage=coverage(ground, answers) if "documents" in wanted else (),
            gaps=find_gaps(ground, answers) if "gaps" in wanted else Gaps(),
            blame=blamed,
            inside=self._inside(ground, answers) if "inside" in wanted else (),
            audit=self._audit(ground, answers) if "audit" in wanted else None,
            against=self._against(ground, answers) if self.options.against is not None else None,
            warnings=tuple(dict.fromkeys(self.warnings)),
        )

    def _check_against(self, loaded: LoadedSuite) -> None:
        folder = self.options.against
        if folder is not None:
            ground = lay_ground(loaded, self.environ, self.options.run.limit)
            plan_against(ground, folder, self.options.run, self.settings.most_calls)

    def _grid(self, ground: Ground) -> Grid:
        grid = measure_grid(ground, self.settings, self.told)
        self.warnings += grid.warnings
        return grid

    def _answers(self, loaded: LoadedSuite) -> Answers | None:
        """Hold the suite's run; what of it is kept is not asked again."""
        self.told("Asking the bots of the suite; what is kept is not asked again")
        with self.watching() as watcher:
            exam = suite_exam(loaded, self.options.run, self.environ, self.told)
            self.outcome = hold(exam, self.store, watcher)
        run_id, _ = find_run(self.store, self.outcome.summary.run)
        found = read_answers(self.store, run_id, self.settings.metric)
        if found is None:
            self.warnings.append(
                "No metric of the run says whether an answer is right, so answers tell nothing of documents. "
                "Give questions expected answers or constraints, or name a metric with --metric."
            )
        return found

    def _answered(self, grid: Grid, ground: Ground) -> Grid:
        asked = answers_to_ask(grid, ground, self.store, self.options.run)
        if asked:
            self.told(f"The best settings are tried with answers: {asked} at most will be asked for")
        return answer_best(grid, ground, self.store, self.watching, self.options.run, self.told)

    def _blame(self, ground: Ground, answers: Answers) -> Blame:
        plan = plan_blame(ground, answers, self.options.run.bots or None, self.settings.most_calls, self.options.run)
        self.told(plan.sentence(self.store))
        found = blame(plan, self.store, self.watching, self.told)
        self.warnings += found.warnings
        return found

    def _inside(self, ground: Ground, answers: Answers | None) -> tuple[Finding, ...]:
        judge = ground.loaded.suite.judge
        entailment = open_entailment(judge, ground.loaded.base)
        try:
            return look_inside(ground, answers, entailment, self.told)
        finally:
            if entailment is not None:
                entailment.close()

    def _audit(self, ground: Ground, answers: Answers | None) -> Audit:
        tables = None if answers is None else run_tables(self.store, answers.run_id)
        found = audit(ground, answers, tables, told=self.told)
        self.warnings += found.warnings
        return found

    def _against(self, ground: Ground, answers: Answers | None) -> Against | None:
        folder = self.options.against
        if folder is None:
            return None
        plan = plan_against(ground, folder, self.options.run, self.settings.most_calls)
        self.told(plan.sentence(self.store))
        found = compare_documents(
            ground, folder, self.store, self.watching, self.options.run, self.settings.metric,
            self.settings.most_calls, self.told, answers,
        )  # fmt: skip
        self.warnings += found.warnings
        return found

    def _manifest(self, ground: Ground) -> dict[str, object]:
        """What the survey rests on; no secrets."""
        documents = {document.id: document.fingerprint for document in ground.documents[:MOST_DOCUMENTS]}
        effective = {
            "suite_file": ground.loaded.path.name,
            "suite_hash": ground.loaded.text_hash,
            "survey": self.settings.model_dump(mode="json"),
            "parts": sorted(self.options.parts),
            "asks": self.options.asks,
            "limit": self.options.run.limit,
            "seed": ground.seed,
            "embedder": ground.embedder.model_id,
            "documents": {"count": len(ground.documents), "each": documents},
            "against": None if self.options.against is None else str(self.options.against),
        }
        return manifest(effective, tuple(dict.fromkeys(self.warnings)))


def _questions(ground: Ground) -> tuple[SurveyedQuestion, ...]:
    return tuple(
        SurveyedQuestion(
            question.id, question.text, ground.gold[question.id].kind, question.source_document, question.answerable,
            question.tags,
        )
        for question in ground.questions
    )  # fmt: skip
