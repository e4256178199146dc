"""Robustness command: what becomes of bots when their questions are reworded or asked again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ... import InputError
from .conventions import Database, Json, interruptible

if TYPE_CHECKING:
    from ...reports.robustness.robustness import Robustness
    from ...reports.store import Store

Names = list[str] | None
STDOUT = Path("-")
Run = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="The run's name or its beginning; left out, the latest with rewordings."),
]
Reworded = Annotated[
    str | None,
    typer.Option("--perturbed", metavar="RUN", help="The run of the rewordings; left out, the one that fits."),
]
Bots = Annotated[Names, typer.Option("--bot", metavar="NAME", help="Only this bot. Repeatable.")]
Metrics = Annotated[Names, typer.Option("--metric", "-m", metavar="ID", help="Only this metric, in full. Repeatable.")]
Level = Annotated[
    float,
    typer.Option(
        "--level", min=0, max=1, metavar="X", help="A bot breaks down where it flips so much more than by chance."
    ),
]
Flips = Annotated[int, typer.Option("--flips", min=0, metavar="N", help="How many flips of each bot to list.")]
Markdown = Annotated[
    Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
]


def robustness(
    run: Run = None,
    reworded: Reworded = None,
    database: Database = Path("proctor.db"),
    bot: Bots = None,
    metric: Metrics = None,
    level: Level = 0.1,
    flips: Flips = 5,
    as_json: Json = False,
    markdown: Markdown = None,
) -> None:
    """Show how reworded or repeated questions change answers. Nothing is asked."""
    from ..showing.streams import own_stdout

    _check(as_json, markdown, database)
    with interruptible("Stopped. What is not finished is not there."), own_stdout() as stdout:
        found = _work_out(database, run, reworded, bot, metric, level, flips)
        if markdown is not None:
            _write_markdown(found, markdown, flips, stdout)
        if as_json:
            from ...reports.robustness.robustness_object import robustness_object
            from ..showing.streams import write_json

            write_json(robustness_object(found), stdout)
        elif markdown != STDOUT:
            from ..showing.robustness_table import show_robustness

            show_robustness(found, stdout, flips, details=bool(metric))


def _check(as_json: bool, markdown: Path | None, database: Path) -> None:
    """Refuse what can't be written before a long run is read."""
    if as_json and markdown == STDOUT:
        raise InputError("--json and --markdown can't both be written to stdout.")
    if markdown is not None and markdown != STDOUT:
        from ...reports.whole_files import check_file

        check_file(markdown, "--markdown", {database.resolve(): "--db"})


def _write_markdown(found: Robustness, path: Path, flips: int, stdout: TextIO) -> None:
    from ...reports.robustness.robustness_markdown import robustness_markdown
    from ...reports.whole_files import whole_file

    page = robustness_markdown(found, flips).encode()
    if path == STDOUT:
        stdout.flush()
        stdout.buffer.write(page)
        stdout.buffer.flush()
        return
    with whole_file(path) as file:
        file.write(page)
    typer.echo(f"Wrote {path}: a page for a pull request.", err=True)


def _work_out(
    database: Path, run: str | None, reworded: str | None, bots: Names, metrics: Names, level: float, flips: int
) -> Robustness:
    import contextlib

    from ...reports.comparing.run_tables import run_tables
    from ...reports.robustness.robustness import robustness as work_out
    from ...reports.store import Store

    with contextlib.closing(Store.open(database, create=False)) as store:
        store.query("BEGIN")  # one moment for both runs, even while one goes on
        base, after = _runs(store, run, reworded)
        tables = run_tables(store, base)
        other = tables if after in (None, base) else run_tables(store, after)
        if after is None and all(table.repeats < 2 for table in tables.tables.values()):
            raise InputError(
                f"{database}: no run holds rewordings of the questions of run {tables.run}, which asks each of them"
                " once, so nothing tells how robust its bots are. Make rewordings with 'proctor perturb' or with"
                " 'perturb:' in the suite, or ask again with 'proctor run --repeat 3'."
            )
        return work_out(tables, other, bots=bots, metrics=metrics, level=level, most_flips=flips)


def _runs(store: Store, run: str | None, reworded: str | None) -> tuple[int, int | None]:
    """The run of the questions and that of their rewordings, if there is one."""
    from ...reports.robustness.reworded_runs import holds_rewordings, latest_reworded, reworded_run, source_run
    from ...reports.summary import find_run

    if reworded is not None:
        after = find_run(store, reworded)[0]
        if not holds_rewordings(store, after):
            raise InputError(f"Run {find_run(store, reworded)[1]} of {store.path} holds no rewordings.")
        base = source_run(store, after) if run is None else find_run(store, run)[0]
    elif run is None:
        latest = latest_reworded(store)
        if latest is None:
            return find_run(store)[0], None
        after, base = latest, source_run(store, latest)
    else:
        named = find_run(store, run)[0]
        if not holds_rewordings(store, named):
            return named, reworded_run(store, named)
        after, base = named, source_run(store, named)
    if base is None:
        name = store.query("SELECT name FROM runs WHERE id = ?", [after])[0][0]
        raise InputError(
            f"{store.path} holds the rewordings of run {name}, but no run of the same suite with the questions that"
            " they reword. Run the suite itself, or name its run: proctor robustness RUN --perturbed RUN."
        )
    return base, after
