"""Gate savings: what was not asked again, and what it had cost when it was."""

from __future__ import annotations

from dataclasses import dataclass

from ...reports.store import Store
from ..exams.exam import Outcome

ROWS = """
SELECT bots.name, SUM(asked_at >= :began), SUM(asked_at < :began),
    TOTAL(CASE WHEN asked_at < :began THEN latency_ms END), SUM(CASE WHEN asked_at < :began THEN cost END)
FROM run_rows JOIN runs ON runs.id = run_rows.run_id JOIN replies ON replies.id = reply_id
JOIN bots ON bots.id = run_rows.bot_id
JOIN run_bots ON run_bots.run_id = run_rows.run_id AND run_bots.bot_id = run_rows.bot_id
WHERE runs.name = :run GROUP BY run_rows.bot_id ORDER BY run_bots.position"""


@dataclass(frozen=True, slots=True)
class Savings:
    """What an exam asked, and what it found kept.

    Attributes:
        asked: answers that were asked for now, by bot.
        kept: answers that were kept, by bot.
        seconds: the bots' own time that the kept ones had taken.
        cost: what they had cost; None where no backend counts.
        judge_calls: requests that were sent to the judge now.
        judge_calls_kept: those that were kept or shared.
    """

    asked: dict[str, int]
    kept: dict[str, int]
    seconds: float
    cost: float | None
    judge_calls: int
    judge_calls_kept: int


def savings(store: Store, outcome: Outcome, began: str) -> Savings:
    """What a pass that began at a time (as the database writes it) asked and kept."""
    lines = store.query(ROWS, {"began": began, "run": outcome.summary.run})
    costs = [cost for *_, cost in lines if cost is not None]
    calls = outcome.judge.shelf
    return Savings(
        asked={str(name): int(asked) for name, asked, *_ in lines if asked},
        kept={str(name): int(kept) for name, _, kept, *_ in lines if kept},
        seconds=sum(float(latency) for *_, latency, _ in lines) / 1000,
        cost=sum(costs) if costs else None,
        judge_calls=calls.paid,
        judge_calls_kept=calls.kept,
    )
