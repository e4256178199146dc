"""Heatmap: every figure of a run, metrics down and bots across, each with its place between the worst and the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ...boards import Board, BoardRow, BoolBoard, BoolRow, Cell, ClassificationBoard, ClassificationRow, HeatmapBoard
from ...failures import ERROR_RATE
from ...report import Report
from ...reported_run import misses
from ...run import RunEvaluator
from ...summary import MetricColumn
from ...thresholds import figure_apart

SHADES: Final = 10  # the worst bot is heat-0, the best heat-10

AnyRow = BoardRow | BoolRow | ClassificationRow


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One figure of one bot.

    Attributes:
        bot: its name.
        cell: the figure with its counts.
        text: the figure rounded, but never so far that it seems to be beyond its threshold; empty without one.
        heat: shade from 0 (worst bot) to 10 (best); None without a value.
        is_missed: whether the figure misses the threshold of its metric.
        asks: what the list of questions is asked for to show the rows behind it, worst first.
    """

    bot: str
    cell: Cell
    text: str
    heat: int | None
    is_missed: bool
    asks: dict[str, str]

    @property
    def missing(self) -> int:
        """How many rows have no value."""
        return self.cell.n_not_applicable + self.cell.n_failed


@dataclass(frozen=True, slots=True)
class HeatLine:
    """One metric with a cell for each bot."""

    column: MetricColumn
    cells: tuple[HeatCell, ...]

    @property
    def is_empty(self) -> bool:
        """Whether no bot has a value."""
        return all(cell.cell.value is None for cell in self.cells)


@dataclass(frozen=True, slots=True)
class HeatGroup:
    """One evaluator with its metrics."""

    evaluator: RunEvaluator
    lines: tuple[HeatLine, ...]


@dataclass(frozen=True, slots=True)
class Heatmap:
    """All evaluators of a run.

    Attributes:
        bots: the best first, by the metric that the verdict rests on.
        groups: the metrics that have a value for some bot.
        empty: those that have none for any.
    """

    bots: tuple[str, ...]
    groups: tuple[HeatGroup, ...]
    empty: tuple[HeatLine, ...]


def heatmap(report: Report) -> Heatmap:
    """The heatmap over all boards; of a boolean evaluator only what ranks the bots, its rates have a board."""
    bots = _best_first(report)
    groups = [HeatGroup(board.evaluator, _lines(board, bots)) for board in report.boards]
    empty = {line.column.name: line for group in groups for line in group.lines if line.is_empty}
    primary = report.run.summary.primary
    groups.sort(key=lambda group: primary is None or all(line.column.name != primary.name for line in group.lines))
    valued = (HeatGroup(each.evaluator, tuple(line for line in each.lines if not line.is_empty)) for each in groups)
    return Heatmap(bots, tuple(group for group in valued if group.lines), tuple(empty.values()))


def _best_first(report: Report) -> tuple[str, ...]:
    """The bots by the metric that the verdict rests on; where it ranks no board, as the first board has them."""
    lead = report.run.summary.primary
    boards = [board for board in report.boards if lead and board.evaluator.primary == lead.name] or report.boards
    return tuple(row.bot for row in boards[0].rows) if boards else ()


def board_cells(board: Board, row: AnyRow) -> tuple[HeatCell, ...]:
    """The cells of one bot in the order of the board's columns."""
    return tuple(
        _heat_cell(board, row.bot, column, cell) for column, cell in zip(board.columns, row.cells, strict=True)
    )


def boards_with_values(boards: Sequence[Board], kind: type[BoolBoard] | type[ClassificationBoard]) -> list[Board]:
    """The boards of a kind on which some bot has a figure."""
    return [
        board for board in boards
        if isinstance(board, kind) and any(cell.value is not None for row in board.rows for cell in row.cells)
    ]  # fmt: skip


def _lines(board: Board, bots: Sequence[str]) -> tuple[HeatLine, ...]:
    by_bot = {row.bot: board_cells(board, row) for row in board.rows}
    lines = (
        HeatLine(column, tuple(by_bot[bot][place] for bot in bots))
        for place, column in enumerate(board.columns)
    )  # fmt: skip
    if isinstance(board, BoolBoard):
        return tuple(line for line in lines if line.column.name == board.evaluator.primary)
    return tuple(lines)


def _heat_cell(board: Board, bot: str, column: MetricColumn, cell: Cell) -> HeatCell:
    is_missed = misses(cell.value, column.of_suite)
    text = "" if cell.value is None else figure_apart(cell.value, column)
    heat = None if cell.position is None else int(cell.position * SHADES + 0.5)
    return HeatCell(bot, cell, text, heat, is_missed, _asks(board, bot, column, cell))


def _asks(board: Board, bot: str, column: MetricColumn, cell: Cell) -> dict[str, str]:
    """Rows are sorted by a metric of rows; figures of a whole run have none, but those of labels do."""
    if column.level == "row":
        rest = {"show": "missing"} if cell.value is None else {"sort": "value"}
        return {"bot": bot, "metric": column.name, **rest}
    if not isinstance(board, HeatmapBoard) and "row_correct" in board.evaluator.metrics:
        return {"bot": bot, "metric": "row_correct", "sort": "value"}
    return {"bot": bot, "show": "errors"} if column.name == ERROR_RATE else {"bot": bot}
