"""Labelling: a random sample of a run's rows, written to a sheet that people fill in."""

from __future__ import annotations

import contextlib
import difflib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...reports.reported_run import ReportedRun, open_reported
from ...reports.statistics.prediction_powered import FEWEST
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.trust.calibration import is_binary
from ...reports.trust.human_verdicts import HumanVerdict, Scale
from ...reports.trust.kept_labels import kept_labels
from ...reports.trust.label_sheet import SheetRow, sheet
from ...reports.trust.labelled_rows import ScoredRow, drawn, scored_rows, shown_rows
from ...reports.whole_files import check_file, whole_file


@dataclass(frozen=True, slots=True)
class Draw:
    """What is to be drawn from a run."""

    metric: str
    number: int
    out: Path
    seed: int = 0
    bot: str = ""
    show: bool = False
    force: bool = False


def open_run(store: Store, name: str | None) -> ReportedRun:
    """A run by its name or the beginning of it; the latest by ``latest`` or no name."""
    run_id, _ = find_run(store, name)
    return open_reported(store, run_id)


def metric_of(run: ReportedRun, name: str) -> str:
    """The metric of a run by its name, or by that of an evaluator, whose primary metric is meant.

    Raises:
        InputError: the run has no such metric, or one that says nothing of single rows.
    """
    primaries = {evaluator.id: evaluator.primary for evaluator in run.evaluators}
    meant = (name, primaries.get(name, name), f"{name}.passes")
    metric = next((each for each in meant if each in run.columns), name)
    if metric not in run.columns:
        near = difflib.get_close_matches(name, [*run.columns, *primaries], n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        known = ", ".join(run.columns)
        raise InputError(f"Run {run.summary.run} has no metric {name!r}; it has {known}.{hint}")
    if run.columns[metric].level == "run":
        raise InputError(f"{metric} is one figure for a whole run; people can only judge rows.")
    return metric


def scale_of(run: ReportedRun, metric: str, rows: Mapping[str, Sequence[ScoredRow]]) -> Scale:
    """How people's verdicts on a metric are read.

    Raises:
        InputError: no row has a value.
    """
    if not rows:
        raise InputError(f"{metric} has no value on any row of run {run.summary.run}; there is nothing to judge.")
    return Scale(run.columns[metric], is_binary(run.columns[metric], rows))


def draw_labels(database: Path, name: str | None, draw: Draw) -> list[str]:
    """Write the sheet and return what to say of it.

    Raises:
        InputError: there is no such run, metric or bot, or the file can't be written or is there already.
    """
    check_file(draw.out, "--out", {database.resolve(): "--db"})
    if draw.out.exists() and not draw.force:
        raise InputError(
            f"--out: {draw.out} is there already, perhaps with verdicts in it. Give another name, or --force."
        )
    with contextlib.closing(Store.open(database, create=False)) as store:
        run = open_run(store, name)
        metric = metric_of(run, draw.metric)
        rows = scored_rows(run, metric)
        scale = scale_of(run, metric, rows)
        chosen = {bot: rows[bot] for bot in _bots(run, rows, draw.bot)}
        sample = _sample(chosen, draw.number, draw.seed)
        verdicts = {label.row: _word(label.verdict, scale) for label in kept_labels(run, metric, chosen)}
        in_order = drawn((row for some in sample.values() for row in some), draw.seed)
        shown = shown_rows(run, in_order)
        lines = [SheetRow(row, shown[row], verdicts.get(row, "")) for row in in_order]
        with whole_file(draw.out) as file:
            file.writelines(sheet(lines, metric, scale.write, draw.seed, draw.show))
        already = sum(bool(line.verdict) for line in lines)
        return [*_said(run, metric, chosen, sample, draw, scale), *_already(already)]


def _bots(run: ReportedRun, rows: Mapping[str, Sequence[ScoredRow]], bot: str) -> list[str]:
    if not bot:
        return list(rows)
    names = [each.name for each in run.bots]
    if bot not in names:
        near = difflib.get_close_matches(bot, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"Run {run.summary.run} has no bot {bot!r}; it has {', '.join(names)}.{hint}")
    if bot not in rows:
        raise InputError(f"The metric has no value on any row of {bot}; there is nothing to judge.")
    return [bot]


def _sample(rows: Mapping[str, Sequence[ScoredRow]], number: int, seed: int) -> dict[str, list[ScoredRow]]:
    """Equal shares of the number for the bots, as far as they have rows: the first of each in the order of the draw."""
    shares = dict.fromkeys(rows, 0)
    left = number
    while left > 0 and (with_more := [bot for bot in rows if shares[bot] < len(rows[bot])]):
        each = max(left // len(with_more), 1)
        for bot in with_more:
            more = min(each, len(rows[bot]) - shares[bot], left)
            shares[bot] += more
            left -= more
    return {bot: drawn(of_bot, seed)[: shares[bot]] for bot, of_bot in rows.items()}


def _word(verdict: HumanVerdict, scale: Scale) -> str:
    """A kept verdict as the person might write it again."""
    if verdict.value is not None and not scale.binary:
        return f"{verdict.value:g}"
    return "yes" if verdict.passes else "no"


def _said(
    run: ReportedRun, metric: str, rows: Mapping[str, Sequence[ScoredRow]], sample: Mapping[str, Sequence[ScoredRow]],
    draw: Draw, scale: Scale,
) -> list[str]:  # fmt: skip
    total, number = sum(map(len, rows.values())), sum(map(len, sample.values()))
    parts = ", ".join(f"{len(sample[bot]):,} of {len(rows[bot]):,} of {bot}" for bot in rows)
    values = "the judge's values are in the column judge" if draw.show else "the judge's values are left out"
    ((summary,),) = run.store.query("SELECT summary FROM metrics WHERE id = ?", [run.metric_ids[metric]])
    said = [
        f"Wrote {draw.out}: {number:,} of {total:,} rows with a value of {metric}, drawn at random "
        f"(seed {draw.seed}): {parts}; {values}.",
        *([f"{metric}: {summary}"] if summary else []),
        f"Write {scale.write} into the column verdict. Then:",
        f"  proctor calibrate {run.summary.run} --labels {shlex.quote(str(draw.out))}",
    ]
    few = [bot for bot in rows if len(sample[bot]) < min(FEWEST, len(rows[bot]))]
    if few:
        said.append(
            f"Fewer than {FEWEST} labels for a bot give indicative figures only; --n {FEWEST * len(rows)} would do."
        )
    return said


def _already(number: int) -> list[str]:
    return [f"{number:,} of them hold the verdict that they were given earlier."] if number else []
