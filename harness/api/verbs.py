"""Verbs: what one does with bots, questions and answers from Python; each that asks a model has an async twin."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ... import InputError
from ...knowledge.questions.question_files import questions_in
from ...knowledge.questions.row_files import rows_of
from ...metrics.declaration import declaration_of, metric
from ...reports.store.database import Store
from ...reports.store.encoding import to_json
from ..cluster.target import clustered
from ..gate.gate import GateOptions, gate_cached
from ..run.recorded_run import recorded_evaluation
from ..run.run import run_evaluation
from ..run.run_config import RunConfig
from ..run.suite_run import suite_evaluation
from ..suite.choices import named_rubrics, rubrics_added
from ..suite.mistakes import PlacedYaml, mistakes
from ..suite.settings import Suite
from ..suite.suite_file import LoadedSuite, load_named
from .asking import Answer, ask_one
from .bots import Files, given_bot, paths
from .results import Comparison, Gate, KnowledgeReport, compare_named
from .run import Database, Run, side_of
from .running import Job, twins

if TYPE_CHECKING:
    from ...metrics.declaration import Function
    from ...reports.compare.comparison import Correction
    from ..perturb import PerturbedRun
    from ..run.engine import Watcher
    from ..run.run import Evaluation, Outcome
    from ..suite.choices import Entry
    from ..suite.mistakes import KeyPath

DATABASE = "proctor.db"
Anywhere = str | os.PathLike[str]
MetricLike = str | Mapping[str, Mapping[str, object]] | Callable[..., object]


def _evaluate(
    questions: object,
    bots: Mapping[str, object] | Sequence[object] | object,
    metrics: Sequence[MetricLike] | None = None,
    *,
    rubrics: Files = (),
    knowledge: Files = (),
    judge: str | Mapping[str, object] | None = None,
    models: Mapping[str, Mapping[str, object]] | None = None,
    name: str = "",
    db: Anywhere = DATABASE,
    limit: int | None = None,
    repeat: int = 1,
    concurrency: int = 16,
    fresh: bool = False,
    latency_run: bool = False,
    thresholds: Mapping[str, float] | None = None,
    primary: str = "",
    local_models: Mapping[str, object] | None = None,
    seed: int = 0,
    simulated_user: str = "",
    progress: bool = True,
) -> Job[Run]:
    """Ask bots some questions and score what they say; what the database has already is not asked again.

    Args:
        questions: a list of dicts (``question``, ``expected_answer``, ``constraints``, ``evidence``, ``tags``, ...) or
            of texts, a path, a DataFrame, or a Hugging Face ``Dataset``.
        bots: by name: functions of the question, plain or async, LangChain Runnables, objects with ``reply``,
            ``proctor.Rag(...)`` and the like, or ``file.py:name``; or one bot, or a list of them.
        metrics: ids of metrics and evaluators, ``{id: {option: value}}``, or functions; left out, those that fit.
        rubrics: Markdown files with criteria in plain words, each graded by the judge as ``rubric.FILE``.
        knowledge: documents for bots that bring none, and in which evidence is looked up.
        judge: who grades: ``openai:NAME``, a name of ``models``, ``embedded`` (left out), or the settings of a suite.
        models: chat models by name, each with ``model``, ``base_url``, ``temperature`` and the like.
        name: what the run is called in reports.
        db: the SQLite file that keeps everything.
        limit: only the first so many questions.
        repeat: how often each is asked.
        concurrency: questions in flight at each bot, and calls to the judge.
        fresh: ask and score everything again, whatever is cached.
        latency_run: one question at a time, bot after bot.
        thresholds: what a value must reach to pass, by metric.
        primary: the metric by which the run is read; left out, the one that says best whether an answer is right.
        local_models: models that run on this machine, by role.
        seed: of everything that is drawn by chance.
        simulated_user: the language model that plays the users of questions with ``simulate``.
        progress: show how far the run is: bars in a terminal, a line in a notebook.

    Returns:
        The run; shown, it is a leaderboard.

    Raises:
        InputError: something can't be used; the sentence says what was given and what was wanted.
        JudgeUnfit: the judge failed the check that was asked of it.
        KeyboardInterrupt: Ctrl-C; what was answered is stored, and the same call goes on from there.

    Example::

        run = proctor.evaluate(
            [{"question": "When do you open?", "expected_answer": "At nine"}],
            {"mine": my_function, "rag": proctor.Rag("docs/")},
            ["exact_match", "faithfulness"],
        )
    """
    asked = questions_in(rows_of(questions, "questions"), limit)
    given = {each: given_bot(each, bot) for each, bot in _named_bots(bots).items()}
    entries, functions = _entries(metrics)
    graded = named_rubrics(paths(rubrics))
    documents = [*paths(knowledge), *(path for own, _ in given.values() for path in own.knowledge)]
    chat = {**(models or {}), **{key: value for _, own in given.values() for key, value in own.items()}}
    values = {
        "name": name or "evaluate",
        "knowledge": tuple(dict.fromkeys(documents)),
        "questions": asked.path,
        "models": chat,
        "bots": {each: own.settings for each, (own, _) in given.items()},
        "metrics": rubrics_added(entries, graded),
        "rubrics": graded,
        "thresholds": thresholds or {},
        "primary": primary,
        "repeat": repeat,
        "concurrency": concurrency,
        "seed": seed,
        "simulated_user": simulated_user,
        **({} if judge is None else {"judge": judge}),
        **({} if local_models is None else {"local_models": local_models}),
    }
    loaded = _suite_of(values)
    own = tuple((each, bot) for each, (bot, _) in given.items())
    config = RunConfig(fresh=fresh, latency_run=latency_run, limit=limit, functions=functions, given=own)
    return Job(
        _work(lambda notify: suite_evaluation(loaded, config, os.environ, notify, asked), db, "evaluate"),
        progress,
    )


evaluate, aevaluate = twins(_evaluate)


def _run(
    suite: Anywhere | None = None,
    *,
    bots: Sequence[str] | str = (),
    metrics: Sequence[MetricLike] | None = None,
    db: Anywhere = DATABASE,
    limit: int | None = None,
    repeat: int | None = None,
    concurrency: int | None = None,
    fresh: bool = False,
    latency_run: bool = False,
    judge: str = "",
    judge_url: str = "",
    local_models: Mapping[str, str] | None = None,
    perturb: bool = True,
    progress: bool = True,
    on: str = "",
    workers: int | None = None,
) -> Job[Run]:
    """Run a suite, as ``proctor run`` does; what the database has already is not asked again.

    Args:
        suite: a suite file or its folder; left out, the sample that ships with us.
        bots: only these bots of it.
        metrics: in place of those of the suite.
        db: the SQLite file that keeps everything.
        limit: only the first so many questions.
        repeat: how often each is asked, in place of the suite's figure.
        concurrency: questions in flight at each bot, and calls to the judge, in place of the suite's figure.
        fresh: ask and score everything again.
        latency_run: one question at a time, bot after bot.
        judge: who grades, in place of the suite's judge.
        judge_url: where that judge is.
        local_models: other models for roles, such as ``{"toxicity": "./folder"}``.
        perturb: with the perturbed questions that the suite wants.
        progress: show how far the run is.
        on: the cluster that does the work: ``ray`` on this machine, or ``ray://HOST:10001``.
        workers: how many programs of the cluster work; left out, one on each of its processors.

    Returns:
        The run; that of the perturbed questions is its ``perturbed``.

    Raises:
        InputError: the suite or something that it names can't be used.
        JudgeUnfit: the judge failed the check that the suite wants.
        KeyboardInterrupt: Ctrl-C; what was answered is stored.

    Example::

        run = proctor.run("suite.yaml", bots=["mine"], limit=20)
    """
    loaded = load_named(None if suite is None else Path(suite))
    entries, functions = _entries(metrics)
    config = RunConfig(
        _several(bots), limit, repeat, concurrency, fresh, latency_run, judge, judge_url, _roles(local_models),
        metrics=entries, functions=functions, on=on, workers=workers,
    )  # fmt: skip

    def again() -> PerturbedRun | None:
        from ..perturb import perturbed_run

        return perturbed_run(loaded, config, os.environ) if perturb and loaded.suite.perturb is not None else None

    def make(notify: Callable[[str], None]) -> Evaluation:
        return clustered(suite_evaluation(loaded, config, os.environ, notify), config)

    return Job(_work(make, db, "run", again), progress)


run, arun = twins(_run)


def _score(
    answers: object,
    metrics: Sequence[MetricLike] | None = None,
    *,
    rubrics: Files = (),
    metric_files: Files = (),
    judge: str = "",
    judge_url: str = "",
    db: Anywhere = DATABASE,
    concurrency: int | None = None,
    fresh: bool = False,
    local_models: Mapping[str, str] | None = None,
    progress: bool = True,
) -> Job[Run]:
    """Score answers that were given elsewhere; no bot is called.

    Args:
        answers: a path, a list of dicts (``question``, ``answer``, ``expected_answer``, ``contexts``, ``bot``,
            ``latency_ms``, ...), a DataFrame, or a Hugging Face ``Dataset``.
        metrics: ids of metrics and evaluators, or functions; left out, those that fit what is recorded.
        rubrics: Markdown files with criteria in plain words, each graded by the judge as ``rubric.FILE``.
        metric_files: Python files with metrics.
        judge: who grades: ``openai:NAME``, ``langchain:file.py:name`` or ``embedded``.
        judge_url: where that judge is.
        db: the SQLite file that keeps everything.
        concurrency: calls to the judge in flight.
        fresh: score everything again.
        local_models: other models for roles.
        progress: show how far it is.

    Raises:
        InputError: the answers, a metric or the judge can't be used.

    Example::

        run = proctor.score("answers.jsonl", metrics=["exact_match", "rouge_l"])
    """
    source = rows_of(answers, "answers")
    entries, functions = _entries(metrics)
    config = RunConfig(
        metrics=entries, judge=judge, judge_url=judge_url, concurrency=concurrency, fresh=fresh,
        local_models=_roles(local_models), metric_files=paths(metric_files), functions=functions,
        rubrics=paths(rubrics),
    )  # fmt: skip
    return Job(_work(lambda notify: recorded_evaluation(source, config, os.environ, notify), db, "score"), progress)


score, ascore = twins(_score)


def _compare(
    baseline: str | Run, candidate: str | Run, *, metrics: Sequence[str] = (), bots: Sequence[str] = (),
    cluster: str = "source",
    correct: Correction = "holm", flips: int = 3, seed: int = 0, preference: bool = False,
    judge: str = "", judge_url: str = "", db: Anywhere = DATABASE,
) -> Job[Comparison]:  # fmt: skip
    """Whether ``candidate`` is better than ``baseline``, question by question; nothing is asked without ``preference``.

    Args:
        baseline: a run, or what ``proctor compare`` takes: ``BOT`` of the latest run, ``RUN``, ``RUN:BOT``, ``latest``,
            ``previous``, ``FILE.db``, or a baseline file.
        candidate: likewise.
        metrics: only these, or families of them.
        bots: of two runs, only these bots.
        cluster: what belongs together: ``source`` (document), ``tag``, ``tag:PREFIX`` or ``none``.
        correct: correction over the metrics: ``holm`` or ``bh``.
        flips: how many rows that lost or gained most are named.
        seed: of the permutations' draws.
        preference: have a judge say whose answers are better, side by side, where it has not said so yet.
        judge: who says so; left out, the judge of the candidate's run.
        judge_url: where that judge is.
        db: where runs are looked up.

    Raises:
        InputError: there is no such side, or nothing can be compared.

    Example::

        print(proctor.compare("mine", "rag", metrics=["exact_match"]))
    """
    named = [side_of(operand) for operand in (baseline, candidate)]

    def work(_: Watcher) -> Comparison:
        return compare_named(
            named[0], named[1], Path(db), metrics, cluster, correct, flips, seed, tuple(bots), preference, judge,
            judge_url,
        )  # fmt: skip

    return Job(work, False)


compare, acompare = twins(_compare)


def _gate(
    subject: Anywhere | Run = "latest",
    baseline: Anywhere | Run = "",
    *,
    bots: Sequence[str] = (),
    margins: Mapping[str, float] | None = None,
    flips: int = 3,
    db: Anywhere = DATABASE,
    limit: int | None = None,
    repeat: int | None = None,
    concurrency: int | None = None,
    fresh: bool = False,
    judge: str = "",
    judge_url: str = "",
    local_models: Mapping[str, str] | None = None,
    early_stop: bool = False,
    progress: bool = True,
) -> Job[Gate]:
    """Whether a change made bots worse; the verdict is true when it did not.

    Args:
        subject: a suite, which is run first, or a run (or its name) that is only looked at.
        baseline: a file of ``Run.baseline``, a run or its name, ``previous``, ``FILE.db``, or another bot; left out,
            what the suite names.
        bots: those that are gated; all that both sides have where none is named.
        margins: by metric how much worse its mean may become; only named ones are gated.
        flips: how many questions that got worse are named.
        db: the SQLite file that keeps everything.
        limit: only the first so many questions.
        repeat: how often each is asked.
        concurrency: questions in flight at each bot.
        fresh: ask and score everything again.
        judge: who grades, in place of the suite's judge.
        judge_url: where that judge is.
        local_models: other models for roles.
        early_stop: ask in random order, and stop when the verdict is certain.
        progress: show how far it is.

    Raises:
        InputError: suite, run, margins or baseline can't be used; then nothing was asked.
        JudgeUnfit: the judge failed the check that the suite wants.

    Example::

        proctor.run("suite.yaml").baseline("baseline.json")
        assert proctor.gate("suite.yaml", "baseline.json").exit_code in (0, 3)
    """
    against = side_of(baseline) if isinstance(baseline, Run) else os.fspath(baseline)
    options = GateOptions(Path(db), against, tuple(bots), dict(margins or {}), flips)
    if isinstance(subject, Run) or not _is_suite(Path(subject)):
        named = side_of(subject) if isinstance(subject, Run) else os.fspath(subject)
        return Job(lambda _: Gate(gate_cached(named, options)), False)
    loaded = load_named(Path(subject))
    config = RunConfig(
        (), limit, repeat, concurrency, fresh, judge=judge, judge_url=judge_url, local_models=_roles(local_models)
    )

    def work(watcher: Watcher) -> Gate:
        from ..gate.gate import gate_suite

        held = gate_suite(loaded, config, options, os.environ, watcher, watcher.message, early_stop)
        return Gate(held.result, _warnings(held.outcome))

    return Job(work, progress)


gate, agate = twins(_gate)


def _knowledge(
    suite: Anywhere | None = None,
    *,
    only: Sequence[str] | str = (),
    answers: bool = True,
    metric: str | None = None,
    grid: Mapping[str, Sequence[object]] | None = None,
    against: Anywhere | None = None,
    most_calls: int | None = None,
    bots: Sequence[str] | str = (),
    limit: int | None = None,
    concurrency: int | None = None,
    judge: str = "",
    judge_url: str = "",
    local_models: Mapping[str, str] | None = None,
    db: Anywhere = DATABASE,
    progress: bool = True,
) -> Job[KnowledgeReport]:
    """Benchmark the documents of a suite: which help, which mislead, what is missing, how to cut and search them.

    Args:
        suite: a suite file or its folder; left out, the sample that ships with us.
        only: only these parts: ``grid``, ``gaps``, ``documents``, ``attribution``, ``document_quality``,
            ``dataset_quality``.
        answers: ask bots; without, only documents and questions are looked at.
        metric: the metric that says whether an answer is right.
        grid: configurations to compare, such as ``{"chunk_size": [300, 600]}``.
        against: other documents, such as last month's.
        most_calls: most answers that are asked for anew to find which documents caused wrong ones.
        bots: only these bots.
        limit: only the first so many questions.
        concurrency: questions in flight at each bot.
        judge: who grades, in place of the suite's judge.
        judge_url: where that judge is.
        local_models: other models for roles.
        db: the SQLite file that keeps everything.
        progress: show how far it is.

    Raises:
        InputError: suite, documents, questions or options can't be used.

    Example::

        report = proctor.knowledge(only=["document_quality"], answers=False)
    """
    from ..analysis.analysis import AnalysisOptions, named_parts

    loaded = load_named(None if suite is None else Path(suite))
    config = RunConfig(
        _several(bots), limit, concurrency=concurrency, judge=judge, judge_url=judge_url,
        local_models=_roles(local_models),
    )  # fmt: skip
    settings = tuple(f"{key}={','.join(map(str, values))}" for key, values in (grid or {}).items())
    other = None if against is None else Path(against)
    options = AnalysisOptions(named_parts(list(_several(only))), answers, config, metric, settings, other, most_calls)

    def work(watcher: Watcher) -> KnowledgeReport:
        from ..analysis.analysis import analyse_suite

        with contextlib.closing(Store.open(Path(db))) as store:
            made = analyse_suite(
                loaded, options, store, os.environ, lambda: contextlib.nullcontext(watcher), watcher.message
            )
        return KnowledgeReport(Path(db).absolute(), made.analysis)

    return Job(work, progress)


knowledge, aknowledge = twins(_knowledge)


def _ask(
    bot: object,
    question: str,
    *,
    suite: Anywhere | None = None,
    knowledge: Files = (),
    models: Mapping[str, Mapping[str, object]] | None = None,
) -> Job[Answer]:
    """Ask one bot one question; nothing is stored.

    Args:
        bot: as for ``evaluate``; or with ``suite``, the name of one of its bots.
        question: what to ask.
        suite: a suite file or its folder, or ``sample``.
        knowledge: documents for a bot that brings none.
        models: chat models by name.

    Raises:
        InputError: the bot can't be used, or gave no answer; the sentence says why.

    Example::

        answer = proctor.ask(proctor.Rag("docs/"), "When do you open?")
        answer = proctor.ask("mine", "When do you open?", suite="suite.yaml")
    """
    if suite is not None:
        if not isinstance(bot, str):
            raise InputError(f"bot: a {type(bot).__name__} was given; with suite, it is the name of one of its bots.")
        loaded, name = load_named(Path(suite)), bot
        return Job(lambda _: ask_one(loaded, name, question, os.environ), False)
    ((name, own),) = _named_bots([bot]).items()
    given, chat = given_bot(name, own)
    values = {
        "name": "ask", "questions": Path("question"), "bots": {name: given.settings},
        "knowledge": tuple(dict.fromkeys((*paths(knowledge), *given.knowledge))), "models": {**(models or {}), **chat},
    }  # fmt: skip
    made = _suite_of(values)
    return Job(lambda _: ask_one(made, name, question, os.environ, {name: given}), False)


ask, aask = twins(_ask)


def open(path: Anywhere = DATABASE) -> Database:
    """Open a database of runs; nothing is asked.

    Raises:
        StoreError: there is no such file, or it is none of ours.

    Example::

        runs = proctor.open("proctor.db").runs()
    """
    with contextlib.closing(Store.open(Path(path), create=False)):
        return Database(Path(path).absolute())


def _work(
    make: Callable[[Callable[[str], None]], Evaluation], db: Anywhere, verb: str,
    again: Callable[[], PerturbedRun | None] = lambda: None,
) -> Callable[[Watcher], Run]:  # fmt: skip
    """What runs an evaluation, and the one of perturbed questions after it.

    The database is opened in the thread that does so.
    """

    def work(watcher: Watcher) -> Run:
        evaluation = _without_command(make(watcher.message), verb)
        perturbed = again()  # what it wants and can't have is told before anything is asked
        with contextlib.closing(Store.open(Path(db))) as store:
            outcome = run_evaluation(evaluation, store, watcher)
            second = None
            if perturbed is not None and not outcome.judge_problem and len(outcome.unable) < len(outcome.summary.bots):
                asked_again = clustered(perturbed.evaluation(os.environ, watcher.message, store), perturbed.options)
                second = run_evaluation(_without_command(asked_again, verb), store, watcher)
        path = Path(db).absolute()
        second_run = None if second is None else Run(path, second.summary.run, _warnings(second))
        return Run(path, outcome.summary.run, _warnings(outcome), second_run)

    return work


def _without_command(evaluation: Evaluation, verb: str) -> Evaluation:
    """The run with the verb in the place of what was typed: that was no command of ours, and may name folders."""
    manifest = {**evaluation.header.manifest, "command": [f"proctor.{verb}"]}
    return replace(evaluation, header=replace(evaluation.header, manifest=manifest))


def _warnings(outcome: Outcome) -> tuple[str, ...]:
    """What went wrong, and what is to be known of it, each once."""
    lines = (
        outcome.judge_problem or outcome.lost_scores,
        *(f"{bot}: {why}" for bot, why in outcome.problems.items()),
        *outcome.warnings,
    )
    return tuple(dict.fromkeys(filter(None, lines)))


def _is_suite(path: Path) -> bool:
    return path.suffix.lower() in (".yaml", ".yml") or path.is_dir() or str(path) == "sample"


def _several(names: Sequence[str] | str) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _named_bots(bots: object) -> dict[str, object]:
    if isinstance(bots, Mapping):
        named = {str(name): bot for name, bot in bots.items()}
    else:
        several = bots if isinstance(bots, (list, tuple)) else [bots]
        named = {}
        for bot in several:
            name = _own_name(bot)
            if name in named:
                raise InputError(f"Two bots are called {name}; give them names: bots={{'one': ..., 'two': ...}}.")
            named[name] = bot
    if not named:
        raise InputError("bots is empty; give one at least, such as bots={'mine': my_function}.")
    for name in named:
        if not name.strip() or "," in name:
            raise InputError(f"bots: {name!r} is no name for a bot: it must not be empty or hold a comma.")
    return named


def _own_name(bot: object) -> str:
    if isinstance(bot, str):
        return bot.rpartition(":")[2]
    named = getattr(bot, "kind", None) or getattr(bot, "name", None) or getattr(bot, "__name__", None)
    return named if isinstance(named, str) and named != "<lambda>" else "bot"


def _entries(metrics: Sequence[Any] | None) -> tuple[Sequence[Entry] | None, tuple[Function, ...]]:
    """Metrics as a suite has them, and the functions among them, which the catalog has to be told of."""
    if metrics is None:
        return None, ()
    if isinstance(metrics, (str, Mapping)) or callable(metrics):
        raise InputError(f"metrics is a {type(metrics).__name__}; put it in a list: metrics=[...].")
    from ...metrics.declaration import MetricDeclaration, name_of

    entries: list[Entry] = []
    functions: list[Function] = []
    for each in metrics:
        if isinstance(each, (str, Mapping)):
            entries.append(each)
            continue
        known = getattr(each, "id", None)
        if isinstance(known, str) and hasattr(each, "score"):  # proctor.metrics.rouge_l
            entries.append(known)
            continue
        if not callable(each):
            raise InputError(f"metrics: got a {type(each).__name__}; wanted a name, {{name: {{...}}}} or a function.")
        function = each if declaration_of(each) else metric(each)
        functions.append(function)
        if isinstance(declaration_of(function), MetricDeclaration):
            entries.append(name_of(function))
    return tuple(entries), tuple(functions)


def _roles(models: Mapping[str, str] | None) -> tuple[str, ...]:
    return tuple(f"{role}={model}" for role, model in (models or {}).items())


@dataclass(frozen=True, slots=True)
class GivenSuite(LoadedSuite):
    """A suite that was put together in Python: its mistakes have keys, and no lines."""

    def mistaken(self, *found: tuple[KeyPath, str]) -> InputError:
        """Mistakes that show only when the suite is put to use, each with its key."""
        return InputError("\n".join(f"{'.'.join(map(str, path))}: {says}" for path, says in found))


def _suite_of(values: Mapping[str, Any]) -> LoadedSuite:
    """The suite of some values. Raises InputError with a line for each mistake."""
    try:
        suite = Suite.model_validate(values)
    except ValidationError as error:
        found = mistakes(error, PlacedYaml(values, MappingProxyType({}), ()), Suite.model_json_schema())
        raise InputError("\n".join(f"{each.path}: {each.says}." for each in found)) from error
    text = to_json(suite.model_dump(mode="json"))
    return GivenSuite(suite, Path(), Path.cwd(), hashlib.sha256(text.encode()).hexdigest(), PlacedYaml({}, {}, ()))
