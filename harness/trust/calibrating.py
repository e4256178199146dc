"""Calibrating: people's verdicts read from a file, compared with the judge's, kept and shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...reports.reported_run import ReportedRun
from ...reports.store import Store, transaction
from ...reports.trust.calibration import Calibration, calibrate
from ...reports.trust.human_verdicts import HumanVerdict, Label, Scale
from ...reports.trust.kept_calibrations import keep_calibrations
from ...reports.trust.kept_labels import keep_labels, kept_labels
from ...reports.trust.label_sheet import Written, read_sheet
from ...reports.trust.labelled_rows import ScoredRow, scored_rows, shown_rows
from .labelling import metric_of, open_run, scale_of

MOST_NAMED = 5  # mistakes, or rows that are not there, that are told one by one


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came of one metric.

    Attributes:
        metric: its name.
        judge: model id of the judge; blank when none took part.
        judge_name: what reports call it.
        scale: how verdicts were read.
        by_bot: for each bot with labels, then for all bots together where there are several.
        from_file: labels that the file gave.
        from_before: labels that were kept already and hold for these rows.
        blank: lines of the file without a verdict.
        warnings: sentences about lines that could not be used.
    """

    metric: str
    judge: str
    scale: Scale
    by_bot: tuple[Calibration, ...]
    from_file: int
    from_before: int
    blank: int
    warnings: tuple[str, ...]
    judge_name: str = ""


def calibrate_run(
    database: Path, name: str | None, sheet: Path | None, metric: str
) -> tuple[str, list[Calibrated]]:  # fmt: skip
    """Read labels, keep them, and work out and keep what they say of the judge; the run's name, and each metric.

    Without a sheet the labels that are kept already are used, as after a change of the judge.

    Raises:
        InputError: there is no such run, file or metric, a verdict can't be read, or no label is on a row of the run;
            then nothing is kept.
    """
    written = read_sheet(sheet, metric) if sheet else []
    with contextlib.closing(Store.open(database, create=False)) as store:
        run = open_run(store, name)
        by_metric = _by_metric(run, sheet, written) if sheet else {each: [] for each in _kept_metrics(run, metric)}
        found, labels = [], {}
        for each, lines in by_metric.items():
            done, labels[each] = _calibrate(run, each, sheet, lines)
            found.append(done)
        with transaction(store.path, store.connection):
            for done in found:
                keep_labels(run, done.metric, labels[done.metric])
                keep_calibrations(store, run.id, run.metric_ids[done.metric], done.judge, run.bot_ids, done.by_bot)
        return run.summary.run, found


def _kept_metrics(run: ReportedRun, metric: str) -> list[str]:
    known = {line[0] for line in run.store.query("SELECT DISTINCT metric FROM calibration_labels")}
    wanted = [metric_of(run, metric)] if metric else [name for name in run.columns if name in known]
    if not known.intersection(wanted):
        of = f" of {wanted[0]}" if metric else ""
        raise InputError(
            f"No labels{of} are kept in {run.store.path}. 'proctor label' draws rows into a sheet; give the filled one"
            " with --labels."
        )
    return wanted


def _by_metric(run: ReportedRun, sheet: Path, written: Sequence[Written]) -> dict[str, list[Written]]:
    found: dict[str, list[Written]] = {}
    for line in written:
        if not line.metric:
            raise InputError(f"{sheet}:{line.line}: there is no column `metric`; name the metric with --metric.")
        found.setdefault(line.metric, []).append(line)
    return {metric_of(run, name): lines for name, lines in found.items()}


def _calibrate(
    run: ReportedRun, metric: str, sheet: Path | None, written: Sequence[Written]
) -> tuple[Calibrated, list[Label]]:  # fmt: skip
    rows = scored_rows(run, metric)
    scale = scale_of(run, metric, rows)
    filled = [line for line in written if line.verdict]
    given, warnings = _match(run, sheet or Path(), filled, rows, scale)
    of_file = {label.row for label in given}
    kept = [label for label in kept_labels(run, metric, rows) if label.row not in of_file]
    labels = [*given, *kept]
    if not (given if written else labels):
        blank = [f"{sheet} has {len(written):,} lines with no verdict on them yet."] if written and not filled else []
        raise InputError(" ".join([f"No label of {metric} is on a row of run {run.summary.run}.", *blank, *warnings]))
    done = Calibrated(
        metric=metric,
        judge=_judge_of(run, metric),
        scale=scale,
        by_bot=tuple(_by_bot(run, metric, rows, labels, scale)),
        from_file=len(given),
        from_before=len(kept),
        blank=len(written) - len(filled),
        warnings=tuple(warnings),
        judge_name=run.summary.judge.name if run.summary.judge else "",
    )
    return done, given


def _judge_of(run: ReportedRun, metric: str) -> str:
    judge = run.summary.judge
    return judge.model_id if judge is not None and metric in judge.metrics else ""


def _by_bot(
    run: ReportedRun, metric: str, rows: Mapping[str, Sequence[ScoredRow]], labels: Sequence[Label], scale: Scale
) -> Iterable[Calibration]:
    unreadable = {bot.name: bot.metrics[metric].n_parse_failure for bot in run.bots}
    bots = [bot for bot in rows if any(label.row.bot == bot for label in labels)]
    for bot in bots:
        of_bot = [label for label in labels if label.row.bot == bot]
        yield calibrate(bot, rows[bot], of_bot, scale, unreadable[bot])
    if len(bots) > 1:
        together = [row for bot in bots for row in rows[bot]]
        yield calibrate(None, together, labels, scale, sum(unreadable[bot] for bot in bots))


def _match(
    run: ReportedRun, sheet: Path, written: Sequence[Written], rows: Mapping[str, Sequence[ScoredRow]], scale: Scale
) -> tuple[list[Label], list[str]]:
    """The lines as labels on rows, and sentences about those that are on no row.

    Raises:
        InputError: verdicts that can't be read, all of them.
    """
    places = _Places(rows)
    labels: dict[ScoredRow, tuple[Written, HumanVerdict]] = {}
    mistakes, unknown, changed = [], [], []
    found = {line: places.find(line) for line in written}
    shown = shown_rows(run, [row for row in found.values() if isinstance(row, ScoredRow)])
    for line in written:
        verdict, row = scale.read(line.verdict), found[line]
        if isinstance(verdict, str):
            mistakes.append(f"{sheet}:{line.line}: verdict {line.verdict[:40]!r}: {verdict}.")
        elif isinstance(row, str):
            unknown.append(f"line {line.line} ({row})")
        elif line.content and not shown[row].content.hex().startswith(line.content):
            changed.append(f"line {line.line}")
        elif row in labels and labels[row][1] != verdict:
            earlier = labels[row][0].line
            mistakes.append(f"{sheet}:{line.line}: another verdict than on line {earlier} for the same row.")
        else:
            labels[row] = (line, verdict)
    if mistakes:
        more = [f"And {len(mistakes) - MOST_NAMED:,} more such lines."] if len(mistakes) > MOST_NAMED else []
        raise InputError("\n".join([*mistakes[:MOST_NAMED], *more]))
    warnings = [
        *_told(unknown, "on no row of this run that has a value"),
        *_told(changed, "on rows whose answer, contexts or expected answer changed since"),
        *_at_odds([(shown[row].content, line, verdict) for row, (line, verdict) in labels.items()]),
    ]
    return [Label(row, verdict, line.seed) for row, (line, verdict) in labels.items()], warnings


def _told(lines: Sequence[str], what: str) -> list[str]:
    if not lines:
        return []
    more = f" and {len(lines) - MOST_NAMED:,} more" if len(lines) > MOST_NAMED else ""
    verb = "label is" if len(lines) == 1 else "labels are"
    return [f"{len(lines):,} {verb} {what}, and not used: {', '.join(lines[:MOST_NAMED])}{more}."]


def _at_odds(labels: Sequence[tuple[bytes, Written, HumanVerdict]]) -> list[str]:
    """A warning where rows that look the same, such as equal answers of two bots, have different verdicts."""
    alike: dict[bytes, list[tuple[Written, HumanVerdict]]] = {}
    for content, line, verdict in labels:
        alike.setdefault(content, []).append((line, verdict))
    odd = [each for each in alike.values() if any(verdict != each[0][1] for _, verdict in each)]
    if not odd:
        return []
    named = [" and ".join(str(line.line) for line, _ in each) for each in odd[:MOST_NAMED]]
    more = f"; and {len(odd) - MOST_NAMED:,} more" if len(odd) > MOST_NAMED else ""
    return [
        f"The same question, answer and contexts have different verdicts on lines {'; '.join(named)}{more}. Each counts"
        " here for its own row; for later runs the last of them is kept."
    ]


class _Places:
    """Finds the row that a line is about: by our own key, else by question, bot and repeat."""

    def __init__(self, rows: Mapping[str, Sequence[ScoredRow]]) -> None:
        every = [row for of_bot in rows.values() for row in of_bot]
        self._by_key = {row.key: row for row in every}
        self._by_name = {(row.bot, row.question, row.repeat): row for row in every}
        self._bots = list(rows)

    def find(self, line: Written) -> ScoredRow | str:
        """The row, or a str that names what is not there."""
        if line.key:
            return self._by_key.get(line.key) or f"question {line.question}, {line.bot}"
        if not line.bot and len(self._bots) > 1:
            return f"question {line.question}: which bot? There is no column `bot`"
        bot = line.bot or self._bots[0]
        for question in (line.question, f"'{line.question}"):
            if row := self._by_name.get((bot, question, line.repeat)):
                return row
        repeat = f", repeat {line.repeat}" if line.repeat else ""
        return f"question {line.question}, {bot}{repeat}"
