"""Router table: what asking one bot first, and another where it is not sure, would have gained."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from ...reports.leaderboard import figure, milliseconds
from ...reports.printable import printable
from ...reports.ranking.ranked_run import InDetail, RankedRun
from ...reports.ranking.router import Router
from ...reports.ranking.shared_questions import as_measured
from ...reports.summary import MetricColumn
from .figures import gain_text, grid, percent, rounded_up

MOST_ROUTERS = 5  # that are shown, the best first; the rest are in --json


def router_table(detail: InDetail, ranked: RankedRun) -> Iterator[RenderableType]:
    """A line for each pair of bots of which the first tells a confidence; then what the columns are."""
    if not ranked.confidences:
        yield Text("No router: no bot tells a confidence (trace: confidence, similarity or score).", style="dim")
        return
    if not detail.routers:
        yield Text("No router: too few questions or different confidences to choose a threshold by.", style="dim")
        return
    column, single = detail.metric.column, detail.best.single
    priced = any(router.cost is not None for router in detail.routers)
    table = grid("router: first, else", "from", "quality", f"gain over {printable(single)}", "first", "p50",
                 *(["cost"] if priced else []))  # fmt: skip
    for router in detail.routers[:MOST_ROUTERS]:
        table.add_row(*_cells(router, column, priced))
    yield table
    if len(detail.routers) > MOST_ROUTERS:
        yield Text(f"and {len(detail.routers) - MOST_ROUTERS:,} more, all of which are in --json", style="dim")
    for sentence in _legend(detail, ranked):
        yield Text(sentence, style="dim", overflow="fold")


def _cells(router: Router, column: MetricColumn, priced: bool) -> Iterator[str | Text]:
    pays = router.gain.low is not None and router.gain.low > 0
    yield Text(f"{printable(router.first)}, {printable(router.second)}", overflow="fold")
    yield "never" if router.threshold is None else rounded_up(router.threshold)
    yield figure(as_measured(router.held_out, column), column)
    yield Text(gain_text(router.gain, column), style="bold green" if pays else "")
    yield percent(router.share_first)
    yield "-" if router.latency_ms is None else milliseconds(router.latency_ms)
    if priced:
        yield "-" if router.cost is None else f"{router.cost:.2g}"


def _legend(detail: InDetail, ranked: RankedRun) -> Iterator[str]:
    keys = {router.first: router.key for router in detail.routers}
    told = ", ".join(f"{printable(key)} of {printable(bot)}" for bot, key in keys.items())
    yield (
        f"The first bot's answer is kept from that confidence on ({told}). Quality and gain are on held-out questions:"
        " the threshold of each fifth is chosen on the other four, whole clusters at a time."
    )
    if len(detail.routers) > 1:
        yield f"The best of {len(detail.routers)} routers is flattered by being picked."
    for bot, each in ranked.confidences.items():
        if each.floor and bot in keys:
            yield (
                f"{printable(bot)} declined below its own min_similarity of {each.floor:g}: what it would have said"
                " there is not on record, so only higher thresholds could be tried."
            )
