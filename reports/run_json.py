"""Run JSON: a run as one object: summary, boards, problems, insights, how it came about, and every row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import orjson

from .board_objects import board_object
from .findings import insight_object, problem_object
from .frames import frame_rows, row_json
from .report import Report
from .summary_object import as_object
from .surveys.kept_surveys import survey_of_run
from .surveys.survey_summary import survey_object


def run_object(report: Report) -> dict[str, object]:
    """All that is told of the run but its rows."""
    summary = as_object(report.run.summary)
    survey = survey_of_run(report.run.store, report.run.id) if report.timed else None
    return {
        **summary,
        "started_at": report.started_at,
        "finished_at": report.finished_at,
        "manifest": report.manifest,
        "bot_records": [asdict(bot) for bot in report.bots],
        "evaluators": [
            {**board_object(board), "problem_type": board.evaluator.problem_type,
             "parameters": dict(board.evaluator.parameters)}
            for board in report.boards
        ],
        "problems": [problem_object(problem) for problem in report.findings.problems],
        "insights": [insight_object(insight) for insight in report.findings.insights],
        "knowledge": None if survey is None else survey_object(survey),
    }  # fmt: skip


def run_json(report: Report) -> Iterator[bytes]:
    """The object in pieces, its rows last, one a line: so a run of any size is written in little memory."""
    head = as_json(run_object(report)).rstrip()
    yield head.removesuffix(b"}").rstrip() + b',\n  "rows": ['
    separator = b"\n"
    for row in frame_rows(report.run, report.metrics):
        yield separator + row_json(row, report.metrics)
        separator = b",\n"
    yield b"\n]}\n"


def as_json(value: object) -> bytes:
    """Indented JSON with a line end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
