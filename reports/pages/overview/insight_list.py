"""Insight list: what is worth knowing of a run, what says the same in one line, with a way to what it speaks of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...insights import Insight
from ...leaderboard import count
from ...primary import OPERATIONAL
from ...reported_run import ReportedRun
from ...row_keys import RowKey
from ..row_addresses import has_rows, open_address, rows_address

MOST_OPEN = 6
MOST_NAMED = 6  # metrics that a line names
BEST = ("best_bot", "most_accurate")
HARDEST = "most_difficult_case"
EVERY = {1: "the only bot", 2: "both bots"}


@dataclass(frozen=True, slots=True)
class Told:
    """An insight, or several in one; ``quoted`` is the question or sentence that it is about, ``href`` leads to it."""

    text: str
    quoted: str = ""
    href: str = ""


def insight_list(run: ReportedRun, insights: Sequence[Insight]) -> tuple[tuple[Told, ...], tuple[Told, ...]]:
    """The insights that are shown, and those that are folded.

    The questions that are hardest come first, because there is something to read there; who is best by which metric
    stands in the leaderboard and comes last, in one line for each bot.
    """
    hardest = [each for each in insights if each.type == HARDEST and each.metric not in OPERATIONAL]
    best = [each for each in insights if each.type in BEST]
    rest = [each for each in insights if each not in hardest and each not in best]
    told = (*_hardest(run, hardest), *(_told(run, each) for each in rest), *_best(run, best))
    most = MOST_OPEN if len(told) > MOST_OPEN + 1 else len(told)
    return told[:most], told[most:]


def _hardest(run: ReportedRun, insights: Sequence[Insight]) -> Iterator[Told]:
    """A question that is the hardest by several metrics is told once; the one of most metrics first."""
    together: dict[str, list[Insight]] = {}
    for insight in insights:
        together.setdefault(str(insight.details["question_id"]), []).append(insight)
    for question, found in sorted(together.items(), key=lambda item: -len(item[1])):
        by: dict[str, list[str]] = {}
        for each in found:
            failed, bots = _number_of(each.details["failed_by"]), each.details["bots"]
            who = EVERY.get(failed, f"all {failed} bots") if failed == bots else f"{failed} of {bots} bots"
            by.setdefault(who, []).append(each.metric or "")
        failures = "; ".join(f"by {who} on {_names(metrics)}" for who, metrics in by.items())
        first = _told(run, found[0])
        yield Told(f"Hardest question, failed {failures}: {question}.", first.quoted, first.href)


def _best(run: ReportedRun, insights: Sequence[Insight]) -> Iterator[Told]:
    """By how many metrics each bot has the best mean; those on which several tie are counted alone."""
    by_bot: dict[str, list[str]] = {bot.name: [] for bot in run.bots}
    for each in insights:
        if each.bot:
            by_bot[each.bot].append(each.metric or "")
    for bot, metrics in sorted(by_bot.items(), key=lambda item: -len(item[1])):
        if metrics:
            yield Told(f"{bot} has the best mean on {count(len(metrics), 'metric')}: {_names(metrics)}.")
    if tied := [each.metric or "" for each in insights if not each.bot]:
        yield Told(f"Several bots tie for the best mean on {count(len(tied), 'metric')}: {_names(tied)}.")


def _names(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _number_of(values: object) -> int:
    return len(values) if isinstance(values, Sequence) else 0


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
