"""Frontier: the bots that no other bot beats on quality, latency and cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..comparing.score_table import ScoreTable
from ..statistics.survival import quantile


@dataclass(frozen=True, slots=True)
class Offer:
    """What a bot gives and takes; None where it is not known.

    Attributes:
        bot: its name.
        quality: mean of the metric, turned so that higher is better.
        latency_ms: median time of an answer.
        cost: mean cost of an answer.
        dominated_by: bots that are at least as good in all that is known of all bots, and better in some of it.
    """

    bot: str
    quality: float | None
    latency_ms: float | None
    cost: float | None
    dominated_by: tuple[str, ...] = ()


def frontier(offers: Sequence[Offer]) -> list[Offer]:
    """Say of each bot who dominates it; what is not known of every bot plays no part.

    >>> [each.dominated_by for each in frontier([Offer("a", 0.9, 5.0, None), Offer("b", 0.8, 9.0, None)])]
    [(), ('a',)]
    """
    measured = [_burdens(offer) for offer in offers]
    known = [place for place in range(3) if all(burdens[place] is not None for burdens in measured)]
    lines = np.array([[burdens[place] for place in known] for burdens in measured], dtype=np.float64)
    lines = lines.reshape(len(offers), len(known))
    return [
        Offer(
            offer.bot, offer.quality, offer.latency_ms, offer.cost,
            tuple(other.bot for other, theirs in zip(offers, lines, strict=True) if (theirs <= mine).all()
                  and (theirs < mine).any()),
        )
        for offer, mine in zip(offers, lines, strict=True)
    ]  # fmt: skip


def _burdens(offer: Offer) -> tuple[float | None, float | None, float | None]:
    """Quality, latency and cost, the less the better."""
    return None if offer.quality is None else -offer.quality, offer.latency_ms, offer.cost


def median_latency(table: ScoreTable) -> float | None:
    """Median time of an answer in milliseconds, over all rows; None where too few were answered to tell.

    A row that timed out would have taken longer than it was waited for (it is censored); one that failed has no time.
    """
    known = np.isfinite(table.answer_ms)
    return quantile(table.answer_ms[known], table.answered[known], 0.5)


def mean_cost(table: ScoreTable, stated: float | None = None) -> float | None:
    """Mean cost of a row, as stated, else as its rows report it; None where any row's cost is not known."""
    if stated is not None:
        return stated
    costs = table.cost[table.answered]
    return float(costs.mean()) if len(costs) and np.isfinite(costs).all() else None
