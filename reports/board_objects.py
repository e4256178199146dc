"""Board objects: leaderboards as JSON and as tables of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..metrics.classification import ConfusionMatrix
from .boards import Board, BoardRow, BoolBoard, BoolRow, Cell, ClassificationBoard, ClassificationRow
from .leaderboard import ARROWS, figure
from .markdown_text import cell_code, code, prose
from .summary import MetricColumn

FILES = {"heatmap": "llm-heatmap-leaderboard", "bool": "llm-bool-leaderboard",
         "classification": "llm-classification-leaderboard"}  # fmt: skip
MOST_LABELS = 20  # a larger confusion matrix is for machines only
MOST_WEAK = 5  # rows of each metric that a page shows


def board_object(board: Board) -> dict[str, object]:
    """The whole board for machines: columns with direction, range and threshold, and values that are not rounded."""
    return {
        "evaluator": board.evaluator.id,
        "title": board.evaluator.title,
        "board": board.evaluator.board,
        "primary_metric": board.evaluator.primary,
        "metrics": [_column_object(column) for column in board.columns],
        "bots": [_row_object(row, board.columns) for row in board.rows],
        "weak_points": {
            weak.metric: {
                "row_count": weak.found.total,
                "rows": [{"bot": row.bot, **row.key._asdict(), "value": row.value} for row in weak.found.rows],
            }
            for weak in board.weak_points
        },
    }


def _column_object(column: MetricColumn) -> dict[str, object]:
    return {
        "metric": column.name,
        "better": column.better,
        "low": column.low,
        "high": column.high,
        "threshold": column.threshold,
        "threshold_is_default": column.threshold_is_default,
    }


def _row_object(row: BoardRow | BoolRow | ClassificationRow, columns: Sequence[MetricColumn]) -> dict[str, object]:
    made: dict[str, object] = {
        "bot": row.bot,
        "values": {column.name: _cell_object(cell) for column, cell in zip(columns, row.cells, strict=True)},
    }
    if isinstance(row, BoolRow):
        made["passes_parsed"] = row.passes_parsed
    elif isinstance(row, ClassificationRow):
        matrix = row.confusion
        made["confusion"] = matrix and {"labels": matrix.labels, "columns": matrix.columns, "counts": matrix.counts}
    return made


def _cell_object(cell: Cell) -> dict[str, object]:
    return {
        "value": cell.value,
        "position": cell.position,
        "n_ok": cell.n_ok,
        "n_not_applicable": cell.n_not_applicable,
        "n_parse_failure": cell.n_parse_failure,
        "n_failed": cell.n_failed,
    }


def board_markdown(board: Board) -> Iterator[str]:
    """The board as lines of Markdown: bots down, figures across; then what it was weak at."""
    parsed = isinstance(board, BoolBoard)
    headings = [f"{code(_short(column, board))} {ARROWS[column.better]}".strip() for column in board.columns]
    yield from table(["bot", *headings, *(["passes, parsed"] if parsed else [])], _lines(board), numbers=1)
    yield ""
    if isinstance(board, ClassificationBoard):
        for row in board.rows:
            yield from _confusion(row.bot, row.confusion)
    for weak in board.weak_points:
        rows = [
            f"{code(row.key.question_id, 60)} of {code(row.bot, 60)}"
            for row in weak.found.rows[:MOST_WEAK]
        ]  # fmt: skip
        more = f" and {weak.found.total - len(rows):,} more" if weak.found.total > len(rows) else ""
        yield f"- Weak in {code(weak.metric)}: {', '.join(rows)}{more}."


def _short(column: MetricColumn, board: Board) -> str:
    return column.name.rpartition(".")[2] if isinstance(board, BoolBoard) else column.name


def _lines(board: Board) -> Iterator[list[str]]:
    for row in board.rows:
        cells = [cell_text(cell, column) for cell, column in zip(row.cells, board.columns, strict=True)]
        if isinstance(row, BoolRow):
            cells.append("-" if row.passes_parsed is None else f"{row.passes_parsed:.2f}")
        yield [cell_code(row.bot, 60), *cells]


def cell_text(cell: Cell, column: MetricColumn) -> str:
    """An aggregate as a reader wants it: rounded, or a dash; never a number where there is none."""
    return "-" if cell.value is None else figure(cell.value, column)


def _confusion(bot: str, matrix: ConfusionMatrix | None) -> Iterator[str]:
    if matrix is None or not matrix.labels or len(matrix.columns) > MOST_LABELS:
        return
    yield f"What {prose(bot, 60)} answered (across) where each label was expected (down):"
    yield ""
    headings = ["", *(cell_code(column, 30) for column in matrix.columns)]
    lines = [
        [cell_code(label, 30), *map(str, counts)] for label, counts in zip(matrix.labels, matrix.counts, strict=True)
    ]
    yield from table(headings, lines, numbers=1)
    yield ""


def table(headings: Sequence[str], lines: Iterator[list[str]] | Sequence[list[str]], numbers: int) -> Iterator[str]:
    """A table of Markdown; columns from ``numbers`` on are set flush right."""
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join('---' if place < numbers else '--:' for place in range(len(headings)))}|"
    for line in lines:
        yield f"| {' | '.join(line)} |"
