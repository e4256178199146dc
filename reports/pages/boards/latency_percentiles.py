"""Latency percentiles: how long each bot took over its answered rows, how many were under way, and what failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...reported_run import ReportedRun
from ...statistics.survival import quantiles

ROWS: Final = """
SELECT status = 'answered', latency_ms, IFNULL(in_flight, 1) FROM run_rows JOIN replies ON replies.id = reply_id
WHERE run_id = ? AND run_rows.bot_id = ? AND latency_ms IS NOT NULL"""
LINE: Final = np.dtype([("is_answered", "?"), ("latency", "f8"), ("in_flight", "i8")])
PERCENTILES: Final = (50, 75, 90, 95, 99)
FEWEST_IN_CROWD: Final = 5  # rows from which a percentile of a part is told

Figures = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crowd:
    """The answered rows with from ``least`` to ``most`` in flight: how many, and how long they took (ms)."""

    least: int
    most: int
    rows: int
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class BotLatency:
    """One bot; all durations are milliseconds over its answered rows, as on the leaderboard.

    Attributes:
        bot: its name.
        answered: rows with a duration.
        failed: rows without an answer; they are in none of the percentiles.
        percentiles: by ``PERCENTILES``; empty without an answered row.
        p25: for the middle half of a drawing.
        p5: for its lower end.
        median_in_flight, most_in_flight: how many were under way at once when a row began.
        crowds: a part with few in flight and one with many; empty where there are no two parts of some size.
        censored: the percentiles when failed rows count as lasting at least as long as they did; None where so many
            failed that it can't be told. Empty where none failed.
    """

    bot: str
    answered: int
    failed: int
    percentiles: tuple[float, ...]
    p25: float | None
    p5: float | None
    median_in_flight: float
    most_in_flight: int
    crowds: tuple[Crowd, ...]
    censored: tuple[float | None, ...]


def latency_percentiles(run: ReportedRun) -> list[BotLatency]:
    """The bots in the order of the suite."""
    return [_of_bot(run, bot.name, bot.failed) for bot in run.bots]


def _of_bot(run: ReportedRun, bot: str, failed: int) -> BotLatency:
    rows = np.fromiter(run.store.connection.execute(ROWS, [run.id, run.bot_ids[bot]]), dtype=LINE)
    answered = rows[rows["is_answered"]]
    if not len(answered):
        return BotLatency(bot, 0, failed, (), None, None, 0, 0, (), ())
    p5, p25, *percentiles = (float(each) for each in np.percentile(answered["latency"], [5, 25, *PERCENTILES]))
    return BotLatency(
        bot=bot, answered=len(answered), failed=failed, percentiles=tuple(percentiles), p25=p25, p5=p5,
        median_in_flight=float(np.median(answered["in_flight"])), most_in_flight=int(answered["in_flight"].max()),
        crowds=crowds(answered["latency"], answered["in_flight"]), censored=_censored(rows) if failed else (),
    )  # fmt: skip


def crowds(latencies: Figures, in_flight: NDArray[np.int64]) -> tuple[Crowd, ...]:
    """Rows with few in flight and rows with many, parted in the middle of what there was."""
    middle = (in_flight.min() + in_flight.max()) / 2
    parts = [which for which in (in_flight <= middle, in_flight > middle) if which.sum() >= FEWEST_IN_CROWD]
    if len(parts) < 2:
        return ()
    made = []
    for which in parts:
        p50, p95 = (float(each) for each in np.percentile(latencies[which], [50, 95]))
        there = in_flight[which]
        made.append(Crowd(int(there.min()), int(there.max()), int(which.sum()), p50, p95))
    return tuple(made)


def _censored(rows: NDArray[np.void]) -> tuple[float | None, ...]:
    found = quantiles(rows["latency"], rows["is_answered"], [each / 100 for each in PERCENTILES])[0]
    return tuple(None if np.isnan(each) else float(each) for each in found)
