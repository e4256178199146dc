"""Kept labels: what people said of rows, kept under what they saw, so that it holds in every run that has the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ..encoding import storable
from ..reported_run import ReportedRun
from ..store import insert_many
from .human_verdicts import HumanVerdict, Label
from .labelled_rows import ScoredRow, shown_rows

KEPT = "SELECT content, question, value, passes, seed FROM calibration_labels WHERE metric = ?"


def kept_labels(run: ReportedRun, metric: str, rows: Mapping[str, Sequence[ScoredRow]]) -> list[Label]:
    """The labels of the database that hold for rows of this run."""
    kept = {line[0]: line[1:] for line in run.store.query(KEPT, [metric])}
    questions = {line[0] for line in kept.values()}
    maybe = [row for of_bot in rows.values() for row in of_bot if storable(row.question) in questions]
    labels = []
    for row, shown in shown_rows(run, maybe).items():
        if found := kept.get(shown.content):
            _, value, passes, seed = found
            labels.append(Label(row, HumanVerdict(value, None if passes is None else bool(passes)), seed))
    return labels


def keep_labels(run: ReportedRun, metric: str, labels: Sequence[Label]) -> None:
    """Write labels down, in place of earlier ones on the same; inside a transaction of the caller."""
    shown = shown_rows(run, [label.row for label in labels])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    lines = [
        (
            metric, shown[label.row].content, label.row.question, label.verdict.value,
            None if label.verdict.passes is None else int(label.verdict.passes), label.seed, now,
        )
        for label in labels
    ]  # fmt: skip
    insert_many(
        run.store.connection,
        "INSERT OR REPLACE INTO calibration_labels (metric, content, question, value, passes, seed, labelled_at)",
        lines,
    )
