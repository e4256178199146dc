"""Plan command: what a person types to find out how many questions a comparison needs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .conventions import Database, Json, interruptible


def plan(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="An earlier run: RUN[:BOT] or FILE.db[:RUN]; left out, the latest."),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", metavar="ID", help="The metric that is to differ.")] = "",
    delta: Annotated[
        float | None, typer.Option("--delta", metavar="D", help="The difference to be shown, such as 0.05.")
    ] = None,
    bot: Annotated[str, typer.Option("--bot", metavar="NAME", help="Only pairs with this bot.")] = "",
    power: Annotated[float, typer.Option("--power", metavar="P", help="Chance of showing it when it is there.")] = 0.8,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, metavar="N", help="Answers to each question, if not as before.")
    ] = None,
    cluster: Annotated[
        str, typer.Option(metavar="WAY", help="What belongs together: source (document), tag, tag:PREFIX, or none.")
    ] = "source",
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Say how many questions it takes to show a difference.

    By the spread of an earlier run; nothing is asked.
    """
    from ... import InputError
    from ...reports.comparing.matching import check_bot
    from ...reports.comparing.planning import Wish, make_plan
    from ...reports.comparing.sides import open_side
    from ..showing.planning import show_plan
    from ..showing.streams import own_stdout

    if not metric:
        raise InputError("Name the metric with --metric ID, such as: proctor plan --metric keyword_recall --delta 0.05")
    if delta is None:
        raise InputError(f"Say what is to be shown with --delta, such as: proctor plan --metric {metric} --delta 0.05")
    with interruptible("Stopped."), own_stdout() as stdout, open_side(run or "latest", database) as side:
        if bot:
            check_bot(side.run, bot)
        show_plan(make_plan(side.run, Wish(metric, delta, power, repeats, cluster), bot), as_json, stdout)
