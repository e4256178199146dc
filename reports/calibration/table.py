"""Calibration table: how a judge compares with people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..leaderboard import figure
from ..statistics.agreement import Estimate, Share
from ..summary import MetricColumn
from ..table import BLANK, Block, Column, RowGroup, Sentence, Table, quoted
from .calibration import Calibration

ALL_BOTS = "all bots"


def calibration_table(found: Sequence[Calibration], column: MetricColumn, judge: str = "") -> Iterator[Block]:
    """Figures in rows, bots in columns; then what they are, and the warnings."""
    names = (ALL_BOTS if each.bot is None else quoted(each.bot, 60, "bold") for each in found)
    yield Table(
        [Column("", "name"), *(Column(name, "figures") for name in names)],
        [[name, *cells] if cells else RowGroup(name, "") for name, cells in _lines(found, column, judge)],
    )
    yield BLANK
    yield from (Sentence(line, "dim") for line in _legend(found))
    yield from (Sentence(line, "warning") for line in warnings_of(found))


def warnings_of(found: Sequence[Calibration]) -> list[str]:
    """The warnings: each sentence once, with the bots that it applies to."""
    bots: dict[str, list[str]] = {}
    for each in found:
        if each.bot is None:  # the warnings of all bots together repeat those of the single bots
            continue
        for warning in each.warnings:
            bots.setdefault(warning, []).append(each.bot)
    return [f"{', '.join(names)}: {warning}" for warning, names in bots.items()]


def _lines(found: Sequence[Calibration], column: MetricColumn, judge: str) -> Iterator[tuple[str, list[str]]]:
    yield "labels", [f"{each.labels:,} of {each.labels + each.others:,}" for each in found]
    if any(each.confusion.count for each in found):
        yield "agreement", [_share(each.confusion.agreement) for each in found]
        yield (
            "Cohen's kappa",
            ["-" if each.confusion.kappa is None else f"{each.confusion.kappa:.2f}" for each in found],
        )
        yield "sensitivity", [_share(each.confusion.sensitivity) for each in found]
        yield "specificity", [_share(each.confusion.specificity) for each in found]
    if any(each.unreadable for each in found):
        yield "unreadable", [f"{each.unreadable:,} left out" for each in found]
    is_mean = found[0].measure == "mean"
    shown = column if is_mean else _share_column(column)
    yield "mean" if is_mean else "share that passes", []
    yield f"  {'judge' if judge else 'metric'} alone", [figure(each.judge_mean, shown) for each in found]
    yield "  labels alone", [_estimate(each.people, shown) for each in found]
    yield "  corrected", [_estimate(each.corrected, shown) for each in found]


def _share_column(column: MetricColumn) -> MetricColumn:
    return MetricColumn(column.name, column.version, "higher", 0.0, 1.0, None)


def _share(share: Share | None) -> str:
    return "-" if share is None else f"{share.value:.2f} {_bound(f'{share.low:.2f}')}-{_bound(f'{share.high:.2f}')}"


def _estimate(estimate: Estimate, column: MetricColumn) -> str:
    low, high = (_bound(figure(value, column)) for value in (estimate.low, estimate.high))
    return f"{figure(estimate.mean, column)} {low}-{high}"


def _bound(text: str) -> str:
    return text.removeprefix("0") or "0"


def _legend(found: Sequence[Calibration]) -> Iterator[str]:
    if any(each.confusion.count for each in found):
        yield "sensitivity: of the rows that people pass, the share that the judge passes"
        yield "specificity: of the rows that people fail, the share that the judge fails"
    yield "corrected: estimated verdict of people on all rows, from labels and judge (95 %)"
