"""Kept checks: how judges did on known cases, kept so that a run need not put the same judge to them again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from ..encoding import to_json
from ..store import Store, transaction


def keep_check(
    store: Store, fingerprint: str, judge: str, accuracy: float | None, hostile: float | None,
    result: Mapping[str, object],
) -> None:  # fmt: skip
    """Write a result down, in place of an earlier one of the same judge, prompts and cases.

    Raises:
        StoreError: it can't be written.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with transaction(store.path, store.connection):
        store.connection.execute(
            "INSERT OR REPLACE INTO judge_checks (fingerprint, judge, made_at, accuracy, hostile, result)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [fingerprint, judge, now, accuracy, hostile, to_json(result)],
        )


def kept_check(store: Store, fingerprint: str) -> tuple[float | None, float | None] | None:
    """Accuracy and accuracy on hostile cases of a kept result; None when there is none."""
    lines = store.query("SELECT accuracy, hostile FROM judge_checks WHERE fingerprint = ?", [fingerprint])
    return (lines[0][0], lines[0][1]) if lines else None
