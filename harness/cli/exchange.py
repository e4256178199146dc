"""``import`` and ``export``: files of other tools as suites and runs, and runs as files of other tools."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast, get_args

import typer

from ... import InputError
from ...metrics import Better
from ...reports import check_no_parts, count, one_run, printable
from ..run import DATABASE, ScoreMetadata
from .conventions import BetterOption, Database, Json, RangeOption, VersionOption, complain, interruptible, write_json

if TYPE_CHECKING:
    from ...reports.export.mlflow import Logged
    from ...reports.store.parquet import Parts
    from ..exchange import Exported, Imported

_STOPPED: Final = "Stopped. The same command imports the rest."
_OTLP: Final = Path("otlp")  # in place of a file: receive spans
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def read_score_metadata(better: Sequence[str], ranges: Sequence[str], version: str) -> ScoreMetadata:
    """What options say of imported scores. Raises InputError where one can't be read."""
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
    return ScoreMetadata(directions, bounds, version)


def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file or folder of another tool; otlp to receive spans.")
    ],
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
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="With otlp: the port, by default 4318; 0 for a free one.")
    ] = None,
    for_: Annotated[str, typer.Option("--for", metavar="60s", help="With otlp: how long spans are received.")] = "",
    until_idle: Annotated[
        str, typer.Option("--until-idle", metavar="10s", help="With otlp: until nothing came for so long.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Import question sets, answers and scores of other tools.

    Scores become metrics of their own, such as ragas.faithfulness. proctor import otlp receives OpenTelemetry spans of
    a running application on a loopback port, until Ctrl-C, and imports its answers.
    """
    from ..exchange import ImportOptions, import_file, import_received

    metadata = read_score_metadata(better or (), ranges or (), tool_version)
    target = database or (DATABASE if into is None else None)
    options = ImportOptions(format_, name, bot, metadata, force)
    receives = file == _OTLP and not file.exists()
    if not receives and (port is not None or for_ or until_idle):
        raise InputError("--port, --for and --until-idle go with 'proctor import otlp' alone.")
    check_no_parts(file, "a file or folder of another tool")
    with interruptible(_STOPPED):
        if receives:
            receive = _receiver(port, seconds_of(for_, "--for"), seconds_of(until_idle, "--until-idle"))
            made = import_received(into, target, options, receive)
        else:
            made = import_file(file, into, target, options)
    if as_json:
        write_json({**asdict(made), "path": str(made.path)}, sys.stdout)
        return
    for warning in made.warnings:
        complain(warning)
    for line in _imported_lines(made, into, target):
        typer.echo(printable(line))


def seconds_of(given: str, option: str) -> float | None:
    """A length of time such as 60s, 5m or 1h; None where it is blank. Raises InputError where it is none."""
    if not given:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", given.strip())
    if found is None or not float(found[1]):
        raise InputError(f"{option} is {given!r}; wanted is a time such as 60s, 5m or 1h.")
    return float(found[1]) * _UNITS[found[2]]


def _receiver(port: int | None, seconds: float | None, idle: float | None) -> Callable[[Path], None]:
    from ..server.otlp import PORT, receive

    def write(file: Path) -> None:
        def ready(address: str) -> None:
            typer.echo(f"Receiving spans at {address}. Ctrl-C ends that, and what came is imported.", err=True)

        found = receive(file, PORT if port is None else port, ready, seconds, idle)
        refused = f", {count(found.refused, 'request')} refused" if found.refused else ""
        typer.echo(f"{count(found.spans, 'span')} in {count(found.requests, 'request')}{refused}.", err=True)

    return write


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
    out: Annotated[Path | None, typer.Argument(metavar="OUT", help="The file to write; for beir a folder.")] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FORMAT", help="The format, or mlflow; left out, our own by the ending of OUT, as .parquet."
        ),
    ] = "proctor",
    into: Annotated[
        str,
        typer.Option(
            "--into",
            metavar="URI",
            help="With --to mlflow: a tracking server, or a folder. With --to parquet: a "
            "folder of parts, over which report, compare and gate work.",
        ),
    ] = "",
    bot: Annotated[
        list[str] | None, typer.Option("--bot", metavar="NAME", help="Only answers of this bot. Repeatable.")
    ] = None,
    database: Database = DATABASE,
    as_json: Json = False,
) -> None:
    """Export a run or a question set for other tools, or log a run into MLflow."""
    from ..exchange import export_parts, export_rows, log_to_mlflow

    named, database = one_run(subject, database)
    subject = named or "latest"
    if to == "mlflow":
        with interruptible("Stopped. What was logged of the run was deleted."):
            logged = log_to_mlflow(subject, _tracking(into, out), database, tuple(bot or ()))
        if as_json:
            write_json(asdict(logged), sys.stdout)
        else:
            for line in _logged_lines(logged):
                typer.echo(printable(line))
        return
    if to == "parquet" and into and out is None:
        with interruptible("Stopped. Nothing was written."):
            parts = export_parts(subject, Path(into), database, tuple(bot or ()))
        if as_json:
            write_json({**asdict(parts), "path": str(parts.path)}, sys.stdout)
        else:
            for line in _parts_lines(parts):
                typer.echo(printable(line))
        return
    if into or out is None:
        wrong = "--into goes with --to mlflow, and with --to parquet in place of OUT."
        raise InputError("OUT, the file to write, is missing." if not into else wrong)
    with interruptible("Stopped. Nothing was written."):
        made = export_rows(subject, to, out, database, tuple(bot or ()))
    if as_json:
        write_json({**asdict(made), "path": str(made.path)}, sys.stdout)
        return
    for line in _exported_lines(made):
        typer.echo(printable(line))


def _tracking(into: str, out: Path | None) -> str:
    if into and out:
        raise InputError(f"Both OUT ({out}) and --into ({into}) are given; one says where MLflow is.")
    if not (into or out):
        raise InputError("--to mlflow wants --into: a folder, or the address of a tracking server.")
    return into or str(out)


def _logged_lines(logged: Logged) -> Iterator[str]:
    yield f"Logged into {logged.uri}: experiment {logged.experiment}, run {logged.run_id}."
    figures = f"{count(len(logged.bots), 'bot')} with {count(logged.metrics, 'figure')}"
    yield f"{figures}; {count(logged.rows, 'row')} in rows.json; page in report.html."


def _parts_lines(parts: Parts) -> Iterator[str]:
    rows, scores = parts.tables["run_rows"], parts.tables["scores"]
    size = f"{count(parts.files, 'file')} of {parts.bytes / 1e6:,.1f} MB"
    yield f"Wrote {parts.path}: run {parts.run}, {count(rows, 'row')} and {count(scores, 'score')} in {size}."
    yield "Everything was carried over: each table of the database is there, under its name."
    yield f"  proctor report {shlex.quote(str(parts.path))}"


def _exported_lines(made: Exported) -> Iterator[str]:
    yield f"Wrote {made.path}: {count(made.rows, 'row')} as {made.title}."
    yield from made.lost
    if not made.lost:
        yield "Everything was carried over."
