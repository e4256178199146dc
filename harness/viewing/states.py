"""States: how far runs are, and a tag that changes with all that a page shows of them; cheap to ask for."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import orjson

from ...reports.pages.runs.run_lines import expected_rows
from ...reports.store import Store, marks


class State(TypedDict):
    """What a page is told of its runs.

    ``tag`` changes when there is something new to show; ``rows`` and ``expected`` are those of the runs that go on,
    or of all where none does; ``expected`` is None where that is not known. ``silence`` is the seconds since anything
    was written to the database: a run that was killed goes on for its status, but writes nothing.
    """

    tag: str
    status: str
    running: bool
    rows: int
    expected: int | None
    silence: int


def state_of(store: Store, run_ids: Sequence[int]) -> State:
    """The state of runs that one page shows."""
    lines = store.query(f"SELECT id, status, manifest FROM runs WHERE id IN ({marks(run_ids)})", run_ids)
    shown = [line for line in lines if line[1] == "running"] or lines
    expected = [expected_rows(orjson.loads(manifest)) for _, _, manifest in shown]
    known = [number for number in expected if number is not None]
    return {
        "tag": tag_of(store, run_ids),
        "status": str(shown[-1][1]) if shown else "finished",
        "running": any(status == "running" for _, status, _ in lines),
        "rows": sum(_rows(store, run_id) for run_id, _, _ in shown),
        "expected": sum(known) if known and len(known) == len(expected) else None,
        "silence": _silence(store.path),
    }


def _silence(path: Path) -> int:
    """Seconds since the database was last written to, by whomever."""
    log = Path(f"{path}-wal")
    written = [each.stat() for each in (path, log) if each.exists()]
    last = max((each.st_mtime for each in written if each.st_size), default=time.time())
    return max(0, int(time.time() - last))


def state_of_all(store: Store) -> State:
    """The state of a database: of the runs that go on, and of the list of all."""
    running = [int(run_id) for (run_id,) in store.query("SELECT id FROM runs WHERE status = 'running'")]
    return {**state_of(store, running), "tag": tag_of_all(store)}


def tag_of(store: Store, run_ids: Sequence[int]) -> str:
    """What changes with the rows, scores, findings, calibrations and surveys of some runs."""
    return _tagged([_marks_of_run(store, run_id) for run_id in run_ids])


def tag_of_all(store: Store) -> str:
    """What changes with any run of the database."""
    running = [int(run_id) for (run_id,) in store.query("SELECT id FROM runs WHERE status = 'running'")]
    every = store.query("SELECT id, status, finished_at, findings_of FROM runs")
    return _tagged([every, _calibrated(store), [_marks_of_run(store, run_id) for run_id in running]])


def _marks_of_run(store: Store, run_id: int) -> object:
    """Its rows and scores are counted while it goes on only: afterwards they don't change before it goes on again."""
    ended = store.query("SELECT id, status, finished_at, findings_of FROM runs WHERE id = ?", [run_id])
    counts = (_rows(store, run_id), _scores(store, run_id)) if ended and ended[0][1] == "running" else ()
    return [ended, counts, _calibrated(store), store.query("SELECT MAX(id) FROM surveys WHERE run_id = ?", [run_id])]


def _rows(store: Store, run_id: int) -> int:
    return int(store.query("SELECT COUNT(*) FROM run_rows WHERE run_id = ?", [run_id])[0][0])


def _scores(store: Store, run_id: int) -> int:
    counted = store.query(
        "SELECT COUNT(*) FROM run_rows JOIN scores ON scores.reply_id = run_rows.reply_id"
        " AND scores.question_id = run_rows.question_id WHERE run_id = ?",
        [run_id],
    )
    return int(counted[0][0])


def _calibrated(store: Store) -> object:
    return store.query("SELECT MAX(id) FROM calibrations")


def _tagged(parts: object) -> str:
    return hashlib.blake2b(orjson.dumps(parts), digest_size=9).hexdigest()
