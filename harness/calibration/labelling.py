"""Labelling: one person's verdict on one row, stored as it is given, with what it does to the judge's calibration."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...reports.calibration.calibration import (
    Calibration,
    agreed_labels,
    calibration_object,
    rater_agreement,
    save_calibrations,
    warnings_of,
)
from ...reports.calibration.labels import (
    LONGEST_RATER,
    Label,
    Scale,
    ScoredRow,
    Written,
    read_label,
    remove_label,
    row_cell,
    save_labels,
    scored_rows,
    shown_rows,
    stored_labels,
)
from ...reports.reported_run import ReportedRun, open_reported
from ...reports.store.database import Store, transaction
from ...reports.summary import Summary
from .calibrating import RowFinder, calibrations_by_bot, judge_of, metric_of, scale_of

COLUMNS = ("row", "metric", "rater", "verdict", "question_id", "bot", "repeat", "drawn")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A metric of a run with its rows and the labels that people gave them."""

    run: ReportedRun
    metric: str
    rows: Mapping[str, list[ScoredRow]]
    scale: Scale

    def calibrations(self) -> tuple[Calibration, ...]:
        """How the judge compares with the labels that are stored; none where none decides a row."""
        labels = agreed_labels(stored_labels(self.run, self.metric, self.rows))
        return tuple(calibrations_by_bot(self.run, self.metric, self.rows, labels, self.scale)) if labels else ()

    def state(self, rater: str) -> dict[str, object]:
        """What a page shows beside the labels, as JSON: those of one rater, agreement, calibration by bot, warnings."""
        labels = stored_labels(self.run, self.metric, self.rows)
        own = [label for label in labels if label.rater == rater]
        shown = shown_rows(self.run.store, [label.row for label in own])
        found = self.calibrations()
        return {
            "labels": {row_cell(label.row, shown[label.row]): self.scale.word(label.verdict) for label in own},
            "agreement": rater_agreement(labels).sentence,
            "measure": found[0].measure if found else None,
            "calibrations": [calibration_object(each) for each in found],
            "warnings": warnings_of(found),
            "judge": judge_of(self.run, self.metric),
        }


def labelled(store: Store, run_id: int, summary: Summary, metric: str) -> Labelled:
    """A metric of a run, to be labelled.

    Raises:
        InputError: the run has no such metric, or no row has a value of it.
    """
    run = open_reported(store, run_id, summary)
    name = metric_of(run, metric)
    rows = scored_rows(run, name)
    return Labelled(run, name, rows, scale_of(run, name, rows))


def given_label(fields: Mapping[str, object]) -> Written:
    """A label as a page sends it: the columns of a file of labels.

    Raises:
        InputError: a field is missing or of another kind.
    """
    unknown = [name for name in fields if name not in COLUMNS]
    if unknown:
        raise InputError(f"A label has no field {unknown[0]!r}; it has {', '.join(COLUMNS)}.")
    for name in ("row", "metric", "rater"):
        if not isinstance(fields.get(name), str) or not fields[name]:
            raise InputError(f"The label has no {name}, a text.")
    if len(str(fields["rater"])) > LONGEST_RATER:
        raise InputError(f"The rater's name has more than {LONGEST_RATER} characters.")
    return read_label(Path("the label"), 1, fields, "")


def store_label(database: Path, run_id: int, summary: Summary, given: Written) -> None:
    """Store a label, or take it back where it has no verdict, and calibrate the judge anew.

    Raises:
        InputError: no such row or metric, a row that changed since it was shown, or a verdict that can't be read.
    """
    with contextlib.closing(Store.open(database, create=False)) as store:
        of = labelled(store, run_id, summary, given.metric)
        row = RowFinder(of.rows).find(given)
        if isinstance(row, str):
            raise InputError(f"No row of run {summary.run} with a value of {of.metric} is {row}.")
        if not shown_rows(store, [row])[row].content.hex().startswith(given.content or "-"):
            raise InputError("The row's answer, contexts or expected answer changed since: reload the page.")
        verdict = of.scale.read(given.verdict) if given.verdict else None
        if isinstance(verdict, str):
            raise InputError(f"Verdict {given.verdict[:40]!r}: {verdict}.")
        with transaction(store.path, store.connection):
            if verdict is None:
                remove_label(of.run, of.metric, row, given.rater)
            else:
                save_labels(of.run, of.metric, [Label(row, verdict, given.seed, given.rater)])
            found, judge = of.calibrations(), judge_of(of.run, of.metric)
            save_calibrations(store, run_id, of.run.metric_ids[of.metric], judge, of.run.bot_ids, found)
