"""Flip problems: where reworded questions have another outcome than their sources, by bot and metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from .comparing.comparable import same_metric
from .comparing.run_tables import run_tables
from .problem import Problem, apart, problem_in
from .reported_run import ReportedRun, metrics_once
from .robustness.flipped_pairs import Flip, flips_of
from .robustness.metric_outcomes import is_outcome
from .robustness.reworded_pairs import RewordedPairs, pair_rewordings
from .robustness.reworded_runs import source_run
from .row_keys import MOST, FoundRow, FoundRows, RowKey
from .summary import MetricColumn

ACTION: Final = (
    "Compare the two answers (proctor robustness lists them, and tells chance apart); a prompt or retriever that"
    " depends on the spelling needs mending."
)


def flip_problems(run: ReportedRun) -> Iterator[Problem]:
    """A problem for each bot and metric with rewordings that have another outcome, which counts them.

    A bot that was changed between the two runs has none: what flipped there may come from the change.
    """
    source = source_run(run.store, run.id)
    if source is None:
        return
    reworded = run_tables(run.store, run.id)
    base = reworded if source == run.id else run_tables(run.store, source)
    first = {metric: evaluator.id for evaluator, metric in metrics_once(run)}
    for bot, table in reworded.tables.items():
        if bot in base.tables and base.tables[bot].fingerprint == table.fingerprint:
            pairs = pair_rewordings(base.tables[bot], table)
            for column in _columns(pairs):
                yield from _problems(bot, column, flips_of(pairs, column), first.get(column.name))


def _columns(pairs: RewordedPairs) -> Iterator[MetricColumn]:
    """The metrics with a threshold that mean the same on both sides; the threshold is that of the questions."""
    for name, column in pairs.base.columns.items():
        other = pairs.reworded.columns.get(name)
        if other is not None and same_metric(column, other) and is_outcome(column, pairs.base.columns):
            yield column


def _problems(bot: str, column: MetricColumn, flips: Sequence[Flip], evaluator: str | None) -> Iterator[Problem]:
    """One problem for all flips of a bot and metric, which says how many there are and tells the worst."""
    if not flips:
        return
    worst, *others = flips
    what = _sentence(worst)
    if others:
        lost = sum(flip.direction == "pass_to_fail" for flip in flips)
        ways = [f"{lost:,} from pass to fail"] * bool(lost) + [f"{len(flips) - lost:,} from fail to pass"] * (
            lost < len(flips)
        )
        what = f"{bot}: {len(flips):,} reworded questions flip {column.name} ({', '.join(ways)}); the worst: "
        what += _sentence(worst).removeprefix(f"{bot}: ")
    rows = tuple(FoundRow(bot, RowKey(flip.key, flip.repeat), flip.after) for flip in flips[:MOST])
    yield problem_in(
        "high", "robustness", what, ACTION, FoundRows(rows, sum(flip.repeats for flip in flips)), bot=bot,
        evaluator=evaluator, metric=column.name, threshold=column.threshold, value=worst.after,
    )  # fmt: skip


def _sentence(flip: Flip) -> str:
    was, is_now = ("passes", "fails") if flip.direction == "pass_to_fail" else ("fails", "passes")
    before, after = (apart(value, flip.threshold) for value in (flip.before, flip.after))
    mark = flip.rewording
    how = "asked again in the same words" if mark.is_control else f"reworded ({mark.kind}"
    if not mark.is_control:
        how += f" at {mark.intensity:g})" if mark.intensity else ")"
    return f"{flip.bot}: {mark.source} {was} {flip.metric} with {before}, and {is_now} it with {after} once {how}."
