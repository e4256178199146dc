"""Rankings: what ``proctor rank`` and ``proctor abstain`` print, for people and for machines."""

from __future__ import annotations

import sys

from rich.console import Console, RenderableType

from ...reports.ranking.abstained_object import abstained_object
from ...reports.ranking.abstained_run import AbstainedRun
from ...reports.ranking.ranked_object import ranked_object
from ...reports.ranking.ranked_run import RankedRun
from .abstention_table import abstention_table
from .rank_table import rank_table
from .streams import write_json


def show_ranking(ranked: RankedRun, as_json: bool) -> None:
    """Which bot is best."""
    if as_json:
        write_json(ranked_object(ranked), sys.stdout)
    else:
        _show(rank_table(ranked))


def show_abstention(found: AbstainedRun, as_json: bool) -> None:
    """What bots answer and decline."""
    if as_json:
        write_json(abstained_object(found), sys.stdout)
    else:
        _show(abstention_table(found))


def _show(table: RenderableType) -> None:
    console = Console(emoji=False, highlight=False, markup=False)
    console.print(table, width=console.width if console.is_terminal else 80)
