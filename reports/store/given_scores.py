"""Given scores: what other tools gave recorded answers, stored as scores of metrics of their own."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ...knowledge.questions.rows import GivenScore
from ...metrics import Reason, Status
from .database import Store, insert_many, marks, transaction
from .encoding import storable, to_json
from .figures import note_changes
from .row_tables import DETAILS_COLUMNS, SCORE_COLUMNS, SCORED_ANEW
from .run_results import CHUNK, OpenRun

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
    scores: list[tuple[object, ...]] = []
    details: list[tuple[object, ...]] = []
    fine, missing = (Status.OK.value, None), (None, Status.NOT_APPLICABLE.value, Reason.NOT_IMPORTED.value)
    for reply_id, question_id, given in rows:
        for name, metric_id in metric_ids.items():
            value, reason, passed, _ = given.get(name, NO_SCORE)
            scores.append((reply_id, question_id, metric_id, *(missing if value is None else (value, *fine))))
            if reason or passed is not None:
                known = {"reason": storable(reason), "passed": passed}
                found = to_json({name: each for name, each in known.items() if each not in ("", None)})
                details.append((reply_id, question_id, metric_id, found))
    insert_many(connection, "INSERT INTO scores", SCORE_COLUMNS, scores, SCORED_ANEW)
    insert_many(connection, "INSERT OR REPLACE INTO score_details", DETAILS_COLUMNS, details)


def keep_given(store: Store, run: OpenRun, metric_ids: Mapping[str, int], rows: Iterable[GivenRow]) -> None:
    """Find the answers of a run by what was recorded of them, and store their given scores.

    Raises:
        StoreError: they can't be written.
    """
    chunk: list[GivenRow] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == CHUNK:
            _keep(store, run, metric_ids, chunk)
            chunk = []
    _keep(store, run, metric_ids, chunk)


def _keep(store: Store, run: OpenRun, metric_ids: Mapping[str, int], chunk: Sequence[GivenRow]) -> None:
    if not chunk:
        return
    hashes = [row.question_hash for row in chunk]
    lines = store.query(
        "SELECT run_rows.bot_id, question_hash, run_rows.repeat, reply_id, question_id FROM run_rows"
        f" JOIN replies ON replies.id = reply_id WHERE run_id = ? AND question_hash IN ({marks(hashes)})",
        [run.id, *hashes],
    )
    places = {(bot, ask, repeat): (reply, question) for bot, ask, repeat, reply, question in lines}
    found = ((places.get((run.bot_ids[row.bot], row.question_hash, row.repeat)), row.scores) for row in chunk)
    with transaction(store.path, store.connection):
        note_changes(store.connection, run.id, metric_ids.values())
        write_given(store.connection, metric_ids, ((*place, scores) for place, scores in found if place is not None))
