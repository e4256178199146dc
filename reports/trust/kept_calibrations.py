"""Kept calibrations: what was worked out from labels, written to the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ..encoding import to_json
from ..store import Store
from .calibration import Calibration
from .calibration_object import calibration_object


def keep_calibrations(
    store: Store, run_id: int, metric_id: int, judge: str, bot_ids: Mapping[str, int], made: Sequence[Calibration]
) -> None:
    """Write what was worked out for a run, in place of what was there; inside a transaction of the caller."""
    store.connection.execute("DELETE FROM calibrations WHERE run_id = ? AND metric_id = ?", [run_id, metric_id])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    for each in made:
        shares = (each.confusion.agreement, each.confusion.sensitivity, each.confusion.specificity)
        agreement, sensitivity, specificity = (share and share.value for share in shares)
        values = {
            "run_id": run_id, "bot_id": bot_ids[each.bot] if each.bot is not None else None, "metric_id": metric_id,
            "judge": judge, "population": each.population, "measure": each.measure, "labels": each.labels,
            "others": each.others, "is_random": int(each.is_random), "agreement": agreement,
            "kappa": each.confusion.kappa, "sensitivity": sensitivity, "specificity": specificity,
            "judge_mean": each.judge_mean, "people_mean": each.people.mean, "corrected": each.corrected.mean,
            "ci_low": each.corrected.low, "ci_high": each.corrected.high, "details": to_json(calibration_object(each)),
            "made_at": now,
        }  # fmt: skip
        names = ", ".join(values)
        marked = ", ".join(f":{name}" for name in values)
        store.connection.execute(f"INSERT INTO calibrations ({names}) VALUES ({marked})", values)
