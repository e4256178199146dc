"""Command line: what a person types, and the exit code that a build server reads."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .. import InputError, __version__

if TYPE_CHECKING:
    from .exam import Exam

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Put chat bots through the same exam: ask, time, score, keep, compare.",
)

DONE, UNABLE, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
STOPPED = "Stopped. All that was answered is kept; the same command goes on from there."

Database = Annotated[Path, typer.Option("--db", metavar="FILE", help="The SQLite file that keeps everything.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]
Rows = Annotated[
    Path | None, typer.Option("--rows", metavar="FILE", help="Also write a JSON line for each row and metric.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ask everything again, whatever is kept.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"proctor {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Only the options that stand before a command."""


@app.command()
def run(
    suite: Annotated[
        Path | None, typer.Argument(metavar="[SUITE.yaml]", help="The suite; left out, the sample that ships with us.")
    ] = None,
    database: Database = Path("proctor.db"),
    bots: Annotated[str, typer.Option(metavar="A,B", help="Only these bots of the suite.")] = "",
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N questions.")] = None,
    repeat: Annotated[int | None, typer.Option(min=1, metavar="N", help="Ask each question N times.")] = None,
    concurrency: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Questions in flight at each bot.")
    ] = None,
    fresh: Fresh = False,
    latency_run: Annotated[
        bool,
        typer.Option(
            "--latency-run",
            help="One question at a time, bot after bot: the cleanest latency. Answers of other runs do not count.",
        ),
    ] = False,
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Ask the bots of a suite, score the answers, and show the leaderboard. What is kept is not asked again."""
    from .suite_exam import RunOptions, suite_exam
    from .suite_file import load_suite, sample_suite

    names = tuple(name.strip() for name in bots.split(",") if name.strip())
    options = RunOptions(names, limit, repeat, concurrency, fresh, latency_run)
    path = suite or sample_suite()
    _hold(lambda: suite_exam(load_suite(path), options, os.environ), database, rows, as_json, suite)


@app.command()
def score(
    recorded: Annotated[Path, typer.Argument(metavar="RECORDED.jsonl", help="Answers that were given elsewhere.")],
    metrics: Annotated[
        str, typer.Option(metavar="ID,ID", help="Metrics or evaluators; left out, those that fit what is recorded.")
    ] = "",
    database: Database = Path("proctor.db"),
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Score recorded answers; no bot is called."""
    from .recorded_exam import recorded_exam

    ids = [name.strip() for name in metrics.split(",") if name.strip()] or None
    _hold(lambda: recorded_exam(recorded, ids, os.environ), database, rows, as_json, None)


@app.command()
def ask(
    suite: Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="The suite, or 'sample'.")],
    bot: Annotated[str, typer.Argument(metavar="BOT", help="The name of one of its bots.")],
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What to ask.")],
    as_json: Json = False,
) -> None:
    """Ask one bot one question, and show the answer with its contexts and timing. Nothing is kept."""
    from .one_question import ask_once
    from .suite_file import load_suite, sample_suite

    path = sample_suite() if str(suite) == "sample" and not suite.exists() else suite
    with _interruptible("Stopped."):
        ask_once(load_suite(path), bot, question, os.environ, as_json)


@app.command()
def report(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The run's name or its beginning; left out, the latest.")
    ] = None,
    database: Database = Path("proctor.db"),
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="DIR", help="Tables for a spreadsheet: rows, leaderboard, problems.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Everything, for programs; '-' for stdout.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
    ] = None,
    archive: Annotated[
        Path | None, typer.Option("--zip", metavar="FILE", help="All outputs of each evaluator; equal for equal runs.")
    ] = None,
) -> None:
    """Write a run to files: leaderboards, problems, insights and rows. Nothing is asked."""
    from .reporting import Wanted, report_run
    from .streams import own_stdout

    wanted = Wanted(csv, json, markdown, archive)
    with _interruptible("Stopped. What is not finished is not there."), own_stdout() as stdout:
        for sentence in report_run(database, run, wanted, stdout):
            typer.echo(sentence, err=True)


@app.command()
def metrics(
    as_json: Json = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a table for a README.")] = False,
    evaluators: Annotated[
        bool, typer.Option("--evaluators", help="List the evaluators instead: named groups of metrics.")
    ] = False,
) -> None:
    """List every metric: what it says, what it needs, its range, direction, threshold and source."""
    from .evaluator_list import show_evaluators
    from .metric_list import show_metrics

    show = show_evaluators if evaluators else show_metrics
    show(as_json, as_markdown)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet, or is empty.")],
) -> None:
    """Write a suite with questions, prompts and documents to edit, and a schema for the editor."""
    from .starting import start_suite

    start_suite(folder)
    typer.echo(f"Wrote a suite to {folder}. Edit {folder / 'suite.yaml'}, then: proctor run {folder / 'suite.yaml'}")


def _hold(make: Callable[[], Exam], database: Path, rows: Path | None, as_json: bool, suite: Path | None) -> None:
    """Hold an exam and show what came of it."""
    from ..reports.row_lines import write_row_lines
    from ..reports.store import Store
    from ..reports.whole_files import check_file
    from .exam import hold
    from .showing import show_json, show_outcome, show_warnings, watching
    from .streams import own_stdout

    if rows == Path("-"):
        raise InputError("--rows wants the name of a file: stdout holds the leaderboard, or the object of --json.")
    if rows:
        check_file(rows, "--rows", {database.resolve(): "--db"})
    with _interruptible(STOPPED), own_stdout() as stdout:
        exam = make()
        with contextlib.closing(Store.open(database)) as store:
            with watching() as watcher:
                outcome = hold(exam, store, watcher)
            if rows:
                write_row_lines(store, outcome.summary.run, rows)
            show_warnings(outcome)
            if as_json:
                show_json(outcome, stdout)
            else:
                show_outcome(outcome, suite, rows, stdout)
    raise typer.Exit(UNABLE if outcome.unable else DONE)


@contextlib.contextmanager
def _interruptible(sentence: str) -> Iterator[None]:
    """End with a sentence and exit code 130 on Ctrl-C, and on SIGTERM as well."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        yield
    except KeyboardInterrupt:
        _complain(sentence)
        raise typer.Exit(INTERRUPTED) from None


def main() -> None:
    """The entry point; a user's mistake is a sentence on stderr and exit code 2."""
    from .streams import forgive

    forgive()
    try:
        app()
    except InputError as error:
        _complain(str(error))
        sys.exit(WRONG_INPUT)
    except OSError as error:  # stdout on a full disk, a folder that went away
        _complain(f"{error.filename or 'The output'}: {error.strerror or error}.")
        sys.exit(WRONG_INPUT)


def _complain(sentence: str) -> None:
    from ..reports.leaderboard import printable_lines

    typer.echo(f"proctor: {printable_lines(sentence)}", err=True)
