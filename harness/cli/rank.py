"""``rank``: which bot is best; ``abstain``: what wrong answers and abstentions cost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...reports.export.ranking import abstained_object, abstention_blocks, rank_blocks, ranked_object
from ...reports.ranking.abstention import OUTCOMES
from .console import Form, show_as
from .conventions import Database, interruptible

if TYPE_CHECKING:
    from ...reports.compare.scores import RunTables


STOPPED = "Stopped. Nothing was written."

Run = Annotated[
    str | None,
    typer.Argument(metavar="RUN", help="A run, its beginning, 'previous', or a database; by default the latest run."),
]
Cluster = Annotated[
    str, typer.Option("--cluster", metavar="HOW", help="Cluster questions by source, tag, tag:PREFIX, or none.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="The random seed.")]


def rank(
    run: Run = None,
    metric: Annotated[
        list[str] | None, typer.Option("--metric", "-m", metavar="ID", help="The metric to rank by. Repeatable.")
    ] = None,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    costs: Annotated[
        str,
        typer.Option("--costs", metavar="BOT=COST,...", help="The cost of an answer, overriding the run's."),
    ] = "",
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    form: Form = Form.TEXT,
) -> None:
    """Rank the bots: which is best, and with what probability.

    Also quality against latency and cost, and what a router would gain.
    """
    from ...reports.compare.operands import open_operand
    from ...reports.ranking.ranked_run import ranked_run

    stated = named_figures(costs, "--costs", None)
    with interruptible(STOPPED), open_operand(run or "latest", database, None) as operand:
        found = ranked_run(only(operand.run, bot or ()), metric or (), cluster, stated, seed)
        show_as(form, lambda: ranked_object(found), lambda: rank_blocks(found))


def abstain(
    run: Run = None,
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="ID", help="The metric that decides whether an answer is right.")
    ] = "",
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="X", help="The value from which it is right.")
    ] = None,
    costs: Annotated[
        str,
        typer.Option(
            "--costs", metavar="...", help="right=0,wrong=1,abstained_rightly=0,abstained_wrongly=0.3, or some of them."
        ),
    ] = "",
    risk: Annotated[
        float,
        typer.Option("--risk", metavar="SHARE", help="The share of questions that may be answered wrongly."),
    ] = 0.1,
    bot: Annotated[list[str] | None, typer.Option("--bot", metavar="NAME", help="Only these bots. Repeatable.")] = None,
    cluster: Cluster = "source",
    seed: Seed = 0,
    database: Database = Path("proctor.db"),
    form: Form = Form.TEXT,
) -> None:
    """Weigh wrong answers against abstentions.

    Their cost, and the confidence from which a bot should answer.
    """
    from ... import InputError
    from ...reports.compare.operands import open_operand
    from ...reports.ranking.abstention import Costs
    from ...reports.ranking.ranked_run import abstained_run

    if not 0 < risk < 1:
        raise InputError(f"--risk is a share between 0 and 1, such as 0.1; not {risk:g}.")
    taken = Costs(**named_figures(costs, "--costs", OUTCOMES))
    with interruptible(STOPPED), open_operand(run or "latest", database, None) as operand:
        wanted = only(operand.run, bot or ())
        found = abstained_run(wanted, metric, threshold, taken, risk, cluster, seed)
        show_as(form, lambda: abstained_object(found), lambda: abstention_blocks(found))


def named_figures(text: str, option: str, names: Sequence[str] | None) -> dict[str, float]:
    """Figures by name from ``name=figure,name=figure``; ``names`` are those that there can be, None for any.

    Raises:
        InputError: what can't be read, with the nearest name.
    """
    import difflib

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
    from ...reports.compare.operands import unknown_bot

    for bot in bots:
        if bot not in run.tables:
            raise InputError(unknown_bot(bot, f"run {run.run}", list(run.tables)))
    return replace(run, tables={bot: table for bot, table in run.tables.items() if not bots or bot in bots})
