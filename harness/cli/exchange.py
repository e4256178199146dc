"""``import`` and ``export``: files of other tools as suites and runs, and runs as files of other tools."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast, get_args

import typer

from ... import InputError
from ...metrics.score import Better
from ...reports.leaderboard import count
from ...reports.text import printable
from .console import write_json
from .conventions import Database, Json, complain, interruptible

if TYPE_CHECKING:
    from ..exchange import Exported, Imported
    from ..run.run_config import Told

_STOPPED: Final = "Stopped. The same command imports the rest."
_DATABASE: Final = Path("proctor.db")

BetterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--better",
        metavar="METRIC=higher|lower|neither",
        help="Which values of an imported score are better, where nobody says so. Repeatable.",
    ),
]
RangeOption = Annotated[
    list[str] | None,
    typer.Option("--range", metavar="METRIC=0:1", help="The range of an imported score. Repeatable."),
]
VersionOption = Annotated[
    str, typer.Option("--tool-version", metavar="V", help="Version of the tool that gave the scores.")
]


def read_told(better: Sequence[str], ranges: Sequence[str], version: str) -> Told:
    """What options say of imported scores.

    Raises:
        InputError: one can't be read.
    """
    from ..run.run_config import Told

    directions: dict[str, Better] = {}
    for given in better:
        name, equals, word = given.rpartition("=")
        if not equals or word not in get_args(Better):
            raise InputError(f"--better is {given!r}; wanted METRIC=higher, METRIC=lower or METRIC=neither.")
        directions[name.strip()] = cast("Better", word)
    bounds: dict[str, tuple[float | None, float | None]] = {}
    for given in ranges:
        name, equals, span = given.rpartition("=")
        low, colon, high = span.partition(":")
        try:
            bounds[name.strip()] = (float(low) if low else None, float(high) if high else None)
        except ValueError:
            equals = ""
        if not equals or not colon:
            raise InputError(f"--range is {given!r}; wanted METRIC=LOW:HIGH, such as ragas.rubric=1:5.")
    return Told(directions, bounds, version)


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file or folder of another tool.")],
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Make a suite of it in this folder.")
    ] = None,
    database: Annotated[
        Path | None,
        typer.Option("--db", metavar="FILE", help="Put answers and scores here; proctor.db where --into is not given."),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="The format; by default it is found by looking.")
    ] = "",
    name: Annotated[str, typer.Option("--name", metavar="NAME", help="What the run is called.")] = "",
    bot: Annotated[str, typer.Option("--bot", metavar="NAME", help="Who gave the answers, if nothing says so.")] = "",
    better: BetterOption = None,
    ranges: RangeOption = None,
    tool_version: VersionOption = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a suite that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Import question sets, answers and scores of other tools.

    Scores become metrics of their own, such as ragas.faithfulness.
    """
    from ..exchange import ImportOptions, import_file

    told = read_told(better or (), ranges or (), tool_version)
    target = database or (_DATABASE if into is None else None)
    with interruptible(_STOPPED):
        made = import_file(file, into, target, ImportOptions(format_, name, bot, told, force))
    if as_json:
        write_json({**asdict(made), "path": str(made.path)}, sys.stdout)
        return
    for warning in made.warnings:
        complain(warning)
    for line in _imported_lines(made, into, target):
        typer.echo(printable(line))


def _imported_lines(made: Imported, into: Path | None, database: Path | None) -> Iterator[str]:
    version = f" {made.version}" if made.version else ""
    yield f"{made.path} is {made.title}{version} ({made.format}): {made.why}."
    if made.questions is not None:
        yield f"{count(made.questions, 'question')}."
    if made.answers:
        yield f"{count(sum(made.answers.values()), 'answer')} of {', '.join(made.answers)}."
    if made.scores:
        yield f"{count(len(made.scores), 'score')} of its own: {', '.join(made.scores)}."
    yield from made.lost
    if not made.lost:
        yield "Everything was carried over."
    if made.written:
        yield f"Wrote {into}: {', '.join(made.written)}."
    if made.run:
        yield f"Run {made.run} in {database}."
    for step in made.next_steps:
        yield f"  {step}"


def export(
    subject: Annotated[str, typer.Argument(metavar="RUN", help="A run, its beginning, latest, or a question file.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; for beir a folder.")],
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="The format.")],
    bot: Annotated[
        list[str] | None, typer.Option("--bot", metavar="NAME", help="Only answers of this bot. Repeatable.")
    ] = None,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Export a run or a question set for other tools."""
    from ..exchange import export_rows

    with interruptible("Stopped. Nothing was written."):
        made = export_rows(subject, to, out, database, tuple(bot or ()))
    if as_json:
        write_json({**asdict(made), "path": str(made.path)}, sys.stdout)
        return
    for line in _exported_lines(made):
        typer.echo(printable(line))


def _exported_lines(made: Exported) -> Iterator[str]:
    yield f"Wrote {made.path}: {count(made.rows, 'row')} as {made.title}."
    yield from made.lost
    if not made.lost:
        yield "Everything was carried over."
