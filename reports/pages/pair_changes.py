"""Pair changes: two runs bot by bot with their comparisons, as lines, sentences and charts of a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..compare import messages
from ..compare.comparison import Asked, Comparison, MetricComparison, Pair, compare_bots
from ..compare.operands import Operand
from ..leaderboard import ARROWS
from ..report import Report, make_report
from .charts import DotIntervals, Line, interval_scale
from .rows import Column, rows_address


@dataclass(frozen=True, slots=True)
class BotPair:
    """A bot of baseline and a bot of candidate.

    Attributes:
        columns: baseline first; only those of a side that is a database.
        comparison: None where nothing of them can be compared.
        refused: why not; blank where there is a comparison.
    """

    bots: Pair
    columns: tuple[Column, ...]
    comparison: Comparison | None
    refused: str = ""

    @property
    def title(self) -> str:
        """What the pair is called."""
        baseline, candidate = self.bots
        return candidate if baseline == candidate else f"{baseline} against {candidate}"


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """Both sides with what was compared.

    Attributes:
        baseline, candidate: the sides, still open.
        reports: of both; None for a baseline file, and one and the same where both sides are one run.
        pairs: the one with the largest change first.
        left_out: sentences on bots and pairs that are not compared.
    """

    baseline: Operand
    candidate: Operand
    reports: tuple[Report | None, Report | None]
    pairs: tuple[BotPair, ...]
    left_out: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of all pairs, one pair after the other; a bot that stands in two pairs does so twice."""
        return tuple(column for pair in self.pairs for column in pair.columns)

    @property
    def has_both(self) -> bool:
        """Whether the full answers of both runs are available."""
        return None not in self.reports


def paired_runs(baseline: Operand, candidate: Operand) -> PairedRuns:
    """Compare two sides, and give the columns that show the answers of both.

    Args:
        baseline: what it is compared with, open as long as the page is being made.
        candidate: what is looked at, likewise.

    Raises:
        InputError: no bot of one side matches one of the other, or both sides are the same.
    """
    found = compare_bots(baseline, candidate, (), Asked())
    reports = _reports(baseline, candidate)
    pairs: list[tuple[Pair, Comparison | None]] = [
        *(
            ((each.baseline.bot, each.candidate.bot), each)
            for each in sorted(found.comparisons, key=_change, reverse=True)
        ),
        *((pair, None) for pair in found.refused),
    ]
    made = tuple(
        BotPair(pair, _columns(pair, reports, len(pairs) == 1), comparison, found.refused.get(pair, ""))
        for pair, comparison in pairs
    )
    alone = tuple(sentence for sentence in found.left_out if sentence not in found.refused.values())
    return PairedRuns(baseline, candidate, reports, made, alone)


def _reports(baseline: Operand, candidate: Operand) -> tuple[Report | None, Report | None]:
    made = None if baseline.source is None else make_report(*baseline.source)
    if baseline.source and candidate.source and _is_same(baseline, candidate):
        return made, made
    return made, None if candidate.source is None else make_report(*candidate.source)


def _is_same(baseline: Operand, candidate: Operand) -> bool:
    """Whether both are of one run of one database, which may have been opened twice."""
    if baseline.source is None or candidate.source is None:
        return False
    (one, one_id), (other, other_id) = baseline.source, candidate.source
    return one_id == other_id and one.path.resolve() == other.path.resolve()


def _columns(pair: Pair, reports: tuple[Report | None, Report | None], is_only: bool) -> tuple[Column, ...]:
    """Called baseline and candidate; with the bot where there are several pairs, and by the bots where these differ."""
    first, second = reports
    names = ["baseline", "candidate"] if is_only else [f"baseline {pair[0]}", f"candidate {pair[1]}"]
    if pair[0] != pair[1]:
        names = list(pair)
    places = (0, 0 if first is None or first is second else 1)
    return tuple(
        Column(name, place, report.run, bot)
        for name, place, report, bot in zip(names, places, reports, pair, strict=True)
        if report is not None
    )


def _change(comparison: Comparison) -> tuple[int, float]:
    """How much changed: significant verdicts, then the largest effect."""
    directed = [each for each in comparison.metrics if each.column.better != "neither"]
    firm = sum(each.verdict in ("better", "worse") for each in directed)
    return firm, max((abs(each.difference.effect or 0.0) for each in directed), default=0.0)


TONES: Final = {"better": "good", "worse": "bad"}
MOST_SENTENCES: Final = 6  # verdicts as sentences; the table has all


def link(pair: BotPair, metric: str, show: str = "", opened: str = "") -> str:
    """Where the list of questions shows them; blank where the page does not list both sides."""
    if len(pair.columns) < 2:
        return ""
    return rows_address(bot=pair.columns[1].name, metric=metric, show=show, open=opened)


def sentences(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The significant verdicts as sentences, worse first: tone, metric, sentence."""
    name = comparison.candidate.name
    firm = [each for verdict in ("worse", "better") for each in comparison.metrics if each.verdict == verdict]
    verdicts = [(TONES[each.verdict], each.column.name, each.sentence(name)) for each in firm]
    return verdicts[:MOST_SENTENCES]


def tone(comparison: Comparison) -> str:
    """Of the headline: good or bad as the primary metric is; without one, where all verdicts say so."""
    if comparison.of_primary:
        return TONES.get(comparison.of_primary.verdict, "")
    found = {TONES[each.verdict] for each in comparison.metrics if each.verdict in TONES}
    return found.pop() if len(found) == 1 else ""


def forest(comparison: Comparison) -> DotIntervals | None:
    """The differences with their intervals on one axis: of metrics between -1 and 1 that changed on any question."""
    shared = [each for _, _, found in messages.groups(comparison) for each in found if _is_drawn(each)]
    lines = [_forest_line(each) for each in shared]
    if not lines:
        return None
    baseline, candidate = comparison.baseline.name, comparison.candidate.name
    return DotIntervals(
        f"Difference {candidate} minus {baseline}", "Each metric with its 95 % interval; the table above has the "
        "figures.",
        interval_scale(lines, also=(0.0,)), tuple(lines), reference=0.0, x_title=f"{candidate} minus {baseline}",
    )  # fmt: skip


def _is_drawn(found: MetricComparison) -> bool:
    low, high = found.column.low, found.column.high
    shares_axis = low is not None and high is not None and low >= -1 and high <= 1
    return shares_axis and found.difference.low is not None and found.verdict != "the same"


def _forest_line(found: MetricComparison) -> Line:
    column, difference = found.column, found.difference
    verdict = found.verdict if found.verdict in TONES else ""
    shown = f"{messages.signed(difference.mean, column)} {verdict}".strip()
    note = f"{column.name}: {shown} {messages.interval(difference.low, difference.high, column)}"
    name = f"{column.name} {ARROWS[column.better]}".strip()
    return Line(name, difference.mean, difference.low, difference.high, shown, TONES.get(found.verdict, ""), note=note)


def first_metric(comparison: Comparison) -> str | None:
    """The metric by which its questions are shown first: the primary one, else the one that changed most."""
    if comparison.of_primary is not None:
        return comparison.of_primary.column.name
    return comparison.rows[0].metric if comparison.rows else None


def operands(pairs: PairedRuns) -> Sequence[tuple[str, str, str, str]]:
    """Both sides: what they are called, run, status where it is not finished, and the file or database."""
    named = (("baseline", pairs.baseline), ("candidate", pairs.candidate))
    files = [Path(operand.run.origin) for _, operand in named]
    # One name in two files, as a database and its copy have, is told apart by the file.
    alone = pairs.baseline.run.run != pairs.candidate.run.run or files[0] == files[1]
    called = [file.name if files[0].name != files[1].name else str(file) for file in files]
    return [
        (name, operand.run.run if alone else f"{operand.run.run} of {called[place]}",
         "" if operand.run.status == "finished" else operand.run.status,
         "baseline file" if operand.is_baseline else "") for place, (name, operand) in enumerate(named)
    ]  # fmt: skip
