"""Survey suite: all parts of a survey, one after the other, from the documents on disk to the record that is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ...reports.comparing.run_tables import run_tables
from ...reports.leaderboard import count
from ...reports.ledger import new_name, now
from ...reports.models_in_use import named
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.surveys.kept_surveys import keep_survey
from ...reports.surveys.survey import Gaps, Survey, SurveyedQuestion
from ..auditing.audit import audit
from ..blaming.blame import blame
from ..blaming.blame_plan import plan_blame
from ..engine.engine import Watcher
from ..engine.judge_entailment import open_entailment
from ..exams.exam import Exam, Outcome, hold
from ..exams.manifest import MOST_DOCUMENTS, manifest
from ..exams.suite_exam import suite_exam
from ..grids.answering import answer_best, answers_to_ask
from ..grids.measuring import measure_grid
from ..ground.answers import Answers, marking_metric, read_answers
from ..ground.ground import Ground, lay_ground
from ..ground.support import with_supports
from .against import compare_documents
from .against_plan import plan_against
from .cards import coverage, document_cards
from .gaps import find_gaps
from .inside import look_inside
from .survey_options import SurveyOptions, settings_of

if TYPE_CHECKING:
    from ...reports.surveys.against import Against
    from ...reports.surveys.audit import Audit
    from ...reports.surveys.blame import Blame
    from ...reports.surveys.finding import Finding
    from ...reports.surveys.grid import Grid
    from ..suite.suite_file import LoadedSuite
    from ..suite.survey_settings import SurveySettings

Watching = Callable[[], AbstractContextManager[Watcher]]
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Surveyed:
    """A survey that was made, with the exam that was held for it."""

    survey: Survey
    outcome: Outcome | None

    @property
    def is_lacking(self) -> bool:
        """Whether a bot, the judge or a metric of the run could do nothing at all."""
        return self.outcome is not None and any(True for _ in lacking(self.outcome))


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
    surveying = _Surveying(options, store, environ, watching, told, settings_of(loaded, options), now())
    with surveying.closing:
        found = surveying.survey(loaded)
    keep_survey(store, found)
    return Surveyed(found, surveying.outcome)


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
    closing: ExitStack = field(default_factory=ExitStack)  # of what was opened for all parts

    def survey(self, loaded: LoadedSuite) -> Survey:
        """All parts that are wanted."""
        wanted = self.options.parts
        ground = lay_ground(loaded, self.environ, self.options.run.limit, self.told)
        self.closing.callback(ground.embedder.close)
        if self.options.against is not None:  # what can't be used is told before anything takes long
            plan_against(ground, self.options.against, self.options.run, self.settings.most_calls)
        exam = self._exam(loaded) if self.options.asks else None
        ground = with_supports(ground, self.told)
        self.warnings += ground.warnings
        grid = self._grid(ground) if "grid" in wanted else None
        answers = self._answers(exam, len(ground.questions)) if exam is not None else None
        if grid is not None and answers is not None:
            grid = self._answered(grid, ground)
        blamed = self._blame(ground, answers) if "blame" in wanted and answers is not None else None
        self.told("Looking at documents and questions")
        cards = document_cards(ground, answers, blamed) if "documents" in wanted else None
        self.warnings += () if cards is None else cards.warnings
        found = Survey(
            survey=new_name(),
            suite=loaded.suite.name,
            run="" if self.outcome is None else self.outcome.summary.run,
            started_at=self.started,
            finished_at="",
            manifest={},
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
        )
        warnings = tuple(dict.fromkeys(self.warnings))  # every part has said its own by now
        return replace(found, finished_at=now(), manifest=self._manifest(ground, warnings), warnings=warnings)

    def _exam(self, loaded: LoadedSuite) -> Exam:
        """The exam of the suite, with a metric that can mark its answers; nothing is asked yet."""
        exam = suite_exam(loaded, self.options.run, self.environ, self.told)
        if self.settings.metric is not None:
            marking_metric(self.settings.metric, exam.header.metrics, "The suite")
        return exam

    def _grid(self, ground: Ground) -> Grid | None:
        grid = measure_grid(ground, self.settings, self.told, self.options.run.local_models)
        if grid is None:
            self.warnings.append(
                "There is no grid: of no question it is known where its answer stands. Give questions evidence, or "
                "expected answers that the documents hold."
            )
        else:
            self.warnings += grid.warnings
        return grid

    def _answers(self, exam: Exam, questions: int) -> Answers | None:
        """Hold the suite's run; what of it is kept is not asked again."""
        asked = f"{count(len(exam.header.bots), 'bot')} {count(questions * exam.header.repeats, 'question')} each"
        self.told(f"Asking {asked}; what is kept is not asked again")
        with self.watching() as watcher:
            self.outcome = outcome = hold(exam, self.store, watcher)
        lacks = tuple(lacking(outcome))
        self.warnings += (*outcome.warnings, *lacks)
        run_id, _ = find_run(self.store, outcome.summary.run)
        found = read_answers(self.store, run_id, self.settings.metric)
        if found is None and not lacks:
            self.warnings.append(
                "No metric of the run says whether an answer is right, so answers tell nothing of documents. "
                "Give questions expected answers or constraints, a metric a threshold, or name one with --metric."
            )
        return found

    def _answered(self, grid: Grid, ground: Ground) -> Grid:
        asked = answers_to_ask(grid, ground, self.settings, self.store, self.options.run)
        if asked:
            self.told(f"The best settings are tried with answers: {asked} at most will be asked for")
        found = answer_best(grid, ground, self.settings, self.store, self.watching, self.options.run, self.told)
        self.warnings += found.warnings
        return found

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
            found = look_inside(ground, answers, entailment, self.told)
        finally:
            if entailment is not None:
                entailment.close()
        self.warnings += found.warnings
        return found.findings

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

    def _manifest(self, ground: Ground, warnings: tuple[str, ...]) -> dict[str, object]:
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
        return manifest(effective, warnings)


def lacking(outcome: Outcome) -> Iterator[str]:
    """What a run could not do at all: bots, judge and metrics; nothing where it did all."""
    seen = {problem.bot: problem.what for problem in reversed(outcome.findings.problems)}
    for bot in outcome.unable:
        why = outcome.problems.get(bot)
        yield f"{bot} could not be asked: {why}" if why else seen.get(bot, f"{bot} gave no answer.")
    if outcome.judge_problem:
        yield outcome.judge_problem
    if outcome.unmeasured:
        yield f"No answer has a value of {named(outcome.unmeasured)}: the problems of the run say why."


def _questions(ground: Ground) -> tuple[SurveyedQuestion, ...]:
    return tuple(
        SurveyedQuestion(
            question.id, question.text, ground.gold[question.id].kind, question.source_document, question.answerable,
            question.tags,
        )
        for question in ground.questions
    )  # fmt: skip
