"""Labels: rows of a run for people to label on its page, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import orjson

from ..calibration.labels import label_order, row_cell, shown_rows
from .page import Section
from .rows import Column
from .templating import render

MOST_ROWS: Final = 200  # that a file offers; a server offers more
MOST_SERVED: Final = 2_000
SEED: Final = 0  # as of ``proctor label``
SCRIPTS: Final = ("label/sheet", "label/card", "label/pairs", "label/desk")
STYLES: Final = ("label",)

ANSWERED: Final = """
SELECT bots.name, questions.key, run_rows.repeat, run_rows.reply_id, run_rows.question_id FROM run_rows
JOIN bots ON bots.id = run_rows.bot_id
JOIN questions ON questions.id = run_rows.question_id
JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND replies.status = 'answered'"""


class _Answered(NamedTuple):
    bot: str
    question: str
    repeat: int
    reply_id: int
    question_id: int


def labels_section() -> Section:
    """The section; a script fills it."""
    return Section("label", "Label", render("label.html.j2"))


def label_block(columns: Sequence[Column], most: int = MOST_ROWS) -> bytes:
    """The rows that people label first, a JSON object; its form is written down in ``DATA.md``.

    Args:
        columns: of one run.
        most: how many rows.
    """
    run = columns[0].run
    places = {column.bot: place for place, column in enumerate(columns)}
    rows: dict[str, list[_Answered]] = {bot: [] for bot in places}
    for line in run.store.query(ANSWERED, [run.id]):
        if line[0] in places:
            rows[line[0]].append(_Answered(*line))
    order = label_order(rows, SEED)
    shown = shown_rows(run.store, order[:most])
    summaries = run.store.query(
        "SELECT name, summary FROM run_metrics JOIN metrics ON metrics.id = metric_id WHERE run_id = ?", [run.id]
    )
    return orjson.dumps(
        {
            "seed": SEED,
            "summaries": dict(summaries),
            "rows": [[places[row.bot], row.question_id, row.repeat, row_cell(row, shown[row])] for row in order[:most]],
            "left_out": max(0, len(order) - most),
        }
    )
