"""Verdicts: everything that a gate says of one bot, from the tables of two runs."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..comparing.changed_parts import PartChange
from ..comparing.comparable import Pairing, mean_of_repeats, pair
from ..comparing.score_table import ABSENT, STATUSES, ScoreTable, with_failures_wrong
from ..comparing.six_digits import at_six_digits
from ..leaderboard import count
from ..summary import MetricColumn
from .gate_flips import GateFlip, gate_flips
from .gate_rule import CODES, MEANING, NOT_WORSE, TOO_MUCH_MISSING, WRONG, GateRule, worst_code
from .latency_verdict import LatencyVerdict, latency_verdict
from .metric_verdicts import MetricVerdict, metric_verdicts, not_comparable, unchanged
from .these_questions import Again
from .threshold_verdicts import ThresholdVerdict, threshold_verdicts

Manifests = tuple[Mapping[str, object], Mapping[str, object]]
MOST_NAMED = 3  # keys of dropped questions that a note names


@dataclass(frozen=True, slots=True)
class Failures:
    """How many answers failed outright, before and now, and how many were wanted now."""

    before: int = 0
    now: int = 0
    rows: int = 0


@dataclass(frozen=True, slots=True)
class BotVerdict:
    """What a gate says of one bot.

    Attributes:
        bot: its name in the run that is looked at.
        base_bot: what it is compared with.
        base_run: name of the run that holds that.
        head_run: name of the run that is looked at.
        unchanged: the bot is the same, and its answers are the very ones of the base.
        questions: how many are paired.
        clusters: how many they come from.
        metrics: a verdict for each gated metric.
        thresholds: a verdict for each threshold that the suite names.
        latency: what became of the times.
        flips: the questions that got worse, worst first.
        notes: sentences about what was left out.
        failures: how many answers failed outright.
        changes: what the bot is made of that was otherwise; blank where nobody knows.
        primary: the primary metric, where it is gated: a failed answer is a wrong one to it.
    """

    bot: str
    base_bot: str
    base_run: str
    head_run: str
    unchanged: bool
    questions: int
    clusters: int
    metrics: tuple[MetricVerdict, ...]
    thresholds: tuple[ThresholdVerdict, ...]
    latency: LatencyVerdict
    flips: tuple[GateFlip, ...]
    notes: tuple[str, ...]
    failures: Failures
    primary: str = ""
    changes: tuple[PartChange, ...] = ()

    @property
    def exit_code(self) -> int:
        """Of 2, 1, 5, 4, 3 and 0 the first that holds; 2 also when there was nothing to compare."""
        return worst_code(
            [
                *([] if self.metrics else [WRONG]),
                *(CODES[each.outcome] for each in self.metrics),
                *(TOO_MUCH_MISSING for each in self.metrics if each.too_much_missing),
                *(each.exit_code for each in self.thresholds),
                self.latency.exit_code,
            ]
        )

    @property
    def word(self) -> str:
        """The verdict on the whole bot in a word or two."""
        if self.exit_code == NOT_WORSE and self.unchanged:
            return "unchanged"
        return MEANING[self.exit_code]


def verdicts(
    base: ScoreTable, head: ScoreTable, rule: GateRule, manifests: Manifests | None = None, finished: bool = True,
    again: Again | None = None,
) -> BotVerdict:  # fmt: skip
    """Decide whether a bot became worse.

    Args:
        base: the bot as it was, or another one that it is held against.
        head: the bot as it is.
        rule: what is gated and what is let pass.
        manifests: of both runs, to tell why a metric is not comparable.
        finished: whether the head's run came to its end; the questions that it did not reach count as missing else.
        again: what was asked again, because its value had changed.
    """
    before, failed = (int((table.asked & ~table.answered).sum()) for table in (base, head))
    failures = Failures(before, failed, int(head.asked.sum()))
    base, head = (with_failures_wrong(table, rule.primary) for table in (base, head))
    pairing = pair(at_six_digits(base), at_six_digits(head), rule.cluster, manifests)
    gated = rule.gated(base, head)
    unasked = () if finished else pairing.dropped.base_only
    if unasked:  # what was not asked can't be the same
        pairing = replace(pairing, same_answers=False)
    metrics = tuple(_metrics(pairing, gated, rule, unasked, again))
    return BotVerdict(
        bot=head.bot, base_bot=base.bot, base_run=base.run, head_run=head.run, unchanged=pairing.same_answers,
        questions=len(pairing.cases), clusters=pairing.cluster_count, metrics=metrics,
        thresholds=tuple(threshold_verdicts(head, rule.thresholds, rule.missing, rule.scope == "these")),
        latency=latency_verdict(pairing, rule),
        flips=gate_flips(pairing, _by_weight(metrics, pairing), rule.flips, again),
        notes=(*([again.note] if again and again.note else []), *_notes(pairing, gated, rule, unasked)),
        failures=failures, primary=rule.primary if rule.primary in gated else "",
    )  # fmt: skip


def _metrics(
    pairing: Pairing, gated: Sequence[str], rule: GateRule, unasked: Sequence[str], again: Again | None
) -> Iterator[MetricVerdict]:
    """In the order of ``gated``; a metric that nobody named and that did not apply to the baseline is left out."""
    if pairing.same_answers:
        yield from _unchanged(pairing, gated, rule)
        return
    refused = {name: why for name in gated if (why := _refusal(pairing, name, bool(unasked)))}
    empty = {name: _empty(pairing, name) for name in gated if name not in refused}
    compared = [name for name in gated if name not in refused and not empty[name]]
    lost = {name: _count_with_value(pairing.base, name, unasked) for name in compared}
    found = {each.metric: each for each in metric_verdicts(pairing, compared, rule, lost, again)}
    for name in gated:
        if name in found:
            yield found[name]
        elif name in refused:
            yield not_comparable(name, rule, _column(pairing, name), refused[name])
        elif name in rule.named or empty[name] == NO_BASE or empty[name] == FAILED:
            yield not_comparable(name, rule, _column(pairing, name), empty[name])


def _unchanged(pairing: Pairing, gated: Sequence[str], rule: GateRule) -> Iterator[MetricVerdict]:
    """Equal answers are equally good, by whatever version of a metric; but one that nobody measures says nothing."""
    for name in gated:
        column = pairing.head.columns.get(name)
        if column is None or column.better == "neither":
            yield not_comparable(name, rule, _column(pairing, name), _refusal(pairing, name))
        else:
            yield unchanged(pairing, name, rule)


NOT_APPLICABLE = "it applied to no answer of the baseline"
NO_BASE = "the baseline should have values of it and has none"
FAILED = "neither side has a value of it, though it applies to the answers"


def _refusal(pairing: Pairing, name: str, ended_early: bool = False) -> str:
    """Why a metric can't be compared; blank where it can, and where the run ended before its first answer."""
    if name in pairing.refused:
        return pairing.refused[name]
    if name not in pairing.columns:
        return f"neither run measured it{_nearest(name, pairing.head.columns)}"
    if pairing.columns[name].better == "neither":
        return "neither direction of it is better, so it can't become worse"
    if not pairing.cases and not ended_early:
        return "no question is the same on both sides"
    return ""


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; they measured {', '.join(known)}"


def _empty(pairing: Pairing, name: str) -> str:
    """Why a metric that could be compared has nothing to be compared with; blank where it has."""
    base, head = pairing.values(name)
    if not pairing.cases or not np.isnan(base).all():
        return ""
    statuses = pairing.base.statuses[name][pairing.base_places]
    if np.isin(statuses, (ABSENT, STATUSES.index("not_applicable"))).all() and (statuses != ABSENT).any():
        return NOT_APPLICABLE
    return FAILED if np.isnan(head).all() else NO_BASE


def _count_with_value(table: ScoreTable, name: str, keys: Sequence[str]) -> int:
    places = [table.places[key] for key in keys]
    return int((~np.isnan(mean_of_repeats(table.values[name][places]))).sum()) if places else 0


def _column(pairing: Pairing, name: str) -> MetricColumn | None:
    return pairing.head.columns.get(name) or pairing.base.columns.get(name)


def _by_weight(metrics: Sequence[MetricVerdict], pairing: Pairing) -> list[str]:
    """The compared metrics, those that decide the verdict first."""
    order = {"regressed": 0, "undecided": 1, "not worse": 2}
    compared = [each for each in metrics if each.outcome in order and each.metric in pairing.metrics]
    return [each.metric for each in sorted(compared, key=lambda each: order[each.outcome])]


def _notes(pairing: Pairing, gated: Sequence[str], rule: GateRule, unasked: Sequence[str]) -> Iterator[str]:
    dropped = pairing.dropped
    if unasked:
        yield f"{_questions(unasked, ' of the baseline')} not asked, because the run did not finish: missing"
    elif dropped.base_only:
        yield f"{_questions(dropped.base_only, ' of the baseline')} not asked now"
    if dropped.head_only:
        yield f"{_questions(dropped.head_only)} not in the baseline"
    if dropped.reworded:
        yield f"{_questions(dropped.reworded)} left out, because the text changed"
    if dropped.remarked:
        yield f"{_questions(dropped.remarked)} left out, because what answers are marked by changed"
    if not pairing.same_answers and not rule.wanted:
        yield from _not_gated(pairing, gated)


def _not_gated(pairing: Pairing, gated: Sequence[str]) -> Iterator[str]:
    """Metrics that nobody chose to leave out, and that decide nothing."""
    base, head = pairing.base.columns, pairing.head.columns
    one_sided = [name for name in {**head, **base} if name not in base or name not in head]
    if one_sided:
        yield f"only one side has {', '.join(one_sided)}: not gated; name it under gate.margins if it has to be there"
    others = [name for name, column in head.items() if name in base and name not in gated and _is_bounded(column)]
    if others:
        yield f"{', '.join(others)} {'is' if len(others) == 1 else 'are'} on another scale than 0 to 1: not gated"
    silent = [name for name in gated if not _refusal(pairing, name) and _empty(pairing, name) == NOT_APPLICABLE]
    if silent:
        yield f"{', '.join(silent)} applied to no answer of the baseline: not gated"


def _is_bounded(column: MetricColumn) -> bool:
    """Whether a metric has a direction and two ends, so that a margin could be named for it."""
    return column.better != "neither" and column.low is not None and column.high is not None


def _questions(keys: Sequence[str], where: str = "") -> str:
    """``3 questions (a, b, c) were``, with the first keys."""
    more = ", ..." if len(keys) > MOST_NAMED else ""
    named = f"{count(len(keys), 'question')}{where} ({', '.join(keys[:MOST_NAMED])}{more})"
    return f"{named} {'was' if len(keys) == 1 else 'were'}"
