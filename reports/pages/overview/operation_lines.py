"""Operation lines: what answers take in time, money and tokens, and how many there are none of, bot by bot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...leaderboard import ARROWS, count, milliseconds
from ...summary import BotSummary
from ..row_addresses import rows_address
from .leaderboard_lines import NONE, Cell, Line


def operation_lines(bots: Sequence[BotSummary]) -> Iterator[Line]:
    """What answers take, and how many there are none of."""
    yield _least("latency p50", bots, {bot.name: bot.latency.p50 for bot in bots if bot.latency})
    yield _least("latency p95", bots, {bot.name: bot.latency.p95 for bot in bots if bot.latency})
    yield Line("failed", tuple(map(_failed, bots)))
    if any(bot.declined for bot in bots):
        yield Line("declined", tuple(_declined(bot) for bot in bots))
    if any(bot.cost is not None for bot in bots):
        yield Line("cost", tuple(_cost(bot) for bot in bots))
    if any(bot.tokens for bot in bots):
        yield Line("tokens", tuple(_tokens(bot) for bot in bots))


def _least(name: str, bots: Sequence[BotSummary], values: Mapping[str, float]) -> Line:
    least = min(values.values(), default=0.0)
    is_told_apart = len(set(values.values())) > 1
    cells = []
    for bot in bots:
        if bot.name not in values or bot.latency is None:
            cells.append(Cell(NONE, notes="no answer was timed"))
            continue
        crowd = f"up to {bot.latency.in_flight} in flight" if bot.latency.in_flight > 1 else "one at a time"
        href = rows_address(bot=bot.name, sort="latency")
        is_least = is_told_apart and values[bot.name] == least
        cells.append(Cell(milliseconds(values[bot.name]), crowd, href, is_least))
    return Line(name, tuple(cells), ARROWS["lower"], "lower is better")


def _failed(bot: BotSummary) -> Cell:
    if not bot.failed:
        return Cell(f"0 of {bot.rows:,}")
    why = ", ".join(f"{number:,} {status.replace('_', ' ')}" for status, number in bot.failures.items())
    href = rows_address(bot=bot.name, show="errors")
    return Cell(f"{bot.failed:,} of {bot.rows:,}", href=href, mark="bad", notes=why)


def _declined(bot: BotSummary) -> Cell:
    href = rows_address(bot=bot.name, show="declined") if bot.declined else ""
    return Cell(f"{bot.declined:,} of {bot.rows:,}", href=href)


def _cost(bot: BotSummary) -> Cell:
    if bot.cost is None:
        return Cell(NONE, notes="not reported")
    each = f"{bot.cost / bot.cost_rows:.2g} an answer" if bot.cost_rows and bot.cost else ""
    return Cell(f"{bot.cost:.4f}", each, notes=_reported(bot.cost_rows, bot))


def _tokens(bot: BotSummary) -> Cell:
    if bot.tokens is None:
        return Cell(NONE, notes="not reported")
    each = f"{bot.tokens / bot.tokens_rows:,.0f} an answer" if bot.tokens_rows else ""
    return Cell(f"{bot.tokens:,}", each, notes=_reported(bot.tokens_rows, bot))


def _reported(rows: int, bot: BotSummary) -> str:
    return f"{rows:,} of {count(bot.rows, 'row')} report it" if rows < bot.rows else ""
