"""Commands that hold no exam: ``ask``, ``report``, ``metrics`` and ``init``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ... import InputError
from .conventions import Database, Json, interruptible

if TYPE_CHECKING:
    from .report_files import Wanted


def ask(
    suite: Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="The suite, or 'sample'.")],
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The name of one of its bots.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.")],
    as_json: Json = False,
) -> None:
    """Ask one bot one question. Shows the answer with its contexts and timing; nothing is kept."""
    from ..suite.suite_file import load_named
    from .one_question import ask_once

    with interruptible("Stopped."):
        ask_once(load_named(suite), bot, question, os.environ, as_json)


def report(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The run's name or its beginning; left out, the latest. Or, with HEAD, "
                       "the BASE of two sides, as 'proctor compare' takes them."),
    ] = None,
    head: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="The other side: what changed from BASE to HEAD.")
    ] = None,
    database: Database = Path("proctor.db"),
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="The page; '-' for stdout. With nothing named: RUN.html here."),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Write the page, and open it in the browser.")] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Leave nothing out of the page, even if it takes more than 8 MB.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="JUnit XML: a case for each threshold of the suite.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="DIR", help="Tables for a spreadsheet: rows, leaderboard, problems.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Everything, for programs; '-' for stdout.")
    ] = None,
    archive: Annotated[
        Path | None, typer.Option("--zip", metavar="FILE", help="All outputs of each evaluator; equal for equal runs.")
    ] = None,
    github: Annotated[bool, typer.Option("--github", help="Annotations and step summary of GitHub Actions.")] = False,
) -> None:  # fmt: skip
    """Write a run, or what changed between two, to a page or files. Nothing is asked."""
    from ..showing.streams import own_stdout
    from .report_files import Wanted

    wanted = Wanted(html, markdown, json, junit, csv, archive, github, show, whole)
    sides = (run, head) if run is not None and head is not None else None
    with interruptible("Stopped. What is not finished is not there."), own_stdout() as stdout:
        for sentence in _reported(database, sides or run, wanted, stdout):
            typer.echo(sentence, err=True)


def _reported(database: Path, what: tuple[str, str] | str | None, wanted: Wanted, stdout: TextIO) -> Iterator[str]:
    """Write one run, or two sides; the modules of the other are not loaded."""
    if isinstance(what, tuple):
        from .pair_reporting import report_pair

        return report_pair(database, what, wanted, stdout, os.environ)
    from .reporting import report_run

    return report_run(database, what, wanted, stdout, os.environ)


def metrics(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Metrics or evaluators, of which the whole page is wanted."),
    ] = None,
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a README.")] = False,
    evaluators: Annotated[
        bool, typer.Option("--evaluators", help="List the evaluators instead: named groups of metrics.")
    ] = False,
) -> None:
    """List the metrics, or show all that is known of some.

    What they say, need, take, and are not to be trusted for.
    """
    if names:
        from ..showing.metric_page import show_pages

        if as_markdown or evaluators:
            raise InputError("--markdown and --evaluators are for the list of all; leave them out for the page of one.")
        show_pages(names, as_json)
        return
    from ..showing.evaluator_list import show_evaluators
    from ..showing.metric_list import show_metrics

    show = show_evaluators if evaluators else show_metrics
    show(as_json, as_markdown)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet, or is empty.")],
) -> None:
    """Write a sample suite into a folder, to be edited.

    Questions, prompts, documents, and a schema for the editor.
    """
    from .starting import start_suite

    start_suite(folder)
    typer.echo(f"Wrote a suite to {folder}. Edit {folder / 'suite.yaml'}, then: proctor run {folder / 'suite.yaml'}")
