"""Run end: what is worked out of a run and stored with it when it ends."""

from __future__ import annotations

from typing import Final

from .report import Findings, keep_findings
from .store.database import Store
from .store.row_scores import RunScores
from .summary import Summary, keep_summary

LARGE: Final = 20_000  # rows from which the page takes seconds to work out


def keep_report(store: Store, run_id: int) -> tuple[Summary, Findings]:
    """Store summary, problems and insights, and of a large run what its page begins with; what holds is only read.

    Raises:
        StoreError: they can't be written.
    """
    scores = RunScores(store, run_id, keep=True)
    summary = keep_summary(store, run_id, scores)
    findings = keep_findings(store, run_id, summary, scores)
    if sum(bot.rows for bot in summary.bots) > LARGE:
        from .pages.run_page import keep_page  # with its templates: a small run needs none

        keep_page(store, run_id, scores)
    return summary, findings
