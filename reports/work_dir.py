"""Work directory: every file of a report, laid out in a folder; rows are read once and written to all frames."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from .board_objects import FILES, board_markdown, board_object
from .boards import Board
from .file_names import file_names
from .findings import insight_object, problem_object
from .frames import FrameRow, about_csv, about_json, csv_heading, csv_line, frame_rows, row_csv, row_json
from .judging.judge_files import write_judge_files
from .markdown import markdown
from .markdown_text import prose
from .report import Report
from .run_json import as_json
from .summary import MetricColumn
from .trust.corrected import KeptCalibration

FRAME = "llm-eval-results"  # the names of the outputs are those of the H2O evaluators page
PROBLEM_CELLS = (
    "id", "severity", "type", "evaluator", "metric", "bot", "threshold", "value", "row_count", "what", "action",
)  # fmt: skip
INSIGHT_CELLS = ("id", "type", "evaluator", "metric", "bot", "text")
LEFT_OUT = (
    "The name and dates of the run, its machine and command, and all measured times, so that equal runs give equal"
    " bytes. They are in the database and in the JSON of 'proctor report'."
)


def fill_csv_folder(report: Report, folder: Path) -> None:
    """``rows.csv`` with all metrics, ``leaderboard.csv``, ``problems.csv``, ``insights.csv``, and below ``evaluators``
    the frame of each evaluator of several metrics.
    """  # noqa: D205 - one sentence that needs two lines
    with _frames() as frames:
        frames.open(folder / "rows.csv", report.metrics)
        for evaluator, name in _named(report):
            if len(evaluator.columns) > 1 and _saves_rows(evaluator):
                (folder / "evaluators").mkdir(exist_ok=True)
                frames.open(folder / "evaluators" / f"{name}.csv", _metrics_of(report, evaluator))
        frames.fill(frame_rows(report.run, report.metrics))
    problems = [problem_object(problem) for problem in report.findings.problems]
    insights = [insight_object(insight) for insight in report.findings.insights]
    _write_table(folder / "leaderboard.csv", LEADERBOARD_CELLS, _leaderboard(report))
    _write_table(folder / "problems.csv", PROBLEM_CELLS, ([each[name] for name in PROBLEM_CELLS] for each in problems))
    _write_table(folder / "insights.csv", INSIGHT_CELLS, ([each[name] for name in INSIGHT_CELLS] for each in insights))


def fill_work_dir(report: Report, folder: Path) -> None:
    """A folder for each evaluator with all its outputs, and beside them what concerns the whole run."""
    named = _named(report)
    for board, name in named:
        (folder / "evaluators" / name).mkdir(parents=True)
        _write_evaluator(report, board, folder / "evaluators" / name)
    with _frames() as frames:
        for board, name in named:
            if _saves_rows(board):
                for ending in ("csv", "json"):
                    frames.open(folder / "evaluators" / name / f"{FRAME}.{ending}", _metrics_of(report, board))
        frames.fill(frame_rows(report.run, report.metrics))
    (folder / "problems.json").write_bytes(as_json([problem_object(each) for each in report.findings.problems]))
    (folder / "insights.json").write_bytes(as_json([insight_object(each) for each in report.findings.insights]))
    (folder / "report.md").write_bytes(markdown(report).encode())
    (folder / "manifest.json").write_bytes(as_json(_manifest(report, named)))
    _write_prompts(report, folder)
    write_judge_files(report.run, folder / "judge")


def _write_evaluator(report: Report, board: Board, folder: Path) -> None:
    id = board.evaluator.id
    leaderboard = FILES.get(board.evaluator.board, FILES["heatmap"])
    (folder / f"{leaderboard}.json").write_bytes(as_json(board_object(board)))
    page = [f"## {prose(board.evaluator.title)}", "", *board_markdown(board), ""]
    (folder / f"{leaderboard}.md").write_bytes("\n".join(page).encode())
    problems = [problem_object(each) for each in report.findings.problems if each.evaluator == id]
    insights = [insight_object(each) for each in report.findings.insights if each.evaluator == id]
    (folder / "problems.json").write_bytes(as_json(problems))
    (folder / "insights.json").write_bytes(as_json(insights))
    columns = [report.run.columns[name] for name in board.evaluator.metrics]
    parameters = {
        "evaluator": id,
        "title": board.evaluator.title,
        "primary_metric": board.evaluator.primary,
        "parameters": dict(board.evaluator.parameters),
        "metrics": {column.name: _metric(column) for column in columns},
    }
    (folder / "parameters.json").write_bytes(as_json(parameters))


def _metric(column: MetricColumn) -> dict[str, object]:
    return {
        "version": column.version, "threshold": column.threshold,
        "threshold_is_default": column.threshold_is_default,
    }  # fmt: skip


def _write_prompts(report: Report, folder: Path) -> None:
    names = file_names([bot.name for bot in report.bots])
    for bot in report.bots:
        prompts = file_names(list(bot.prompts))
        for name, text in bot.prompts.items():
            place = folder / "prompts" / names[bot.name]
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{prompts[name]}.md").write_bytes(text.encode("utf-8", "replace"))


def _manifest(report: Report, named: Sequence[tuple[Board, str]]) -> dict[str, object]:
    kept = ("proctor", "python", "packages", "settings")
    return {
        **{name: report.manifest[name] for name in kept if name in report.manifest},
        "suite": report.run.summary.suite,
        "status": report.run.summary.status,
        "questions": report.run.summary.questions,
        "rows": {bot.name: bot.rows for bot in report.run.bots},
        "bots": [
            {"name": bot.name, "kind": bot.kind, "model": bot.model, "embedded": bot.embedded,
             "models": bot.models, "settings": bot.settings, "parts": bot.parts, "prompts": sorted(bot.prompts)}
            for bot in report.bots
        ],
        "evaluators": {name: board.evaluator.id for board, name in named},
        "left_out": LEFT_OUT,
    }  # fmt: skip


LEADERBOARD_CELLS = (
    "bot", "metric", "better", "threshold", "mean", "ci_low", "ci_high", "n_ok", "n_not_applicable", "n_failed",
    "corrected", "corrected_ci_low", "corrected_ci_high", "corrected_measure", "labels", "stale",
)  # fmt: skip


def _leaderboard(report: Report) -> Iterator[Sequence[object]]:
    for bot in report.run.bots:
        for name in report.metrics:
            column, metric = report.run.columns[name], bot.metrics[name]
            yield (
                bot.name, name, column.better, column.threshold, metric.mean, metric.ci_low, metric.ci_high,
                metric.n_ok, metric.n_not_applicable, metric.n_failed, *_corrected(metric.calibration),
            )  # fmt: skip


def _corrected(found: KeptCalibration | None) -> Sequence[object]:
    if found is None:
        return [None] * 6
    return [found.corrected, found.low, found.high, found.measure, found.labels, found.stale or None]


def _write_table(path: Path, headings: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    with path.open("wb") as file:
        file.write("\N{ZERO WIDTH NO-BREAK SPACE}".encode() + csv_line(headings))
        file.writelines(csv_line(line) for line in lines)


class _Frames:
    """Frames that are open at once, so that the rows are read only once for all of them."""

    def __init__(self, files: contextlib.ExitStack) -> None:
        self._files = files
        self._open: list[tuple[BinaryIO, Sequence[str], bool]] = []

    def open(self, path: Path, metrics: Sequence[str]) -> None:
        file = self._files.enter_context(path.open("wb"))
        as_csv = path.suffix == ".csv"
        file.write(csv_heading(metrics) if as_csv else b"[")
        self._open.append((file, metrics, as_csv))

    def fill(self, rows: Iterable[FrameRow]) -> None:
        separator = b"\n"
        for row in rows:
            in_csv, in_json = about_csv(row), about_json(row)
            for file, metrics, as_csv in self._open:
                file.write(row_csv(row, metrics, in_csv) if as_csv else separator + row_json(row, metrics, in_json))
            separator = b",\n"
        for file, _, as_csv in self._open:
            if not as_csv:
                file.write(b"\n]\n")


@contextlib.contextmanager
def _frames() -> Iterator[_Frames]:
    with contextlib.ExitStack() as files:
        yield _Frames(files)


def _named(report: Report) -> list[tuple[Board, str]]:
    """The boards with the names of their folders."""
    names = file_names([board.evaluator.id for board in report.boards])
    return [(board, names[board.evaluator.id]) for board in report.boards]


def _metrics_of(report: Report, board: Board) -> list[str]:
    return [name for name in report.metrics if name in board.evaluator.metrics]


def _saves_rows(board: Board) -> bool:
    return board.evaluator.parameters.get("save_rows", True) is not False
