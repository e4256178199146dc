"""Labels: rows of a run for people to label on its page, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import orjson

from ..calibration.labels import drawn, label_order, row_cell, shown_rows
from .page import Section, render
from .rows import Column

MOST_ROWS: Final = 200  # that a file offers; a server offers more
MOST_SERVED: Final = 2_000
SEED: Final = 0  # as of ``proctor label``
SCRIPTS: Final = ("label/sheet", "label/card", "label/pairs", "label/desk")
STYLES: Final = ("label",)

ANSWERED: Final = """
SELECT questions.key, run_rows.repeat, run_rows.reply_id, run_rows.question_id FROM run_rows
JOIN questions ON questions.id = run_rows.question_id
JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND replies.status = 'answered'"""
COUNTED: Final = """
SELECT COUNT(*) FROM run_rows JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND replies.status = 'answered'"""


class _Answered(NamedTuple):
    bot: str
    question: str
    repeat: int
    reply_id: int
    question_id: int


def labels_section() -> Section:
    """The section; a script fills it."""
    return Section("Label", render("label.html.j2"))


def label_block(columns: Sequence[Column], most: int = MOST_ROWS) -> bytes:
    """The rows that people label first, a JSON object; its form is written down in ``DATA.md``."""
    run = columns[0].run
    places = {column.bot: place for place, column in enumerate(columns)}
    # Of each bot as many as there may be, however many rows it has.
    rows = {
        bot: drawn(
            (_Answered(bot, *line) for line in run.store.connection.execute(ANSWERED, [run.id, run.bot_ids[bot]])),
            SEED,
            most,
        )
        for bot in places
    }
    every = sum(run.store.query(COUNTED, [run.id, run.bot_ids[bot]])[0][0] for bot in places)
    order = label_order(rows, SEED)[:most]
    shown = shown_rows(run.store, order)
    summaries = run.store.query(
        "SELECT name, summary FROM run_metrics JOIN metrics ON metrics.id = metric_id WHERE run_id = ?", [run.id]
    )
    return orjson.dumps(
        {
            "seed": SEED,
            "summaries": dict(summaries),
            "rows": [[places[row.bot], row.question_id, row.repeat, row_cell(row, shown[row])] for row in order],
            "left_out": every - len(order),
        }
    )
