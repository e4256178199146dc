"""Judge commands: what a person types to find out how far a judge can be trusted."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import Annotated

import typer

from .conventions import DONE, UNABLE, Database, Json, Judge, JudgeUrl, interruptible, judged_by_someone_fit

STOPPED = "Stopped. Nothing was written."

Run = Annotated[
    str | None, typer.Argument(metavar="RUN", help="The run's name or its beginning; left out, the latest.")
]


def label(
    run: Run = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="ID", help="The metric that people are to judge.")
    ] = "",
    number: Annotated[int, typer.Option("--n", min=1, metavar="N", help="How many rows, shared among the bots.")] = 50,
    out: Annotated[Path, typer.Option("--out", metavar="FILE.csv", help="The sheet to fill in.")] = Path("labels.csv"),
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Another number draws other rows.")] = 0,
    bot: Annotated[str, typer.Option("--bot", metavar="NAME", help="Only rows of this bot.")] = "",
    show: Annotated[bool, typer.Option("--show", help="Show the judge's values too, which sways people.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a sheet that is there already.")] = False,
    database: Database = Path("proctor.db"),
) -> None:
    """Draw a random sample of a run's rows for people to judge. It is a CSV file, for a spreadsheet."""
    from ... import InputError
    from ...reports.printable import printable
    from ..trust.labelling import Draw, draw_labels

    if not metric:
        raise InputError("Name the metric that people are to judge with --metric ID, such as --metric faithfulness.")
    with interruptible(STOPPED):
        for sentence in draw_labels(database, run, Draw(metric, number, out, seed, bot, show, force)):
            typer.echo(fill(printable(sentence), 80, break_long_words=False, break_on_hyphens=False))


def calibrate(
    run: Run = None,
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE.csv", help="The filled sheet; left out, the labels that are kept."),
    ] = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="ID", help="The metric, where the file has no such column.")
    ] = "",
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Hold the judge against people's labels. Its means are corrected by them; nothing is asked."""
    from ..showing.trust import show_calibrations
    from ..trust.calibrating import calibrate_run

    with interruptible(STOPPED):
        name, found = calibrate_run(database, run, labels, metric)
        show_calibrations(name, found, as_json)


def judge_check(
    suite: Annotated[
        Path | None, typer.Argument(metavar="[SUITE.yaml]", help="Whose judge; left out, that of the sample suite.")
    ] = None,
    judge: Judge = "",
    judge_url: JudgeUrl = "",
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, metavar="N", help="How often each case is put to the judge.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Cases of every kind, and not only of those that the suite's metrics ask.")
    ] = False,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Put the judge to cases whose verdict is known.

    Good, bad and hostile ones; exit code 1 when it fails.
    """
    import os

    from ..showing.streams import own_stdout
    from ..showing.trust import show_check
    from ..suite.suite_file import load_named
    from .checking import check_suite

    with interruptible(STOPPED), judged_by_someone_fit(), own_stdout() as stdout:
        report = check_suite(load_named(suite), judge, judge_url, repeats, every, database, os.environ)
        show_check(report, as_json, stdout)
    raise typer.Exit(UNABLE if report.missed else DONE)
