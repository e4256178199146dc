"""Commands that hold an exam: ``run`` and ``score``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ... import InputError
from .conventions import (
    DONE,
    STOPPED,
    UNABLE,
    Database,
    Fresh,
    Json,
    Judge,
    JudgeUrl,
    LocalModel,
    Plan,
    Rows,
    complain,
    interruptible,
    judged_by_someone_fit,
    say,
)

if TYPE_CHECKING:
    from ..deciding.perturbed_run import PerturbedRun
    from ..exams.exam import Exam
    from ..exams.run_config import RunConfig
    from ..suite.suite_file import LoadedSuite

    Again = Callable[[], PerturbedRun | None]
    Told = Callable[[str], None]
    Maker = Callable[[Told], Exam]


def run(
    suite: Annotated[
        Path | None, typer.Argument(metavar="[SUITE.yaml]", help="The suite; left out, the sample that ships with us.")
    ] = None,
    database: Database = Path("proctor.db"),
    bots: Annotated[str, typer.Option(metavar="A,B", help="Only these bots of the suite.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    repeat: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask each question N times.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Questions in flight at each bot, and calls to the judge.")
    ] = None,
    fresh: Fresh = False,
    latency_run: Annotated[
        bool,
        typer.Option(
            "--latency-run",
            help="One question at a time, bot after bot: the cleanest latency. Answers of other runs do not count.",
        ),
    ] = False,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    plan: Plan = False,
    perturb: Annotated[
        bool, typer.Option("--perturb/--no-perturb", help="With the reworded questions that the suite wants.")
    ] = True,
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Ask the bots of a suite, and score what they say. Shows the leaderboard; what is kept is not asked again."""
    from ..exams.run_config import RunConfig
    from ..exams.suite_exam import suite_exam
    from ..suite.suite_file import load_named

    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    options = RunConfig(
        names, limit, repeat, concurrency, fresh, latency_run, judge, judge_url, tuple(local_model or ()), plan
    )

    loaded = cache(lambda: load_named(suite))

    def make(told: Told) -> Exam:
        return suite_exam(loaded(), options, os.environ, told)

    def again() -> PerturbedRun | None:
        return _reworded(loaded(), options) if perturb else None

    if plan:
        _show_plan(make, database, as_json, again)
    else:
        _hold(make, database, rows, as_json, suite, again)


def score(
    recorded: Annotated[Path, typer.Argument(metavar="RECORDED.jsonl", help="Answers that were given elsewhere.")],
    metrics: Annotated[
        str, typer.Option(metavar="ID,ID", help="Metrics or evaluators; left out, those that fit what is recorded.")
    ] = "",
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC.KEY=VALUE",
            help="An option of a metric or evaluator, such as answer_similarity.method=cross_encoder. Repeatable.",
        ),
    ] = None,
    metric_file: Annotated[
        list[Path] | None,
        typer.Option("--metric-file", metavar="FILE.py", help="Metrics of your own, named like others. Repeatable."),
    ] = None,
    primary: Annotated[
        str, typer.Option(metavar="ID", help="The metric by which the run is read; left out, one is chosen.")
    ] = "",
    database: Database = Path("proctor.db"),
    concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Calls to the judge in flight.")] = None,
    fresh: Fresh = False,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    plan: Plan = False,
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Score recorded answers; no bot is called."""
    from ..exams.recorded_exam import recorded_exam
    from ..exams.run_config import RunConfig

    ids = [name.strip() for name in metrics.split(",") if name.strip()] or None
    options = RunConfig(
        metrics=ids, judge=judge, judge_url=judge_url, concurrency=concurrency, fresh=fresh, primary=primary,
        local_models=tuple(local_model or ()), metric_files=tuple(metric_file or ()), only_planned=plan,
        options=tuple(option or ()),
    )  # fmt: skip

    def make(told: Told) -> Exam:
        return recorded_exam(recorded, options, os.environ, told)

    if plan:
        _show_plan(make, database, as_json)
    else:
        _hold(make, database, rows, as_json, None)


def _reworded(loaded: LoadedSuite, options: RunConfig) -> PerturbedRun | None:
    """The run of reworded questions that a suite wants; None where it wants none."""
    if loaded.suite.perturb is None:
        return None
    from ..deciding.perturbed_run import perturbed_run

    return perturbed_run(loaded, options, os.environ)


def _nothing_again() -> None:
    """Answers on file can't be given to other questions."""


def _hold(
    make: Maker, database: Path, rows: Path | None, as_json: bool, suite: Path | None, again: Again = _nothing_again
) -> None:
    """Hold an exam and show what came of it, and the one of reworded questions after it."""
    from ...reports.models_in_use import named
    from ...reports.row_lines import write_row_lines
    from ...reports.store import Store
    from ...reports.whole_files import check_file
    from ..exams.exam import hold
    from ..showing.outcome import show_json, show_outcome, show_warnings, watching
    from ..showing.progress import Silent
    from ..showing.streams import own_stdout
    from .perturbing import again_object, hold_again, show_again

    if rows == Path("-"):
        raise InputError("--rows wants the name of a file: stdout holds the leaderboard, or the object of --json.")
    if rows:
        check_file(rows, "--rows", {database.resolve(): "--db"})
    with interruptible(STOPPED), judged_by_someone_fit(), own_stdout() as stdout, contextlib.ExitStack() as opened:
        with watching() as watcher:
            exam = make(say if isinstance(watcher, Silent) else watcher.said)
            reworded = again()  # what it wants and can't have is told before anything is asked
            store = opened.enter_context(contextlib.closing(Store.open(database)))
            outcome = hold(exam, store, watcher)
        if rows:
            write_row_lines(store, outcome.summary.run, rows)
        show_warnings(outcome)
        if outcome.judge_problem:
            complain(outcome.judge_problem)
        if outcome.unmeasured:
            complain(f"No answer has a value of {named(outcome.unmeasured)}: the problems of the run say why.")
        if not as_json:
            show_outcome(outcome, suite, rows, stdout)
            stdout.flush()  # what is known stays on the screen, whatever becomes of the second exam
        second, unwritten = hold_again(reworded, outcome, store, os.environ, say)
        if second is not None:
            show_warnings(second)
        if as_json:
            show_json(outcome, stdout, again_object(outcome, second, store))
        elif second is not None:
            show_again(outcome, second, store, stdout)
    lacking = outcome.unable or outcome.judge_problem or outcome.unmeasured
    lacking_again = unwritten or (second is not None and (second.unable or second.judge_problem))
    raise typer.Exit(UNABLE if lacking or lacking_again else DONE)


def _show_plan(make: Maker, database: Path, as_json: bool, again: Again = _nothing_again) -> None:
    """Say what an exam would ask, and the one of reworded questions after it; nothing is asked, loaded or kept."""
    from ...reports.leaderboard import count
    from ..forecast.forecast import forecast
    from ..showing.forecast import forecast_object, show_forecast
    from ..showing.streams import own_stdout, write_json

    with interruptible("Stopped."), own_stdout() as stdout:
        made = forecast(make(_silent), database)
        if (run := again()) is None:
            show_forecast(made, stdout, as_json)
            return
        second = forecast(run.exam(os.environ, _silent), database)
        if as_json:
            more = {**forecast_object(second), "questions_to_write": run.to_write}
            write_json({**forecast_object(made), "perturbed": more}, stdout)
            return
        show_forecast(made, stdout, as_json)
        stdout.write("\n")
        show_forecast(second, stdout, as_json)
        if run.to_write:
            stdout.write(f"{count(run.to_write, 'request')} to the judge will write questions, unless they are kept.\n")


def _silent(sentence: str) -> None:
    """Nobody watches."""
