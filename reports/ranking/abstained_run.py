"""Abstained run: what the bots of a run answer and decline, what that costs, and from which confidence they should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import InputError
from ..comparing.comparable import mean_of_repeats
from ..comparing.score_table import Figures, RunTables, ScoreTable
from ..primary import by_directness, named_primary
from .abstention import NONE, WRONG, Abstention, Costs, Rule, abstention, costs_of
from .confidence import Confidence, confidences
from .promised_threshold import Promise, promise
from .ranked_run import known_metric
from .ranking import Goodness, Ranking, rank
from .risk_coverage import RiskCoverage, risk_coverage
from .shared_questions import cluster_codes, quality_metrics


@dataclass(frozen=True)
class Caution:
    """What a bot's confidence is worth.

    Attributes:
        confidence: what tells it.
        curve: risk by coverage; None where the bot answered nothing that can be marked.
        alike: the threshold that is promised for more questions like these; None likewise.
        elsewhere: the one for questions of other clusters; None also where every question is its own.
        hidden: rows that the bot declined below a setting of its own, so that lower thresholds can't be looked at.
    """

    confidence: Confidence
    curve: RiskCoverage | None
    alike: Promise | None
    elsewhere: Promise | None
    hidden: int


@dataclass(frozen=True)
class AbstainedRun:
    """A run by its four outcomes.

    Attributes:
        run: the run.
        rule: what makes an answer right.
        chosen: whether the rule's metric was chosen by us.
        costs: of the outcomes.
        risk: the share of wrong answers that is accepted.
        answerable, unanswerable, unknown: how many questions there are of each kind.
        bots: by name, in the order of their cost, least first.
        ranking: by cost, over the questions on which all have an outcome; None for one bot alone, or fewer than two
            clusters of such questions.
        cautions: by name of the bot, where it tells a confidence.
        without: bots of which no row has an outcome.
        cluster: what keeps questions together.
    """

    run: RunTables
    rule: Rule
    chosen: bool
    costs: Costs
    risk: float
    answerable: int
    unanswerable: int
    unknown: int
    bots: Mapping[str, Abstention]
    ranking: Ranking | None
    cautions: Mapping[str, Caution]
    without: tuple[str, ...]
    cluster: str


def abstained_run(
    run: RunTables, metric: str = "", threshold: float | None = None, costs: Costs | None = None, risk: float = 0.1,
    cluster: str = "source", seed: int = 0,
) -> AbstainedRun:  # fmt: skip
    """Work out the outcomes.

    Args:
        run: with the bots that are wanted.
        metric: that says whether an answer is right; blank takes the one that says it most directly.
        threshold: from which it is; None takes the run's.
        costs: of the outcomes.
        risk: the share of all questions that may be answered wrongly.
        cluster: what keeps questions together, as in ``comparable.pair``.
        seed: of the draws behind the ranking.

    Raises:
        InputError: no question says whether it can be answered, there is no such metric, or no threshold.
    """
    table = next(iter(run.tables.values()))
    told = [case.answerable for case in table.cases]
    if all(each is None for each in told):
        raise InputError(
            f"No question of run {run.run} says whether it can be answered. Give questions 'answerable: false' where"
            " the documents don't hold the answer, and true where they do, and run again: answers are kept."
        )
    rule = _rule(run, metric, threshold)
    taken = costs or Costs()
    codes = cluster_codes(table, cluster)
    made = {bot: abstention(each, rule, taken, codes) for bot, each in run.tables.items()}
    found = {bot: each for bot, each in made.items() if each is not None}
    if not found:
        raise InputError(f"Run {run.run}: no row can be told right from wrong by {rule.sentence}.")
    sure = confidences(run)
    return AbstainedRun(
        run=run,
        rule=rule,
        chosen=not metric,
        costs=taken,
        risk=risk,
        answerable=told.count(True),
        unanswerable=told.count(False),
        unknown=told.count(None),
        bots=dict(sorted(found.items(), key=lambda item: item[1].cost.value)),
        ranking=_ranking(found, taken, codes, seed),
        cautions={bot: _caution(run.tables[bot], found[bot], sure[bot], risk, codes) for bot in found if bot in sure},
        without=tuple(bot for bot in made if bot not in found),
        cluster=cluster,
    )


def _rule(run: RunTables, metric: str, threshold: float | None) -> Rule:
    table = next(iter(run.tables.values()))
    if metric:
        column = table.columns[known_metric(metric, table)]
        given = column.threshold if threshold is None else threshold
        if given is None:
            raise InputError(f"{metric} has no threshold in run {run.run}. Name one with --threshold.")
        return Rule(column, given)
    means = {name: [_mean(each.values[name]) for each in run.tables.values()] for name in quality_metrics(run)}
    primary = [name for name in [named_primary(run.manifest)] if name in table.columns]
    for name in dict.fromkeys([*primary, *by_directness(means)]):
        column = table.columns[name]
        given = column.threshold if threshold is None else threshold
        if given is not None:
            return Rule(column, given)
    raise InputError(
        f"No metric of run {run.run} has a threshold, so none says which answers are right. Name one with --metric ID"
        f" --threshold X. Its metrics: {', '.join(table.columns)}."
    )


def _mean(values: Figures) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.0


def _ranking(found: Mapping[str, Abstention], costs: Costs, codes: NDArray[np.intp], seed: int) -> Ranking | None:
    """The bots by cost, on the questions on which all have an outcome."""
    goodness = np.column_stack([-mean_of_repeats(costs_of(each.outcomes, costs)) for each in found.values()])
    places = np.flatnonzero(np.isfinite(goodness).all(axis=1))
    if len(found) < 2 or len(np.unique(codes[places])) < 2:
        return None
    return rank(Goodness(tuple(found), goodness[places], codes[places]), seed)


def _caution(
    table: ScoreTable, found: Abstention, confidence: Confidence, risk: float, codes: NDArray[np.intp]
) -> Caution:
    known = found.outcomes != NONE
    given = known & (table.declined != 1) & np.isfinite(confidence.values)
    wrong = found.outcomes == WRONG
    unsure = known & (table.declined != 1) & ~given  # answers of unknown confidence are nowhere on the curve
    whole = known.all(axis=1) & ~unsure.any(axis=1)
    sure = np.where(given, confidence.values, -np.inf)[whole]
    clusters = np.unique(codes[whole], return_inverse=True)[1]
    alone = len(clusters) == len(set(clusters.tolist()))
    floor = confidence.floor
    return Caution(
        confidence=confidence,
        curve=risk_coverage(wrong[given], confidence.values[given], int((known & ~unsure).sum())),
        alike=promise(wrong[whole], sure, risk),
        elsewhere=None if alone else promise(wrong[whole], sure, risk, clusters),
        hidden=int((known & (table.declined == 1)).sum()) if floor is not None and floor > 0 else 0,
    )
