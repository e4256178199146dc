"""Metric meanings: what each metric of a run measures, in the sentence that the run kept of it."""

from __future__ import annotations

from ..reported_run import ReportedRun


def metric_meanings(run: ReportedRun) -> dict[str, str]:
    """By name of a metric its sentence; those without one are left out."""
    ids = {number: name for name, number in run.metric_ids.items()}
    lines = run.store.query("SELECT id, summary FROM metrics")
    return {ids[number]: summary.strip() for number, summary in lines if number in ids and summary.strip()}
