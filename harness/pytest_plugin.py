"""The pytest plugin: a fixture that runs suites, and tests with one case for each question of a suite."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import pytest

from .. import InputError
from ..knowledge import open_questions
from ..reports.compare.changes import bot_states
from ..reports.compare.scores import run_tables
from ..reports.export.tables import FrameRow, FrameScore, frame_rows
from ..reports.gate.report import GateReport, answers, failures, headline, missing, threshold
from ..reports.gate.rule import NOT_WORSE, UNDECIDED
from ..reports.gate.verdicts import BotVerdict
from ..reports.reported_run import open_reported
from ..reports.store.database import Store
from ..reports.summary import BotSummary, Summary, find_run
from ..reports.text import printable_lines
from .cli.progress import Silent
from .gate.confirmation import Confirmation
from .gate.gate import judged, open_baseline, refuse_itself
from .run.run import hold
from .run.run_config import RunConfig
from .run.suite_run import chosen_bots, suite_evaluation
from .suite.mistakes import nearest
from .suite.suite_file import load_suite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .suite.suite_file import LoadedSuite


@dataclass(frozen=True, slots=True)
class FinishedRow:
    """One question as one bot answered it, once or several times."""

    repeats: tuple[FrameRow, ...]

    @property
    def first(self) -> FrameRow:
        """The first repeat."""
        return self.repeats[0]

    @property
    def question(self) -> str:
        """What was asked."""
        return self.first.question

    @property
    def expected(self) -> tuple[str, ...]:
        """The accepted answers."""
        return tuple(self.first.expected)

    @property
    def answer(self) -> str | None:
        """The (first) answer; None when the bot gave none."""
        return self.first.answer

    def score(self, metric: str) -> float | None:
        """The value of a metric, or its mean over repeats; None where no repeat has one.

        Raises:
            InputError: the row has no such metric.
        """
        values = [each.value for each in self._scores(metric) if each.value is not None]
        return fmean(values) if values else None

    def passed(self, metric: str) -> bool:
        """Whether every repeat reaches the metric's threshold; one without a value, or without a threshold, does not.

        Raises:
            InputError: the row has no such metric.
        """
        return all(each.passed for each in self._scores(metric))

    def _scores(self, metric: str) -> list[FrameScore]:
        known = self.first.scores
        if metric not in known:
            raise InputError(f"{self.first.bot} has no score {metric!r}{nearest(metric, known)}")
        return [row.scores[metric] for row in self.repeats if metric in row.scores]

    def __repr__(self) -> str:
        """What somebody needs to see who reads that a test failed."""
        row = self.first
        scores = (f"{name} {_figure(score)}" for name, score in row.scores.items())
        lines = (
            f"{row.bot}, asked {row.question_id}: {row.question}",
            f"said: {row.error if row.answer is None else row.answer}",
            f"wanted: {' / '.join(row.expected)}",
            f"scores: {', '.join(scores)}",
        )
        return printable_lines("\n  ".join(lines))


def _figure(score: FrameScore) -> str:
    return str(score.reason) if score.value is None else f"{score.value:g}"


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """True when the bot is not worse; its text says what was found, and which answers got worse."""

    report: GateReport
    or_undecided: bool = False

    @property
    def verdict(self) -> BotVerdict:
        """What the gate says of the bot."""
        return self.report.bots[0]

    def __bool__(self) -> bool:
        """Whether an assertion of it holds."""
        return self.verdict.exit_code == NOT_WORSE or (self.or_undecided and self.verdict.exit_code == UNDECIDED)

    def __repr__(self) -> str:
        """The verdict in a line, a sentence for each figure, and the questions that got worse."""
        found, allowed = self.verdict, self.report.rule.missing
        lines = [
            f"{headline(found)} (compared with {self.report.baseline}, run {found.baseline_run})",
            *([failures(found)] if failures(found) else []),
            *(f"{each.metric}: {each.outcome}: {each.sentence}" for each in found.metrics),
            *(f"{each.metric}: {lost}" for each in found.metrics if (lost := missing(each, allowed))),
            *(f"{threshold(each)}: {each.sentence}" for each in found.thresholds),
            f"latency: {found.latency.sentence}",
            *found.notes,
            *self.report.notes,
        ]
        for flip in found.flips:
            lines += [f"{flip.key}: {flip.question}", *(f"  {when}: {said}" for when, said in answers(flip))]
        return printable_lines("\n  ".join(lines))


@dataclass(frozen=True)
class FinishedEvaluation:
    """A run that was held, once a session, whichever tests ask for it."""

    loaded: LoadedSuite
    summary: Summary
    store: Store
    run_id: int
    problems: Mapping[str, str]  # why a bot could not be asked, or not to the end
    options: RunConfig = field(default_factory=RunConfig)

    @cached_property
    def rows(self) -> Mapping[tuple[str, str], FinishedRow]:
        """Every row by bot and question."""
        reported = open_reported(self.store, self.run_id, self.summary)
        found: dict[tuple[str, str], list[FrameRow]] = {}
        for row in frame_rows(reported, list(reported.columns)):
            found.setdefault((row.bot, row.question_id), []).append(row)
        return {place: FinishedRow(tuple(rows)) for place, rows in found.items()}

    def row(self, bot: str, key: str) -> FinishedRow:
        """The answer of a bot to a question, by its id; raises InputError where it was not asked such a one."""
        if (bot, key) not in self.rows:
            asked = [each for name, each in self.rows if name == bot]
            why = f": {self.problems[bot]}" if bot in self.problems else nearest(key, asked)
            raise InputError(f"{bot} was not asked {key!r}{why}")
        return self.rows[bot, key]


def _nobody_reads(sentence: str) -> None:
    """What is asked again is no news while tests run."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run as a test in some folder sees it: its bots by name."""

    evaluation: FinishedEvaluation
    folder: Path
    shown: list[object]  # what pytest shows in full when the test fails

    @property
    def summary(self) -> Summary:
        """Means, intervals and counts of every bot and metric."""
        return self.evaluation.summary

    def bot(self, name: str) -> FinishedBot:
        """A bot of the run.

        Raises:
            InputError: the run has no such bot.
        """
        known = [bot.name for bot in self.summary.bots]
        if name not in known:
            raise InputError(f"The run {self.summary.run} has no bot {name!r}{nearest(name, known)}")
        return FinishedBot(self, name)

    def placed(self, operand: str) -> str:
        """A side of a comparison, with the file that it names where it is: beside the test or beside the suite."""
        file, colon, bot = operand.rpartition(":")
        for place in (self.folder, self.evaluation.loaded.base):
            if (place / operand).is_file():
                return str(place / operand)
            if file and (place / file).is_file():
                return f"{place / file}{colon}{bot}"
        return operand


@dataclass(frozen=True, slots=True)
class FinishedBot:
    """A bot of a run that was held."""

    run: FinishedRun
    name: str

    @property
    def summary(self) -> BotSummary:
        """Latency, failures, cost, and every metric with its interval."""
        return next(bot for bot in self.run.summary.bots if bot.name == self.name)

    def mean(self, metric: str) -> float | None:
        """The mean of a metric over the rows that have a value; None where none has.

        Raises:
            InputError: the run has no such metric.
        """
        known = self.summary.metrics
        if metric not in known:
            raise InputError(f"The run {self.run.summary.run} has no metric {metric!r}{nearest(metric, known)}")
        return known[metric].mean

    def row(self, key: str) -> FinishedRow:
        """The answer to a question, by its id.

        Raises:
            InputError: the bot was not asked such a question.
        """
        return self.run.evaluation.row(self.name, key)

    def not_worse_than(
        self, baseline: str | Path, *, margins: Mapping[str, float] | None = None, or_undecided: bool = False
    ) -> Judgement:
        """Whether the bot is not worse than it was, as ``proctor gate`` has it; true or false in an assertion.

        Args:
            baseline: a file of ``proctor baseline`` or a database, beside the test, the suite or the working directory;
                a run of the tests' database; or another bot of this run.
            margins: by metric how much worse its mean may become; they go before those of the suite.
            or_undecided: let pass what more questions would have to settle.

        Raises:
            InputError: there is no such baseline, or the bot can't be compared with it.
        """
        evaluation = self.run.evaluation
        suite = evaluation.loaded.suite
        rule = suite.gate.rule(suite.thresholds, margins, seed=suite.seed)
        candidate = run_tables(evaluation.store, evaluation.run_id)
        with open_baseline(self.run.placed(str(baseline)), candidate, evaluation.store.path) as opened:
            refuse_itself(opened, candidate.run)
            asking = Confirmation(
                evaluation.loaded, evaluation.options, os.environ, evaluation.store, opened, _nobody_reads
            )
            states = bot_states(evaluation.store, evaluation.run_id)
            found = judged(candidate, opened, [self.name], rule, asking=asking, states=states)
        judgement = Judgement(found, or_undecided)
        self.run.shown.append(judgement)
        return judgement


_IN_PYTHON = {"only_planned", "metrics", "metric_files", "options", "functions", "given"}  # of no use in a mark
OPTIONS = tuple(field.name for field in fields(RunConfig) if field.name not in _IN_PYTHON)


@dataclass(frozen=True, slots=True)
class WantedRow:
    """A row that a test is about; the run is made when the test begins."""

    suite: Path
    options: RunConfig
    bot: str
    key: str


class SessionRuns:
    """The runs of a session: a suite with the same options is held once; answers of earlier sessions are kept."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._store: Store | None = None
        self._held: dict[tuple[Path, RunConfig], FinishedEvaluation | InputError] = {}

    def hold(self, suite: Path, options: RunConfig) -> FinishedEvaluation:
        """Hold a suite, or give what came of it earlier; one that can't be held is not tried for every test anew.

        Raises:
            InputError: the suite can't be used.
        """
        place = suite, options
        if place not in self._held:
            try:
                self._held[place] = self._hold(suite, options)
            except InputError as reason:
                self._held[place] = reason
        held = self._held[place]
        if isinstance(held, InputError):
            raise held.with_traceback(None)
        return held

    def _hold(self, suite: Path, options: RunConfig) -> FinishedEvaluation:
        loaded = load_suite(suite)
        self._store = self._store or Store.open(self._database)
        outcome = hold(suite_evaluation(loaded, options, os.environ), self._store, Silent())
        run_id, _ = find_run(self._store, outcome.summary.run)
        return FinishedEvaluation(loaded, outcome.summary, self._store, run_id, outcome.problems, options)

    def row(self, wanted: WantedRow) -> FinishedRow:
        """The answer that a test is about."""
        return self.hold(wanted.suite, wanted.options).row(wanted.bot, wanted.key)

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()


@dataclass(frozen=True, slots=True)
class RunsInTests:
    """What the fixture ``proctor`` gives: runs, held for a test in some folder."""

    evaluations: SessionRuns
    folder: Path
    shown: list[object]

    def run(self, suite: str | Path, **options: object) -> FinishedRun:
        """Hold a suite, or give what came of it earlier in this session.

        Args:
            suite: the suite file or its folder, relative to the folder of the test or to the working directory.
            options: as those of ``proctor run``: ``bots`` (or ``bot``), ``limit``, ``repeat``, ``concurrency``,
                ``fresh``, ``latency_run``, ``judge``, ``judge_url``, ``local_models``.

        Raises:
            InputError: the suite or an option can't be used.
        """
        return FinishedRun(
            self.evaluations.hold(found(suite, self.folder), run_options(options)), self.folder, self.shown
        )


def wanted_rows(test_file: Path, mark: pytest.Mark, test: str) -> Sequence[WantedRow]:
    """The rows that a mark asks for, one for each bot and question.

    Raises:
        pytest.Collector.CollectError: the mark, the suite or its questions can't be used.
    """
    if len(mark.args) != 1 or not isinstance(mark.args[0], (str, Path)):
        raise pytest.Collector.CollectError(
            f"{test}: the mark wants one suite file: @pytest.mark.proctor('suite.yaml')"
        )
    try:
        path = found(mark.args[0], test_file.parent)
        options = run_options(mark.kwargs)
        loaded = load_suite(path)
        questions = [each.id for each in open_questions(loaded.base / loaded.suite.questions, options.limit)]
        bots = chosen_bots(options.bots, list(loaded.suite.bots))
    except InputError as error:
        raise pytest.Collector.CollectError(f"{test}: {error}") from None
    return [WantedRow(path, options, bot, key) for bot in bots for key in questions]


def run_options(given: Mapping[str, Any]) -> RunConfig:
    """Options by name, as a test gives them; ``bot`` is one bot, ``bots`` are several.

    Raises:
        InputError: there is no such option.
    """
    options = dict(given)
    if "bot" in options:
        options["bots"] = (options.pop("bot"),)
    for name in options:
        if name not in OPTIONS:
            raise InputError(f"A run has no option {name!r}{nearest(name, OPTIONS)}")
    for name in ("bots", "local_models"):
        if name in options:
            options[name] = (options[name],) if isinstance(options[name], str) else tuple(options[name])
    return RunConfig(**options)


def found(path: str | Path, folder: Path) -> Path:
    """A file that a test names: beside the test, else in the working directory."""
    beside = folder / path
    return beside if beside.exists() or not Path(path).exists() else Path(path).absolute()


MARK: Final = "proctor"
ROW: Final = "row"
_RUNS: Final = pytest.StashKey["SessionRuns"]()
_SHOWN: Final = pytest.StashKey[list[object]]()  # what a test looked at, to be shown in full when it fails


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say where answers and scores are kept."""
    about = "The SQLite file in which runs of tests are kept; else one in pytest's cache folder."
    parser.getgroup("proctor").addoption("--proctor-db", metavar="FILE", help=about)
    parser.addini("proctor_db", about)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        "proctor(suite, bots=None, limit=None, ...): run the test once for each question and bot of the suite; the "
        "test takes the argument `row`",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One case for each question and bot of the suite that the mark names."""
    mark = metafunc.definition.get_closest_marker(MARK)
    if mark is None:
        return

    if ROW not in metafunc.fixturenames:
        raise pytest.Collector.CollectError(
            f"{metafunc.definition.nodeid}: a test with the mark 'proctor' takes the argument '{ROW}': the answer to "
            "one question with its scores."
        )
    rows = wanted_rows(metafunc.definition.path, mark, metafunc.definition.nodeid)
    metafunc.parametrize(ROW, rows, indirect=True, ids=[f"{each.bot}-{each.key}" for each in rows])


def pytest_runtest_setup(item: pytest.Item) -> None:
    """No test with the mark passes without an answer: pytest makes no cases of the methods of ``unittest``."""
    if isinstance(item, pytest.Function) and item.get_closest_marker(MARK) and ROW not in item.fixturenames:
        about = "the mark 'proctor' is for functions and plain classes, not for those of unittest"
        pytest.fail(f"{item.nodeid}: {about}", pytrace=False)


@pytest.fixture
def proctor(request: pytest.FixtureRequest) -> RunsInTests:
    """Holds runs: ``proctor.run("suite.yaml").bot("rag").not_worse_than("baseline.json")``."""
    shown = request.node.stash.setdefault(_SHOWN, [])
    return RunsInTests(_evaluations(request.config), request.path.parent, shown)


@pytest.fixture
def row(request: pytest.FixtureRequest) -> FinishedRow:
    """One question as one bot answered it, in tests with the mark ``proctor``."""
    if not hasattr(request, "param"):
        pytest.fail("The argument 'row' needs the mark: @pytest.mark.proctor('suite.yaml')", pytrace=False)
    found = _evaluations(request.config).row(request.param)
    request.node.stash.setdefault(_SHOWN, []).append(found)
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show in full what a failed test looked at: pytest itself cuts long values short."""
    report = yield
    if report.failed and report.when == "call":
        report.sections += [("Proctor", repr(each)) for each in item.stash.get(_SHOWN, [])]
    return report


def _evaluations(config: pytest.Config) -> SessionRuns:
    """The runs of the session, each held once, when the first test asks for it."""
    if _RUNS not in config.stash:
        config.stash[_RUNS] = SessionRuns(_database(config))
    return config.stash[_RUNS]


def _database(config: pytest.Config) -> Path:
    for given, folder in (
        (config.getoption("--proctor-db"), config.invocation_params.dir),
        (config.getini("proctor_db"), config.rootpath),
    ):
        if given:
            named: Path = folder / str(given)
            named.parent.mkdir(parents=True, exist_ok=True)
            return named
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    if cache is not None:
        return Path(cache.mkdir("proctor")) / "proctor.db"
    import tempfile

    temporary = tempfile.TemporaryDirectory(prefix="proctor-")
    config.add_cleanup(temporary.cleanup)
    return Path(temporary.name) / "proctor.db"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the database, where one was opened."""
    if _RUNS in config.stash:
        config.stash[_RUNS].close()
        del config.stash[_RUNS]
