"""Knowledge command: what documents do for answers, what is missing, and how they should be cut and searched."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ... import InputError
from .conventions import (
    DONE,
    STOPPED,
    UNABLE,
    Database,
    Json,
    Judge,
    JudgeUrl,
    LocalModel,
    Plan,
    complain,
    interruptible,
    judged_by_someone_fit,
    say,
)

if TYPE_CHECKING:
    from ...reports.surveys.survey import Survey
    from ..surveying.survey_options import SurveyOptions


Suite = Annotated[
    Path | None, typer.Argument(metavar="SUITE.yaml", help="The suite; left out, the sample of the package.")
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="PART", help="Only this part: grid, gaps, documents, blame, inside, audit. Repeatable."
    ),
]
Asks = Annotated[
    bool, typer.Option("--answers/--no-answers", help="Ask bots, or only look at documents and questions.")
]
Metric = Annotated[
    str | None, typer.Option("--metric", "-m", metavar="ID", help="The metric that says if an answer is right.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--grid", metavar="KEY=V,V", help="Settings to compare, such as chunk_size=300,600. Repeatable."),
]
Against = Annotated[
    Path | None, typer.Option("--against", metavar="FOLDER", help="Other documents, such as last month's.")
]
MostCalls = Annotated[
    int | None,
    typer.Option("--most-calls", min=0, metavar="N", help="Most answers asked for anew to find who is to blame."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the survey as a page as well.")]
Show = Annotated[
    str | None,
    typer.Option("--show", metavar="SURVEY", help="Show a kept survey, by name or 'latest'; nothing is looked at."),
]
Concurrency = Annotated[int | None, typer.Option(min=1, metavar="N", help="Questions in flight at a bot.")]


def knowledge(
    suite: Suite = None,
    only: Only = None,
    answers: Asks = True,
    metric: Metric = None,
    grid: Settings = None,
    against: Against = None,
    most_calls: MostCalls = None,
    bots: Annotated[str, typer.Option(metavar="NAME,NAME", help="Only these bots.")] = "",
    limit: Limit = None,
    concurrency: Concurrency = None,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    plan: Plan = False,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
    html: Html = None,
    show: Show = None,
) -> None:
    """Benchmark documents: which help, which mislead, what lacks.

    And how to cut and search them. Everything is kept in the database and shown on the page of the run.
    """
    from ..exams.run_config import RunConfig
    from ..surveying.survey_options import SurveyOptions, named_parts

    if show is not None:
        _show_kept(show, database, as_json, html)
        return
    run = RunConfig(
        tuple(name.strip() for name in bots.split(",") if name.strip()), limit, concurrency=concurrency, judge=judge,
        judge_url=judge_url, local_models=tuple(local_model or ()), only_planned=plan,
    )  # fmt: skip
    options = SurveyOptions(named_parts(only or []), answers, run, metric, tuple(grid or ()), against, most_calls)
    if plan:
        _show_plan(suite, options, database, as_json)
    else:
        _survey(suite, options, database, as_json, html)


def _survey(suite: Path | None, options: SurveyOptions, database: Path, as_json: bool, html: Path | None) -> None:
    """Make a survey and show it."""
    from ...reports.store import Store
    from ..showing.outcome import watching
    from ..showing.streams import own_stdout
    from ..suite.suite_file import load_named
    from ..surveying.survey_suite import survey_suite

    _check_page(html, database)
    with interruptible(STOPPED), judged_by_someone_fit(), own_stdout() as stdout:
        loaded = load_named(suite)
        with contextlib.closing(Store.open(database)) as store:
            made = survey_suite(loaded, options, store, os.environ, watching, say)
        _put_out(made.survey, database, as_json, html, stdout)
    raise typer.Exit(UNABLE if made.is_lacking else DONE)


def _show_kept(name: str, database: Path, as_json: bool, html: Path | None) -> None:
    """Show a survey that was made before."""
    from ...reports.run import LATEST
    from ...reports.store import Store
    from ...reports.surveys.kept_surveys import find_survey
    from ..showing.streams import own_stdout

    _check_page(html, database)
    with interruptible("Stopped."), own_stdout() as stdout:
        with contextlib.closing(Store.open(database, create=False)) as store:
            survey = find_survey(store, None if name == LATEST else name)
        if survey is None:
            raise InputError(f"{database} holds no survey yet. 'proctor knowledge SUITE.yaml' makes one.")
        _put_out(survey, database, as_json, html, stdout)


def _put_out(survey: Survey, database: Path, as_json: bool, html: Path | None, stdout: TextIO) -> None:
    from ...reports.surveys.kept_surveys import survey_json
    from ..showing.streams import write_bytes
    from ..showing.survey_table import show_survey

    if as_json:
        for warning in survey.warnings:
            complain(warning)
        write_bytes(survey_json(survey) + b"\n", stdout)
    else:
        shows = "'proctor report --open' shows it on the page of its run" if survey.run else ""
        page = f"; {shows or '--html FILE writes it as a page'}" if html is None else ""
        show_survey(survey, stdout, f"Kept in {database} as survey {survey.survey}{page}.")
    if html is not None:
        _write_page(survey, database, html)


def _check_page(path: Path | None, database: Path) -> None:
    """See that the page can be written, before anything is asked."""
    from .report_files import STDOUT, Wanted

    if path == STDOUT:
        raise InputError("--html takes the name of a file: '-' would mix the page with what is printed.")
    Wanted(html=path).check({database.resolve(): "--db"})


def _write_page(survey: Survey, database: Path, path: Path) -> None:
    """Write the page of the survey's run, or one of the survey alone where it looked at no answers."""
    from ...reports.pages.run_page import run_file
    from ...reports.pages.survey_page import survey_file
    from ...reports.report import make_report
    from ...reports.store import Store
    from ...reports.summary import find_run
    from ...reports.whole_files import whole_file

    with contextlib.closing(Store.open(database, create=False)) as store, whole_file(path) as file:
        if survey.run:
            file.writelines(run_file(make_report(store, find_run(store, survey.run)[0])))
        else:
            file.writelines(survey_file(survey))
    say(f"Wrote {path}: open it in any browser.")


def _show_plan(suite: Path | None, options: SurveyOptions, database: Path, as_json: bool) -> None:
    """Say what a survey would ask; nothing is asked, loaded or kept."""
    from ..showing.forecast import forecast_object, show_forecast
    from ..showing.streams import own_stdout, write_json
    from ..suite.suite_file import load_named
    from ..surveying.survey_plan import survey_plan

    with interruptible("Stopped."), own_stdout() as stdout:
        made = survey_plan(load_named(suite), options, database, os.environ)
        if as_json:
            write_json({**(forecast_object(made.run) if made.run else {}), "survey": made.most}, stdout)
            return
        if made.run is not None:
            show_forecast(made.run, stdout, as_json)
        for sentence in made.sentences:
            stdout.write(f"{sentence}\n")
