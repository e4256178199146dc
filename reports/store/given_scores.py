"""Given scores: what other tools gave recorded answers, stored as scores of metrics of their own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...knowledge import encodable
from ...knowledge.questions.rows import GivenScore
from ...metrics import Reason, Status
from .database import Lines, Store, in_parts, insert_lines, insert_many, marks, transaction
from .encoding import to_json
from .figures import note_changes
from .row_tables import DETAILS_COLUMNS, SCORE_COLUMNS, SCORED_ANEW
from .run_results import OpenRun

GivenValues = tuple[float | None, str, bool | None, float | None]  # of a ``GivenScore``, which is one
NO_SCORE: Final[GivenValues] = GivenScore(None)


class GivenRow(NamedTuple):
    """The scores of one answer: by the names that its metrics have in the run."""

    bot: str
    question_hash: bytes
    repeat: int
    scores: Mapping[str, GivenScore]


def write_given(
    connection: sqlite3.Connection,
    metric_ids: Mapping[str, int],
    rows: Iterable[tuple[int, int, Mapping[str, GivenValues]]],
) -> None:
    """Write the scores of rows by (reply, question), in the place of earlier ones; within a transaction of the caller.

    Every row gets a score of every metric: without a value where the other tool gave none.
    """
    names, missing = list(metric_ids), Reason.NOT_IMPORTED.value
    found = [
        (reply_id, question_id, metric_ids[name], given.get(name, NO_SCORE))
        for reply_id, question_id, given in rows
        for name in names
    ]
    values = [score[0] for *_, score in found]
    fine, none = Status.OK.value, Status.NOT_APPLICABLE.value
    status = [none if value is None else fine for value in values]
    reasons = [missing if value is None else None for value in values]
    keys = zip(*(line[:3] for line in found), strict=True)
    scores = Lines.by(len(found), [*keys, values, status, reasons])
    insert_lines(connection, "INSERT INTO scores", SCORE_COLUMNS, scores, SCORED_ANEW)
    details = [
        (
            *line,
            to_json(({"reason": encodable(reason)} if reason else {}) | ({} if passed is None else {"passed": passed})),
        )
        for *line, (_, reason, passed, _) in found
        if reason or passed is not None
    ]
    insert_many(connection, "INSERT OR REPLACE INTO score_details", DETAILS_COLUMNS, details)


def keep_given(store: Store, run: OpenRun, metric_ids: Mapping[str, int], rows: Iterable[GivenRow]) -> None:
    """Find the answers of a run by what was recorded of them, and store their given scores.

    Raises:
        StoreError: they can't be written.
    """
    for part in in_parts(rows):
        _keep(store, run, metric_ids, part)


def _keep(store: Store, run: OpenRun, metric_ids: Mapping[str, int], rows: Sequence[GivenRow]) -> None:
    hashes = [row.question_hash for row in rows]
    lines = store.query(
        "SELECT run_rows.bot_id, question_hash, run_rows.repeat, reply_id, question_id FROM run_rows"
        f" JOIN replies ON replies.id = reply_id WHERE run_id = ? AND question_hash IN ({marks(hashes)})",
        [run.id, *hashes],
    )
    places = {(bot, ask, repeat): (reply, question) for bot, ask, repeat, reply, question in lines}
    found = ((places.get((run.bot_ids[row.bot], row.question_hash, row.repeat)), row.scores) for row in rows)
    with transaction(store.path, store.connection):
        note_changes(store.connection, run.id, metric_ids.values())
        write_given(store.connection, metric_ids, ((*place, scores) for place, scores in found if place is not None))
