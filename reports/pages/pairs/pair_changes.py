"""Pair changes: what came out of comparing two sides, in the words and figures of ``proctor compare``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...comparing import comparison_words as words
from ...comparing.changed_rows import ChangedRow, ChangedRows
from ...comparing.comparison import Comparison
from ...comparing.metric_comparison import ALPHA, MetricComparison
from ...leaderboard import ARROWS, figure
from ..charts.intervals import DotIntervals, Line, interval_scale
from ..row_addresses import rows_address
from .paired_runs import BotPair, PairedRuns

TONES: Final = {"better": "good", "worse": "bad"}
MOST_SENTENCES: Final = 6  # verdicts that are told in words; the table has all


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A metric as a line of the table: all texts, as they are shown."""

    name: str
    arrow: str
    base: str
    head: str
    difference: str
    interval: str
    p: str
    is_significant: bool
    effect: str
    counts: str
    lost: int | None
    gained: int | None
    verdict: str
    tone: str
    missing: str
    links: dict[str, str]


@dataclass(frozen=True, slots=True)
class RowLine:
    """A question that changed: before and after, and where it is opened."""

    row: ChangedRow
    base: str
    head: str
    flip: str
    href: str


def metric_groups(pair: BotPair, comparison: Comparison) -> Iterator[tuple[str, list[MetricLine]]]:
    """The metrics by what became of them, as ``proctor compare`` has them: a heading with its lines."""
    for _, heading, found in words.groups(comparison):
        yield heading, [metric_line(each, pair, comparison) for each in found]


def metric_line(found: MetricComparison, pair: BotPair, comparison: Comparison) -> MetricLine:
    """One metric of a comparison as it is shown."""
    column, difference, missing = found.column, found.difference, found.missing
    adjusted = found.adjusted(comparison.correct)
    shows = {"lost": "lost", "gained": "gained", "all": "", "missing": "missing"}
    return MetricLine(
        name=column.name, arrow=ARROWS[column.better].strip(), base=figure(found.base_mean, column),
        head=figure(found.head_mean, column), difference=words.signed(difference.mean, column),
        interval=words.interval(difference.low, difference.high, column), p=words.p_value(adjusted),
        is_significant=adjusted is not None and adjusted <= ALPHA,
        effect="-" if difference.effect is None else f"{difference.effect:.2f}",
        counts=" / ".join(f"{number:,}" for number in found.wins_ties_losses),
        lost=found.pass_to_fail, gained=found.fail_to_pass, verdict=found.verdict,
        tone=TONES.get(found.verdict, ""),
        missing=f"{missing.both:,} of {comparison.questions:,}" if missing.both < comparison.questions else "",
        links={name: _link(pair, column.name, show) for name, show in shows.items()},
    )  # fmt: skip


def _link(pair: BotPair, metric: str, show: str = "", opened: str = "") -> str:
    """Where the list of questions shows them; blank where the page does not list both sides."""
    if len(pair.columns) < 2:
        return ""
    return rows_address(bot=pair.columns[1].name, metric=metric, show=show, open=opened)


def sentences(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The firm verdicts in words, what is worse first: tone, metric, sentence."""
    name = comparison.head.name
    firm = [each for verdict in ("worse", "better") for each in comparison.metrics if each.verdict == verdict]
    told = [(TONES[each.verdict], each.column.name, each.sentence(name)) for each in firm]
    return told[:MOST_SENTENCES]


def tone(comparison: Comparison) -> str:
    """Of the headline: good or bad where all verdicts say so."""
    found = {TONES[each.verdict] for each in comparison.metrics if each.verdict in TONES}
    return found.pop() if len(found) == 1 else ""


def forest(comparison: Comparison) -> DotIntervals | None:
    """The differences with their intervals on one axis: of metrics between -1 and 1 that changed on any question."""
    shared = [each for _, _, found in words.groups(comparison) for each in found if _is_drawn(each)]
    lines = [_forest_line(each) for each in shared]
    if not lines:
        return None
    base, head = comparison.base.name, comparison.head.name
    return DotIntervals(
        f"Difference {head} minus {base}", "Each metric with its 95 % interval; the table above has the figures.",
        interval_scale(lines, also=(0.0,)), tuple(lines), reference=0.0, x_title=f"{head} minus {base}",
    )  # fmt: skip


def _is_drawn(found: MetricComparison) -> bool:
    low, high = found.column.low, found.column.high
    shares_axis = low is not None and high is not None and low >= -1 and high <= 1
    return shares_axis and found.difference.low is not None and found.verdict != "the same"


def _forest_line(found: MetricComparison) -> Line:
    column, difference = found.column, found.difference
    verdict = found.verdict if found.verdict in TONES else ""
    shown = f"{words.signed(difference.mean, column)} {verdict}".strip()
    told = f"{column.name}: {shown} {words.interval(difference.low, difference.high, column)}"
    name = f"{column.name} {ARROWS[column.better]}".strip()
    return Line(name, difference.mean, difference.low, difference.high, shown, TONES.get(found.verdict, ""), note=told)


def changed_lines(
    pair: BotPair, comparison: Comparison, rows: ChangedRows
) -> list[tuple[str, list[RowLine]]]:  # fmt: skip
    """The questions that fell and rose most by a metric, each under its heading."""
    name = comparison.head.name
    made = ((f"Where {name} lost most", rows.losses), (f"Where {name} gained most", rows.gains))
    return [(heading, [_row(pair, comparison, rows.metric, row) for row in found]) for heading, found in made if found]


def _row(pair: BotPair, comparison: Comparison, metric: str, row: ChangedRow) -> RowLine:
    column = next(each.column for each in comparison.metrics if each.column.name == metric)
    href = _link(pair, metric, opened=row.key)
    flip = words.flip_words(row.flip).strip()
    return RowLine(row, figure(row.base_value, column), figure(row.head_value, column), flip, href)


def first_metric(comparison: Comparison) -> str | None:
    """The metric by which its questions are shown first: the primary one, else the one in which most happened."""
    if comparison.of_primary is not None:
        return comparison.of_primary.column.name
    return comparison.rows[0].metric if comparison.rows else None


def sides(pairs: PairedRuns) -> Sequence[tuple[str, str, str, str]]:
    """Both sides: what they are called, run, status where it is not finished, and the file or database."""
    named = (("base", pairs.base), ("head", pairs.head))
    return [
        (name, side.run.run, "" if side.run.status == "finished" else side.run.status,
         "baseline file" if side.is_baseline else "") for name, side in named
    ]  # fmt: skip
