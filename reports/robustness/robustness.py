"""Robustness: what becomes of a bot's answers and scores when its questions are reworded or asked again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from ... import InputError
from ..comparing.comparable import same_metric
from ..comparing.other_versions import why_versions_differ
from ..comparing.score_table import RunTables
from ..comparing.sides import unknown_bot
from ..summary import MetricColumn
from .agreement_table import AnswerTable, answer_table
from .flip_table import KindFlips, flip_table
from .flipped_pairs import FlippedPair, worst_pairs
from .intensity_curve import IntensityCurve, intensity_curves
from .metric_outcomes import is_outcome
from .reworded_pairs import RewordedPairs, pair_rewordings
from .score_spread import ScoreSpread, spread_over_repeats, spread_over_rewordings

LEVEL = 0.1  # by how much flips have to exceed the control's before a bot is said to break down


@dataclass(frozen=True, slots=True)
class MetricRobustness:
    """One metric of one bot.

    Attributes:
        column: the metric, with the threshold of the base run.
        kinds: flips by kind of rewording; empty without a threshold.
        curves: answers to intensity, by kind.
        rewordings: spread and worst case over rewordings; None where there is nothing.
        repeats: likewise over repeats.
    """

    column: MetricColumn
    kinds: tuple[KindFlips, ...]
    curves: tuple[IntensityCurve, ...]
    rewordings: ScoreSpread | None
    repeats: ScoreSpread | None


@dataclass(frozen=True, slots=True)
class BotRobustness:
    """One bot.

    Attributes:
        bot: its name.
        same_state: whether it was the very same bot, in the same state, on both sides.
        questions: questions of which there is a rewording.
        rewordings: how many rewordings were paired with theirs.
        repeats: how often each of both was asked.
        control: what tells how often it flips by chance: ``identity``, ``repeats`` or None.
        answers: how far its answers agree, by kind and in all.
        metrics: by metric.
        flips: pairs with a flip, worst first, as many as were wanted.
        flip_count: how many flips there are in all: one a question, rewording and metric.
        reasons: by figure that has no value, why.
    """

    bot: str
    same_state: bool
    questions: int
    rewordings: int
    repeats: int
    control: str | None
    answers: AnswerTable
    metrics: tuple[MetricRobustness, ...]
    flips: tuple[FlippedPair, ...]
    flip_count: int
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Robustness:
    """All bots of a run.

    Attributes:
        base: name of the run that holds the questions.
        reworded: name of the run that holds the rewordings; the same where both stand in one.
        suite: name of the base's suite.
        level: by how much flips have to exceed the control's for a breakdown.
        bots: in the order of the base run.
        warnings: what a reader has to know before believing the figures.
    """

    base: str
    reworded: str
    suite: str
    level: float
    bots: tuple[BotRobustness, ...]
    warnings: tuple[str, ...]


def robustness(
    base: RunTables, reworded: RunTables | None = None, *, bots: Collection[str] | None = None,
    metrics: Collection[str] | None = None, level: float = LEVEL, most_flips: int = 20, seed: int = 0,
) -> Robustness:  # fmt: skip
    """Work out all that rewordings and repeats say of the bots of a run.

    Args:
        base: the run with the questions as they were.
        reworded: the run with their rewordings; None where they stand in the same one, or where there are none.
        bots: those that are wanted; None for all that both runs have.
        metrics: likewise; None for those that have a direction and either a threshold or the range 0 to 1.
        level: by how much flips have to exceed the control's for a breakdown.
        most_flips: how many flipped pairs of each bot are named with their answers.
        seed: of the draws.

    Raises:
        InputError: a bot or metric is not there, or no bot has both a question and a rewording or repeat of it.
    """
    after = reworded or base
    names = _bots(base, after, bots)
    warnings = list(_run_warnings(base, after, names))
    made = []
    for name in names:
        pairs = pair_rewordings(base.tables[name], after.tables[name])
        columns = _columns(pairs, metrics, base, after, warnings)
        made.append(_bot(pairs, columns, level, most_flips, seed))
        warnings += _pair_warnings(pairs)
    return Robustness(base.run, after.run, base.suite, level, tuple(made), tuple(dict.fromkeys(warnings)))


def _bots(base: RunTables, after: RunTables, wanted: Collection[str] | None) -> list[str]:
    for name in wanted or ():
        for run in (base, after):
            if name not in run.tables:
                raise InputError(unknown_bot(name, f"run {run.run}", list(run.tables)))
    names = [name for name in base.tables if name in after.tables and (wanted is None or name in wanted)]
    if not names:
        raise InputError(
            f"Runs {base.run} and {after.run} have no bot in common: {', '.join(base.tables)} against"
            f" {', '.join(after.tables)}."
        )
    return names


def _run_warnings(base: RunTables, after: RunTables, names: Sequence[str]) -> Iterator[str]:
    for run in dict.fromkeys((base.run, after.run)):
        status = base.status if run == base.run else after.status
        if status != "finished":
            yield f"Run {run} is {status}: what was not asked is left out."
    if names == [name for name in base.tables if name in after.tables]:
        for name in base.tables.keys() ^ after.tables.keys():
            yield f"{name} is not in both runs, {base.run} and {after.run}, and is left out."
    for name in names:
        if base.tables[name].fingerprint != after.tables[name].fingerprint:
            yield (
                f"{name} is not in the same state in runs {base.run} and {after.run}: its flips may come from what was"
                " changed in it, not from the words of the questions."
            )


def _pair_warnings(pairs: RewordedPairs) -> Iterator[str]:
    if pairs.without_source:
        count, first = len(pairs.without_source), pairs.without_source[0]
        yield (
            f"{count:,} rewording{'s' * (count > 1)} left out, since run {pairs.base.run} does not hold the question"
            f" that {'they name' if count > 1 else 'it names'}; the first: {first}."
        )
    for key, why in list(pairs.unreadable.items())[:1]:
        yield (
            f"{len(pairs.unreadable):,} questions say under 'perturbs' what can't be read, such as {key}: {why}. They"
            " are left out."
        )


def _columns(
    pairs: RewordedPairs, wanted: Collection[str] | None, base: RunTables, after: RunTables, warnings: list[str]
) -> list[MetricColumn]:
    """The metrics that mean the same on both sides, with the base's thresholds."""
    before, other = pairs.base.columns, pairs.reworded.columns
    shared = {name: column for name, column in before.items() if name in other}
    _check_names(wanted or (), [name for name, column in shared.items() if is_outcome(column, before)], shared)
    found = []
    for name, column in shared.items():
        if not (_is_shown(column, before) if wanted is None else _is_wanted(column, before, wanted)):
            continue
        if not same_metric(column, other[name]):
            why = why_versions_differ(name, column, other[name], (base.manifest, after.manifest))
            warnings.append(f"{name} is left out. {why}")
            continue
        if column.threshold != other[name].threshold:
            warnings.append(
                f"{name} has the threshold {column.threshold} in run {base.run} and {other[name].threshold} in run"
                f" {after.run}; both sides are held to the first."
            )
        found.append(column)
    return found


def _check_names(wanted: Collection[str], outcomes: Sequence[str], shared: Collection[str]) -> None:
    for name in wanted:
        if name not in shared and not any(each.startswith(f"{name}.") for each in outcomes):
            near = get_close_matches(name, outcomes, 1, 0.4)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise InputError(f"The runs have no metric {name!r} in common.{hint} They have: {', '.join(outcomes)}.")


def _is_wanted(column: MetricColumn, columns: Mapping[str, MetricColumn], wanted: Collection[str]) -> bool:
    """Whether it is named, or is what says of a row whether a family that is named holds."""
    of_family = is_outcome(column, columns) and any(column.name.startswith(f"{name}.") for name in wanted)
    return column.name in wanted or of_family


def _is_shown(column: MetricColumn, columns: Mapping[str, MetricColumn]) -> bool:
    is_share = (column.low, column.high) == (0, 1)
    return is_outcome(column, columns) and (column.threshold is not None or is_share)


def _bot(pairs: RewordedPairs, columns: Sequence[MetricColumn], level: float, most: int, seed: int) -> BotRobustness:
    metrics = tuple(
        MetricRobustness(
            column=column,
            kinds=flip_table(pairs, column, seed) if column.threshold is not None else (),
            curves=intensity_curves(pairs, column, level, seed) if column.threshold is not None else (),
            rewordings=spread_over_rewordings(pairs, column),
            repeats=spread_over_repeats(pairs, column),
        )
        for column in columns
    )
    control = "identity" if pairs.is_control.any() else "repeats" if pairs.base.repeats > 1 else None
    answers = answer_table(pairs, seed)
    flips, flip_count = worst_pairs(pairs, columns, most)
    return BotRobustness(
        bot=pairs.base.bot, same_state=pairs.base.fingerprint == pairs.reworded.fingerprint,
        questions=len(np.unique(pairs.sources)), rewordings=len(pairs.rewordings), repeats=pairs.repeats,
        control=control if len(pairs.sources) else None, answers=answers, metrics=metrics, flips=flips,
        flip_count=flip_count,
        reasons=dict(_reasons(pairs, answers, columns, control)),
    )  # fmt: skip


def _reasons(
    pairs: RewordedPairs, answers: AnswerTable, columns: Sequence[MetricColumn], control: str | None
) -> Iterator[tuple[str, str]]:
    """Why figures are not there; a reader must not take a blank for a good sign."""
    if not len(pairs.sources):
        yield "flips", "the run holds no reworded questions"
    elif all(column.threshold is None for column in columns):
        yield "flips", "no metric has a threshold"
    if len(pairs.sources) and control is None:
        yield "above_control", "there are no identical copies, and each question was asked once"
    if answers.agreement is None:
        there = "no answer is there on both sides" if pairs.is_same.any() else "no rewording must get the same answer"
        yield "agreement", there if len(pairs.sources) else "the run holds no reworded questions"
    if answers.self_consistency is None:
        once = pairs.base.repeats < 2
        yield "self_consistency", "each question was asked once" if once else "no question was answered twice"
