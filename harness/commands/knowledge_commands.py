"""Knowledge command: what documents do for answers, what is missing, and how they should be cut and searched."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    interruptible,
    judged_by_someone_fit,
    say,
)

if TYPE_CHECKING:
    from ..surveying.survey_options import SurveyOptions


def knowledge(
    suite: Annotated[
        Path | None, typer.Argument(metavar="SUITE.yaml", help="The suite; left out, the sample of the package.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="PART", help="Only this part: grid, gaps, documents, blame, inside, audit. Repeatable."
        ),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers/--no-answers", help="Ask bots, or only look at documents and questions.")
    ] = True,
    metric: Annotated[
        str | None, typer.Option("--metric", "-m", metavar="ID", help="The metric that says if an answer is right.")
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="KEY=V,V", help="Settings to compare, such as chunk_size=300,600. Repeatable."),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="FOLDER", help="Other documents, such as last month's.")
    ] = None,
    most_calls: Annotated[
        int | None,
        typer.Option("--most-calls", min=0, metavar="N", help="Most answers asked for anew to find who is to blame."),
    ] = None,
    bots: Annotated[str, typer.Option(metavar="NAME,NAME", help="Only these bots.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    concurrency: Annotated[int | None, typer.Option(min=1, metavar="N", help="Questions in flight at a bot.")] = None,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    local_model: LocalModel = None,
    plan: Plan = False,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Benchmark the documents of a suite: which carry answers, which mislead, what is missing, how to search them."""
    from ..exams.suite_exam import RunOptions
    from ..surveying.survey_options import SurveyOptions, named_parts

    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    run = RunOptions(
        names, limit, concurrency=concurrency, judge=judge, judge_url=judge_url,
        local_models=tuple(local_model or ()), only_planned=plan,
    )  # fmt: skip
    options = SurveyOptions(named_parts(only or []), answers, run, metric, tuple(grid or ()), against, most_calls)
    if against is not None and not answers:
        raise InputError("--against compares answers; leave out --no-answers.")
    if plan:
        _show_plan(suite, options, database, as_json)
    else:
        _survey(suite, options, database, as_json)


def _survey(suite: Path | None, options: SurveyOptions, database: Path, as_json: bool) -> None:
    """Make a survey and show it."""
    from ...reports.store import Store
    from ...reports.surveys.kept_surveys import survey_json
    from ..showing.outcome import show_warnings, watching
    from ..showing.streams import own_stdout
    from ..showing.survey_table import show_survey
    from ..suite.suite_file import load_named
    from ..surveying.survey_suite import survey_suite

    with interruptible(STOPPED), judged_by_someone_fit(), own_stdout() as stdout:
        loaded = load_named(suite)
        with contextlib.closing(Store.open(database)) as store:
            made = survey_suite(loaded, options, store, os.environ, watching, say)
        if made.outcome is not None:
            show_warnings(made.outcome)
        if as_json:
            stdout.write(f"{survey_json(made.survey).decode()}\n")
        else:
            page = "; 'proctor report --open' shows it on the page of its run" if made.survey.run else ""
            show_survey(made.survey, stdout, f"Kept in {database} as survey {made.survey.survey}{page}.")
    raise typer.Exit(UNABLE if made.outcome is not None and made.outcome.unable else DONE)


def _show_plan(suite: Path | None, options: SurveyOptions, database: Path, as_json: bool) -> None:
    """Say what a survey would ask; nothing is asked, loaded or kept."""
    from ..showing.streams import own_stdout
    from ..suite.suite_file import load_named
    from ..surveying.survey_plan import survey_plan

    with interruptible("Stopped."), own_stdout() as stdout:
        made = survey_plan(load_named(suite), options, database, os.environ)
        from ..showing.forecast import forecast_object, show_forecast
        from ..showing.streams import write_json

        if as_json:
            write_json({**(forecast_object(made.run) if made.run else {}), "survey": made.most}, stdout)
            return
        if made.run is not None:
            show_forecast(made.run, stdout, as_json)
        for sentence in made.sentences:
            stdout.write(f"{sentence}\n")
