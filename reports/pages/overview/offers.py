"""Offers: quality against latency and against cost, each bot a point, with the frontier of those that none beats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...leaderboard import count, figure, milliseconds
from ...ranking.frontier import Offer
from ...ranking.ranked_run import InDetail
from ...summary import MetricColumn
from ..charts.scale import linear_scale, log_scale
from ..charts.scatter import Point, Scatter, x_range, y_range

DIRECTIONS: Mapping[str, str] = {"higher": "higher is better", "lower": "lower is better"}


def offer_charts(detail: InDetail, series: Mapping[str, int]) -> tuple[Scatter, ...]:
    """A chart of latency and one of cost, each where it tells two bots or more apart.

    Args:
        detail: the bots on the metric that leads, over the questions that all of them have a value on.
        series: number of the colour and shape of each bot.
    """
    latency = _chart(detail, series, "latency", lambda offer: offer.latency_ms, milliseconds, is_log=True)
    cost = _chart(detail, series, "cost", lambda offer: offer.cost, money, is_log=False)
    return tuple(chart for chart in (latency, cost) if chart)


def money(value: float) -> str:
    """A cost in as many digits as it deserves.

    >>> money(0.0), money(0.00123), money(2.5)
    ('0', '0.0012', '2.5')
    """
    return f"{value:.2g}" if abs(value) < 100 else f"{value:,.0f}"


def _chart(
    detail: InDetail, series: Mapping[str, int], burden: str, taken: Callable[[Offer], float | None],
    write: Callable[[float], str], *, is_log: bool,
) -> Scatter | None:  # fmt: skip
    column = detail.metric.column
    means = dict(zip(detail.metric.shared.bots, detail.metric.means, strict=True))
    found = [(offer.bot, x) for offer in detail.offers if (x := taken(offer)) is not None]
    if len({x for _, x in found}) < 2:
        return None
    unbeaten = _unbeaten([(bot, x, means[bot].value) for bot, x in found], column)
    points = tuple(
        Point(
            bot, x, means[bot].value, means[bot].low, means[bot].high, series[bot], bot in unbeaten,
            _note(bot, write(x), means[bot].value, column, bot in unbeaten),
        )
        for bot, x in found
    )  # fmt: skip
    heights = [each for point in points for each in (point.y, point.low, point.high) if each is not None]
    across = [x for _, x in found]
    x_axis = (
        log_scale(across, *x_range(), label=write) if is_log else linear_scale(across, *x_range(), (0.0, None), most=5)
    )
    return Scatter(
        title=f"{column.name} against {burden}",
        description=f"{' '.join(point.note for point in points)}",
        x=x_axis,
        y=linear_scale(heights, *y_range(), (column.low, column.high)),
        x_title="median latency, log scale; left is better" if is_log else f"{burden} of an answer; left is better",
        y_title=f"{column.name}, {DIRECTIONS[column.better]}",
        points=points,
        is_lower_better=column.better == "lower",
    )


def _unbeaten(found: Sequence[tuple[str, float, float]], column: MetricColumn) -> set[str]:
    """Bots than which none is at least as good in both and better in one."""
    sign = 1.0 if column.better == "lower" else -1.0
    burdens = {bot: (x, sign * y) for bot, x, y in found}
    return {
        bot
        for bot, mine in burdens.items()
        if not any(theirs != mine and theirs[0] <= mine[0] and theirs[1] <= mine[1] for theirs in burdens.values())
    }


def _note(bot: str, taken: str, mean: float, column: MetricColumn, is_unbeaten: bool) -> str:
    rest = "no other bot is better in both" if is_unbeaten else "another bot is better in both, or as good in one"
    return f"{bot}: {column.name} {figure(mean, column)} at {taken}; {rest}."


def about_offers(detail: InDetail) -> str:
    """What the charts rest on."""
    shared = detail.metric.shared
    beaten = [offer for offer in detail.offers if offer.dominated_by]
    rest = f"{count(len(shared.values), 'question')} that {'both' if len(shared.bots) == 2 else 'all'} have a value on"
    said = (
        f"{detail.metric.column.name} over the {rest}, with 95 % intervals; time over all rows, of which those that"
        " timed out count as longer; cost over those with an answer. Filled marks and the dashed line: no other bot is"
        " better in both."
    )
    if not beaten:
        return said
    told = ", ".join(f"{offer.bot} (by {offer.dominated_by[0]})" for offer in beaten[:6])
    more = f" and {len(beaten) - 6} more" if len(beaten) > 6 else ""
    return f"{said} Behind in all that was measured, perhaps by chance: {told}{more}."
