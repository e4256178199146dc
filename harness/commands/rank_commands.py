"""Rank commands: what a person types to find out which bot is best, and which should rather decline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .conventions import Database, Json, interruptible

if TYPE_CHECKING:
    from ...reports.comparing.score_table import RunTables

STOPPED = "Stopped. Nothing was written."

Run = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="A run, its beginning, 'previous', or a database; left out, the latest run."),
]
Cluster = Annotated[
    str, typer.Option("--cluster", metavar="HOW", help="What keeps questions together: source, tag, tag:PREFIX, none.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Another number draws other numbers.")]


def rank(
    run: Run = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="What is to be best. Repeatable.")
    ] = None,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    costs: Annotated[
        str,
        typer.Option("--costs", metavar="BOT=COST,...", help="What an answer costs, whatever the run says."),
    ] = "",
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Say which bot is best, and how sure that is.

    Also who is worth its time and money, and what a router would gain.
    """
    from ...reports.comparing.sides import open_side
    from ...reports.ranking.ranked_run import ranked_run
    from ..showing.rankings import show_ranking

    stated = named_figures(costs, "--costs", None)
    with interruptible(STOPPED), open_side(run or "latest", database, None) as side:
        show_ranking(ranked_run(only(side.run, bot or ()), metric or (), cluster, stated, seed), as_json)


def abstain(
    run: Run = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="ID", help="The metric that says whether an answer is right.")
    ] = "",
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="X", help="From which value it is; left out, the run's own.")
    ] = None,
    costs: Annotated[
        str,
        typer.Option(
            "--costs", metavar="...", help="right=0,wrong=1,declined_rightly=0,declined_wrongly=0.3, or some of them."
        ),
    ] = "",
    risk: Annotated[
        float,
        typer.Option("--risk", metavar="SHARE", help="The share of questions that may be answered wrongly, as 0.1."),
    ] = 0.1,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    as_json: Json = False,
) -> None:
    """Weigh wrong answers against refusals.

    What they cost, and from which confidence a bot should answer.
    """
    from ... import InputError
    from ...reports.comparing.sides import open_side
    from ...reports.ranking.abstained_run import abstained_run
    from ...reports.ranking.abstention import OUTCOMES, Costs
    from ..showing.rankings import show_abstention

    if not 0 < risk < 1:
        raise InputError(f"--risk is a share between 0 and 1, such as 0.1; not {risk:g}.")
    taken = Costs(**named_figures(costs, "--costs", OUTCOMES))
    with interruptible(STOPPED), open_side(run or "latest", database, None) as side:
        wanted = only(side.run, bot or ())
        show_abstention(abstained_run(wanted, metric, threshold, taken, risk, cluster, seed), as_json)


def named_figures(text: str, option: str, names: Sequence[str] | None) -> dict[str, float]:
    """Figures by name from ``name=figure,name=figure``; ``names`` are those that there can be, None for any.

    Raises:
        InputError: what can't be read, with the nearest name.
    """
    import difflib
    import math

    from ... import InputError

    made: dict[str, float] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, figure = (piece.strip() for piece in part.rpartition("="))
        if names is not None and name not in names:
            near = difflib.get_close_matches(name, names, 1, 0.5)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f"{option}: there is no {name or part!r}.{hint} There are: {', '.join(names)}.")
        try:
            made[name] = float(figure)
        except ValueError:
            made[name] = math.nan
        if not name or not math.isfinite(made[name]):
            raise InputError(f"{option}: {part!r} is not of the form name=figure, such as {(names or ['rag'])[0]}=0.2.")
    return made


def only(run: RunTables, bots: Sequence[str]) -> RunTables:
    """The run with those bots alone; all of them where none is named.

    Raises:
        InputError: there is no such bot, with the nearest.
    """
    from dataclasses import replace

    from ... import InputError
    from ...reports.comparing.sides import unknown_bot

    for bot in bots:
        if bot not in run.tables:
            raise InputError(unknown_bot(bot, f"run {run.run}", list(run.tables)))
    return replace(run, tables={bot: table for bot, table in run.tables.items() if not bots or bot in bots})
