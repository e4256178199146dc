"""Confidence: how sure a bot said it was, row by row, as its trace or its retriever tells."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ..comparing.score_table import Figures, RunTables, ScoreTable
from ..store import Store

KEYS: Final = ("confidence", "similarity", "score", "best_score")  # of a trace, the plainest first
RETRIEVER: Final = "score of the first context"

TRACED: Final = """
SELECT questions.key, run_rows.repeat, {columns} FROM run_rows
JOIN runs ON runs.id = run_rows.run_id JOIN bots ON bots.id = run_rows.bot_id
JOIN replies ON replies.id = reply_id JOIN questions ON questions.id = question_id
WHERE runs.name = ? AND bots.name = ? AND replies.status = 'answered'"""
OF_TRACE: Final = "CASE WHEN json_type(trace, '$.{key}') IN ('integer', 'real') THEN json_extract(trace, '$.{key}') END"
OF_CONTEXT: Final = "(SELECT MAX(score) FROM contexts WHERE contexts.reply_id = replies.id)"
SETTING: Final = """
SELECT json_extract(settings, '$.min_similarity') FROM bots JOIN run_bots ON bots.id = bot_id
JOIN runs ON runs.id = run_id WHERE runs.name = ? AND bots.name = ?"""


@dataclass(frozen=True)
class Confidence:
    """How sure a bot was.

    Attributes:
        bot: its name.
        key: what tells it: a key of the trace, or the score of the first context.
        values: of shape (questions, repeats); NaN where it does not tell.
        floor: below which the bot declines of its own, as an FAQ bot does below its ``min_similarity``; None where it
            has no such setting.
    """

    bot: str
    key: str
    values: Figures
    floor: float | None = None


def confidences(run: RunTables) -> dict[str, Confidence]:
    """The confidence of each bot that tells one; none of a baseline file, which has no traces."""
    path = Path(run.origin)
    if not path.is_file() or path.suffix.lower() == ".json":
        return {}
    with contextlib.closing(Store.open(path, create=False)) as store:
        found = {bot: _confidence(store, run.run, table) for bot, table in run.tables.items()}
    return {bot: each for bot, each in found.items() if each is not None}


def _confidence(store: Store, run: str, table: ScoreTable) -> Confidence | None:
    columns = [OF_TRACE.format(key=key) for key in KEYS]
    lines = store.query(TRACED.format(columns=", ".join([*columns, OF_CONTEXT])), [run, table.bot])
    made = np.full((len(KEYS) + 1, *table.asked.shape), np.nan)
    for key, repeat, *figures in lines:
        made[:, table.places[key], repeat] = [np.nan if figure is None else figure for figure in figures]
    told = np.isfinite(made).sum(axis=(1, 2))
    if not told.any():
        return None
    place = int(np.argmax(told == told.max()))  # what is told of most rows; of equals the plainest
    ((floor,),) = store.query(SETTING, [run, table.bot])
    name = (*KEYS, RETRIEVER)[place]
    known = floor if name == "similarity" and isinstance(floor, (int, float)) else None
    return Confidence(table.bot, name, made[place], known)
