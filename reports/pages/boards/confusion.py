"""Confusion: what a bot answered where each label was expected, cut to what a page has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ....metrics.classification import ConfusionMatrix
from ...boards import ClassificationBoard

MOST_LABELS: Final = 20
MOST_OTHERS: Final = 5  # predictions that are no label


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """One count; ``heat`` is its share of the label's rows as a shade: blue where right, orange where wrong."""

    count: int
    is_right: bool
    heat: int


@dataclass(frozen=True, slots=True)
class ConfusionLine:
    """One expected label with what was answered; ``rest`` counts answers that have no column."""

    label: str
    cells: tuple[ConfusionCell, ...]
    rest: int
    total: int


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """One bot.

    Attributes:
        bot: its name.
        columns: answers, the labels first.
        labels: how many of the columns are labels.
        lines: by label.
        has_rest: whether there are answers without a column.
        cut: what is not shown, as a sentence; empty where all is.
    """

    bot: str
    columns: tuple[str, ...]
    labels: int
    lines: tuple[ConfusionLine, ...]
    has_rest: bool
    cut: str


def confusions(board: ClassificationBoard) -> list[ConfusionTable]:
    """The matrix of each bot that has one."""
    return [
        _table(row.bot, row.confusion) if row.confusion else _too_large(row.bot)
        for row in board.rows
        if row.confusion is None or row.confusion.labels
    ]  # fmt: skip


def _too_large(bot: str) -> ConfusionTable:
    cut = "The matrix is too large for a page: most answers are no label. The list of questions shows them."
    return ConfusionTable(bot, (), 0, (), False, cut)


def _table(bot: str, matrix: ConfusionMatrix) -> ConfusionTable:
    across = [sum(column) for column in zip(*matrix.counts, strict=True)]
    labels = _largest([sum(counts) for counts in matrix.counts], range(len(matrix.labels)), MOST_LABELS)
    others = _largest(across, range(len(matrix.labels), len(matrix.columns)), MOST_OTHERS)
    columns = [*labels, *others]
    lines = tuple(_line(matrix, label, columns) for label in labels)
    return ConfusionTable(
        bot, tuple(matrix.columns[place] for place in columns), len(labels), lines,
        any(line.rest for line in lines), _cut(matrix, len(labels), len(others)),
    )  # fmt: skip


def _largest(sizes: Sequence[int], places: range, most: int) -> list[int]:
    """The places of the largest, in the order in which they stand."""
    return sorted(sorted(places, key=lambda place: (-sizes[place], place))[:most])


def _line(matrix: ConfusionMatrix, label: int, columns: Sequence[int]) -> ConfusionLine:
    counts = matrix.counts[label]
    total = sum(counts)
    cells = tuple(_cell(counts[column], total, is_right=column == label) for column in columns)
    return ConfusionLine(matrix.labels[label], cells, total - sum(cell.count for cell in cells), total)


def _cell(count: int, total: int, *, is_right: bool) -> ConfusionCell:
    shade = int(5 * count / total + 0.5) if total else 0
    return ConfusionCell(count, is_right, 5 + shade if is_right else 5 - shade)


def _cut(matrix: ConfusionMatrix, labels: int, others: int) -> str:
    said = []
    if labels < len(matrix.labels):
        said.append(f"the {labels} commonest of {len(matrix.labels):,} labels")
    if others < (strange := len(matrix.columns) - len(matrix.labels)):
        said.append(f"the {others} commonest of {strange:,} answers that are no label")
    return f"Shown are {' and '.join(said)}." if said else ""
