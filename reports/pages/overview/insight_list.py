"""Insight list: what is worth knowing of a run, each sentence with a way to what it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...insights import Insight
from ...reported_run import ReportedRun
from ...row_keys import RowKey
from ..row_addresses import has_rows, open_address, rows_address

MOST_OPEN = 6


@dataclass(frozen=True, slots=True)
class Told:
    """An insight; ``quoted`` is the question or sentence that it is about, ``href`` leads to it, or both are blank."""

    text: str
    quoted: str
    href: str


def insight_list(run: ReportedRun, insights: Sequence[Insight]) -> tuple[tuple[Told, ...], tuple[Told, ...]]:
    """The insights that are shown, and those that are folded."""
    told = tuple(_told(run, insight) for insight in insights)
    most = MOST_OPEN if len(told) > MOST_OPEN + 1 else len(told)
    return told[:most], told[most:]


def _told(run: ReportedRun, insight: Insight) -> Told:
    details = insight.details
    quoted = str(details.get("question") or details.get("sentence") or "")
    metric = insight.metric if insight.metric and has_rows(run, insight.metric) else ""
    if "question_id" in details:
        repeat = details.get("repeat")
        key = RowKey(str(details["question_id"]), repeat if isinstance(repeat, int) else 0)
        return Told(insight.text, quoted, open_address(key, insight.bot or "", metric))
    href = rows_address(bot=insight.bot or "", metric=metric, sort="value") if metric and insight.bot else ""
    return Told(insight.text, quoted, href)
