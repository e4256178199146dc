"""Compare command: what a person types to find out whether one bot or run is better than another."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .conventions import Database, Json, interruptible


class Correct(StrEnum):
    """How p values are corrected over the metrics."""

    HOLM = "holm"
    BH = "bh"


def compare(
    base: Annotated[
        str | None,
        typer.Argument(
            metavar="A",
            help="BOT, RUN[:BOT], latest, previous, FILE.db[:RUN][:BOT], BASE.json[:BOT].",
        ),
    ] = None,
    head: Annotated[str | None, typer.Argument(metavar="B", help="Likewise; B is compared with A.")] = None,
    database: Database = Path("proctor.db"),
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="Only this metric or family. Repeatable.")
    ] = None,
    cluster: Annotated[
        str,
        typer.Option(metavar="WAY", help="What belongs together: source (document), tag, tag:PREFIX, or none."),
    ] = "source",
    correct: Annotated[
        Correct, typer.Option(help="Correction of p over the metrics: Holm, or Benjamini-Hochberg.")
    ] = Correct.HOLM,
    bot: Annotated[
        list[str] | None, typer.Option("--bot", metavar="NAME", help="Of two runs, only this bot. Repeatable.")
    ] = None,
    flips: Annotated[int, typer.Option("--flips", min=0, metavar="N", help="Rows that lost or gained most.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Of the permutations' draws.")] = 0,
    as_json: Json = False,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="A page for a pull request; '-' for stdout.")
    ] = None,
) -> None:
    """Say whether bot or run B is better than A.

    Question by question: difference, interval, test, latency; nothing is asked.
    """
    from ...reports.comparing.comparison import Asked
    from ..showing.comparing import Shown, show_comparisons
    from ..showing.streams import own_stdout
    from .comparing import compare_sides, two_sides

    first, second = two_sides(base, head, database)
    asked = Asked(tuple(metric or ()), cluster, correct.value, flips, as_json, seed)
    shown = Shown(first, second, database, as_json, markdown)
    shown.check()
    with interruptible("Stopped. Nothing was written."), own_stdout() as stdout:
        show_comparisons(compare_sides(first, second, database, tuple(bot or ()), asked), shown, stdout)
