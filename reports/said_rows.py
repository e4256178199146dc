"""Said rows: what was asked and said in some rows of a bot, cut to a length, read by their keys."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from .reported_run import ReportedRun
from .row_keys import RowKey
from .store import marks

CHUNK: Final = 400  # keys read at once: SQLite's oldest limit on bound values is 999


class SaidRow(NamedTuple):
    """A question with its answer, or with the error where there is none."""

    question: str
    said: str
    is_answer: bool


SAID = """
SELECT questions.key, run_rows.repeat, substr(questions.text, 1, ?),
    substr(IFNULL(CASE replies.status WHEN 'answered' THEN replies.answer ELSE replies.error END, ''), 1, ?),
    replies.status = 'answered'
FROM run_rows
JOIN questions ON questions.id = run_rows.question_id
JOIN replies ON replies.id = run_rows.reply_id
WHERE run_rows.run_id = ? AND run_rows.bot_id = ? AND questions.key IN ({keys})"""


def said_rows(run: ReportedRun, bot: str, keys: Collection[RowKey], longest: int) -> dict[RowKey, SaidRow]:
    """What was asked and said in the rows of a bot; each text cut to ``longest`` characters and one more."""
    questions = sorted({key.question_id for key in keys})
    found: dict[RowKey, SaidRow] = {}
    for start in range(0, len(questions), CHUNK):
        chunk = questions[start : start + CHUNK]
        arguments = [longest + 1, longest + 1, run.id, run.bot_ids[bot], *chunk]
        for key, repeat, question, said, is_answer in run.store.query(SAID.format(keys=marks(chunk)), arguments):
            found[RowKey(key, repeat)] = SaidRow(question, said, bool(is_answer))
    return found
