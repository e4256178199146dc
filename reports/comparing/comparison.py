"""Comparison: head against base over every metric, with all that can't be compared and why."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..leaderboard import count
from ..primary import Primary
from ..statistics.latency_difference import LatencyDifference
from .changed_parts import changed_parts
from .changed_rows import ChangedRows, changed_rows
from .comparable import Dropped, Pairing, nothing_comparable, pair
from .doubts import doubts
from .metric_comparison import Correction, MetricComparison, compare_metric, correct_all, count_missing
from .metric_names import check_names, refused_of_run, wanted
from .paired_latency import paired_latency
from .score_table import ScoreTable, with_failures_wrong
from .sides import Side
from .six_digits import at_six_digits

LATENCY = "latency_ms"  # compared by quantiles, timed-out answers included, and not by its mean
JudgeNoise = Callable[[str, str], float | None]  # the variance of one verdict, by bot and metric


@dataclass(frozen=True, slots=True)
class Asked:
    """How a comparison is to be made.

    Attributes:
        metrics: those that are wanted, or families of them; empty for all.
        cluster: as in ``comparable.pair``.
        correct: how p values are corrected over the metrics.
        flips: how many rows of each kind are shown of a metric.
        all_flips: of every metric, and not only of the one in which most happened.
        seed: of all draws.
    """

    metrics: tuple[str, ...] = ()
    cluster: str = "source"
    correct: Correction = "holm"
    flips: int = 3
    all_flips: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Described:
    """One side, as it is shown.

    Attributes:
        name: what it is called in tables and sentences: the bot where bots differ, else ``base`` or ``head``.
        bot: its bot.
        run: its run.
        origin: the file that the run is in.
        suite: the suite.
        status: of the run.
        kind: type of the bot.
        model: its chat model.
        embedded: no language model takes part.
        questions: how many were asked.
        repeats: how often each.
    """

    name: str
    bot: str
    run: str
    origin: str
    suite: str
    status: str
    kind: str
    model: str | None
    embedded: bool
    questions: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Head against base.

    Attributes:
        base: what it is compared with.
        head: what is looked at.
        questions: paired ones.
        clusters: how many clusters they make.
        cluster: how clusters are made.
        correct: how p values are corrected over the metrics.
        metrics: the compared ones, in the order of the head.
        latency: None where times are not known on both sides.
        refused: by metric that is not compared, why.
        dropped: questions that are not compared.
        changes: what was changed in the bot in between; empty for different bots, or where it is not known.
        warnings: what makes the comparison weaker than it looks.
        rows: those that changed most, of one metric or of all.
        same_answers: head holds the very answers of base: there is nothing to compare.
        primary: the primary metric of the head, with the reason; None where none of quality has a value.
    """

    base: Described
    head: Described
    questions: int
    clusters: int
    cluster: str
    correct: Correction
    metrics: tuple[MetricComparison, ...]
    latency: LatencyDifference | None
    refused: Mapping[str, str]
    dropped: Dropped
    changes: tuple[str, ...]
    warnings: tuple[str, ...]
    rows: tuple[ChangedRows, ...]
    same_answers: bool
    primary: Primary | None = None

    @property
    def of_primary(self) -> MetricComparison | None:
        """What came out on the primary metric; None where it is not compared."""
        name = self.primary.name if self.primary else ""
        return next((each for each in self.metrics if each.column.name == name), None)


def compare(base: Side, head: Side, bots: tuple[str, str], asked: Asked) -> Comparison:
    """Compare a bot of one side with one of the other.

    Args:
        base: what it is compared with, still open.
        head: what is looked at, still open.
        bots: the bot of each.
        asked: how.

    Raises:
        NothingComparable: nothing at all can be compared; the sentence says which part is not, and why.
        InputError: there is no such metric, or no such way to cluster.
    """
    old, new = base.run.tables[bots[0]], head.run.tables[bots[1]]
    if base.is_baseline or head.is_baseline:
        old, new = at_six_digits(old), at_six_digits(new)  # else what is the same would differ in the seventh digit
    primary = head.run.primary
    failures = tuple(_failures(each, primary) for each in (old, new)) if primary else ()
    old, new = (with_failures_wrong(each, primary.name if primary else "") for each in (old, new))
    pairing = pair(old, new, asked.cluster, (base.run.manifest, head.run.manifest))
    check_names(asked.metrics, [*pairing.metrics, *pairing.refused, *base.of_run, *head.of_run])
    names = ("base", "head") if bots[0] == bots[1] else bots
    refused = {name: why for name, why in pairing.refused.items() if wanted(name, asked.metrics)}
    found = []
    for name in pairing.metrics:
        if not wanted(name, asked.metrics) or (name == LATENCY and LATENCY not in asked.metrics):
            continue
        made = compare_metric(pairing, name, _judge_variance(name, base, head, bots), asked.seed)
        if made is None:
            refused[name] = _no_values(pairing, name, names)
        else:
            found.append(made)
    refused |= refused_of_run((*base.of_run, *head.of_run), asked.metrics)
    latency = _latency(pairing, asked.seed)
    if not len(pairing.cases) or not (found or latency or pairing.same_answers):
        raise nothing_comparable(pairing, refused)
    metrics = correct_all(found, asked.correct)
    states = base.states.get(bots[0]), head.states.get(bots[1])
    return Comparison(
        base=_described(base, old, names[0]),
        head=_described(head, new, names[1]),
        questions=len(pairing.cases), clusters=pairing.cluster_count, cluster=asked.cluster, correct=asked.correct,
        metrics=metrics, latency=latency, refused=refused, dropped=pairing.dropped,
        changes=changed_parts(states[0], states[1]) if bots[0] == bots[1] and states[0] and states[1] else (),
        warnings=(*filter(None, failures), *doubts(base, head, pairing)),
        rows=() if pairing.same_answers else _rows(pairing, metrics, asked, primary.name if primary else ""),
        same_answers=pairing.same_answers, primary=primary,
    )  # fmt: skip


def _failures(table: ScoreTable, primary: Primary) -> str:
    """How many answers failed outright, which are wrong ones to the primary metric; blank where none did."""
    failed = int((table.asked & ~table.answered).sum())
    if not failed:
        return ""
    of = f"{failed:,} of {count(int(table.asked.sum()), 'answer')} of {table.bot} in run {table.run} failed outright"
    return f"{of}: counted as wrong in {primary.name}."


def _described(side: Side, table: ScoreTable, name: str) -> Described:
    return Described(
        name=name, bot=table.bot, run=side.run.run, origin=side.run.origin, suite=side.run.suite,
        status=side.run.status, kind=table.kind, model=table.model, embedded=table.embedded,
        questions=int(table.asked.any(axis=1).sum()), repeats=table.repeats,
    )  # fmt: skip


def _judge_variance(metric: str, base: Side, head: Side, bots: tuple[str, str]) -> float | None:
    """Of a difference, by the judge's chance alone: both sides' together; None where either is not known."""
    if min(side.run.tables[bot].repeats for side, bot in zip((base, head), bots, strict=True)) < 2:
        return None  # nothing is taken apart
    parts = [side.judge_variance(bot, metric) for side, bot in zip((base, head), bots, strict=True)]
    return None if parts[0] is None or parts[1] is None else parts[0] + parts[1]


def _latency(pairing: Pairing, seed: int) -> LatencyDifference | None:
    return None if not len(pairing.cases) or pairing.same_answers else paired_latency(pairing, seed)


def _no_values(pairing: Pairing, metric: str, names: tuple[str, str]) -> str:
    missing = count_missing(pairing, metric, *pairing.values(metric))
    sides = []
    for bot, reasons in zip(names, (missing.base_reasons, missing.head_reasons), strict=True):
        if sum(reasons.values()) == len(pairing.cases):
            why = ", ".join(f"{number:,} {reason.replace('_', ' ')}" for reason, number in reasons.items())
            sides.append(f"{bot} has no value on any question ({why})")
    return f"{'; '.join(sides)}." if sides else "No question has a value on both sides."


def _rows(pairing: Pairing, metrics: Sequence[MetricComparison], asked: Asked, primary: str) -> tuple[ChangedRows, ...]:
    """Of every metric, of those that were asked for by name, or of the primary one; of another where it has none."""
    directed = [each for each in metrics if each.column.better != "neither"]
    named = [each for each in directed if each.column.name in asked.metrics]
    if not asked.all_flips and not named:
        directed.sort(key=lambda each: (each.column.name != primary, _firmness(each)))
    elif not asked.all_flips:
        directed = named
    found = (changed_rows(pairing, each.column.name, asked.flips) for each in directed)
    changed = (rows for rows in found if rows.losses or rows.gains)
    return tuple(changed if asked.all_flips or named else itertools.islice(changed, 1))


def _firmness(found: MetricComparison) -> tuple[bool, bool, float]:
    """What is worse goes first, then what is better, in the order of the suite; then what may yet be."""
    p_value = found.difference.p_value if found.verdict == "no difference shown" else None
    return found.verdict != "worse", found.verdict != "better", 1.0 if p_value is None else p_value
