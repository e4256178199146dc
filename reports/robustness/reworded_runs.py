"""Reworded runs: which run holds the rewordings of another one's questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...knowledge.questions import PERTURBS
from ..run import REWORDED
from ..store import Store

# Looking for the word first is many times as fast as parsing every line. Few questions are rewordings, and only of
# those it is looked up whether the run asked them; the cross join has each bot's row found by its whole key.
ASKED: Final = """EXISTS (SELECT 1 FROM run_bots CROSS JOIN run_rows
    ON run_rows.run_id = run_bots.run_id AND run_rows.bot_id = run_bots.bot_id
    WHERE run_bots.run_id = :{run} AND run_rows.question_id = {questions}.id)"""
MARKED: Final = f"""
SELECT CAST(CASE json_type(marked.extra, '$.{PERTURBS}')
    WHEN 'object' THEN json_extract(marked.extra, '$.{PERTURBS}.id')
    ELSE json_extract(marked.extra, '$.{PERTURBS}') END AS TEXT)
FROM questions AS marked
WHERE instr(marked.extra, '"{PERTURBS}"') AND json_type(marked.extra, '$.{PERTURBS}') IS NOT NULL
    AND {ASKED.format(run="run", questions="marked")}"""

HELD: Final = f"""
SELECT 1 FROM questions WHERE key IN ({MARKED}) AND {ASKED.format(run="other", questions="questions")} LIMIT 1"""


def holds_rewordings(store: Store, run_id: int) -> bool:
    """Whether any question of a run is a rewording."""
    return bool(store.query(f"{MARKED} LIMIT 1", {"run": run_id}))


def source_run(store: Store, run_id: int) -> int | None:
    """The run that holds the questions of which a run holds rewordings; itself when both stand in one.

    Of several it is the latest of the same suite with all of its bots in the same state, else the latest of it.
    """
    if not holds_rewordings(store, run_id):
        return None
    if store.query(HELD, {"run": run_id, "other": run_id}):
        return run_id
    suite = _suite(store, run_id)
    others = _runs(store, [suite.removesuffix(REWORDED), suite], run_id)
    holding = [other for other in others if store.query(HELD, {"run": run_id, "other": other})]
    return _nearest(store, run_id, holding)


def reworded_run(store: Store, run_id: int) -> int | None:
    """The run that holds rewordings of a run's questions; itself when both stand in one.

    Of several it is the latest of the same suite with all of its bots in the same state, else the latest of it.
    """
    if holds_rewordings(store, run_id):
        return run_id
    others = _runs(store, [_suite(store, run_id) + REWORDED], run_id)
    holding = [other for other in others if store.query(HELD, {"run": other, "other": run_id})]
    return _nearest(store, run_id, holding)


def latest_reworded(store: Store) -> int | None:
    """The latest run that holds rewordings."""
    runs = (int(run_id) for (run_id,) in store.query("SELECT id FROM runs ORDER BY id DESC"))
    return next((run_id for run_id in runs if holds_rewordings(store, run_id)), None)


def _suite(store: Store, run_id: int) -> str:
    return str(store.query("SELECT suite FROM runs WHERE id = ?", [run_id])[0][0])


def _runs(store: Store, suites: Iterable[str], but: int) -> list[int]:
    """The other runs of the first of these suites that has any, the latest first."""
    for suite in suites:
        lines = store.query("SELECT id FROM runs WHERE suite = ? AND id != ? ORDER BY id DESC", [suite, but])
        if lines:
            return [int(run_id) for (run_id,) in lines]
    return []


def _nearest(store: Store, run_id: int, others: list[int]) -> int | None:
    bots = _bots(store, run_id)
    return next((other for other in others if bots == _bots(store, other)), others[0] if others else None)


def _bots(store: Store, run_id: int) -> frozenset[int]:
    return frozenset(bot for (bot,) in store.query("SELECT bot_id FROM run_bots WHERE run_id = ?", [run_id]))
