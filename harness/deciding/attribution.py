"""Attribution: which of several changes made together cost the points, by holding the configurations between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from ... import InputError
from ...reports.comparing.attribution import MetricEffects, effects
from ...reports.comparing.comparable import mean_of_repeats, pair
from ...reports.comparing.run_tables import run_tables
from ...reports.comparing.score_table import ScoreTable
from ...reports.ledger import OpenRun
from ...reports.store import Store
from ...reports.summary import find_run
from ..engine.engine import Watcher
from ..engine.lanes import Lane
from ..exams.exam import Exam, hold
from ..exams.suite_exam import suite_exam
from .attribution_plan import AttributionPlan
from .attribution_result import Attribution
from .factors import PROMPT

Watching = Callable[[], AbstractContextManager[Watcher]]


def attribute(
    plan: AttributionPlan, store: Store, base: ScoreTable, head: ScoreTable, watching: Watching,
    told: Callable[[str], None] | None = None, cluster: str = "source", seed: int = 0,
    metrics: Sequence[str] | None = None,
) -> Attribution:  # fmt: skip
    """Hold the configurations between and say what each change did.

    Args:
        plan: what is to be held.
        store: the database in which the configurations are kept, as runs of their own.
        base: the bot of the baseline.
        head: the bot as it is now.
        watching: makes somebody who watches an exam.
        told: told a sentence before each of them.
        cluster: how questions are clustered.
        seed: of the draws.
        metrics: those that are wanted; None for all that are comparable.

    Raises:
        InputError: the bot of a configuration could not be asked.
    """
    tables, asked = {}, 0
    pairing = pair(base, head, cluster)
    keys = [case.key for case in pairing.cases]
    for place, new in enumerate(plan.between, 1):
        if told is not None:
            told(f"{plan.bot}, {place} of {len(plan.between)} configurations: {plan.worded(new)}")
        tables[new], count = _held(plan, new, store, frozenset(keys), watching, told)
        asked += count
    tables[frozenset(plan.names)] = head
    tables.setdefault(frozenset(), base)
    kept = [place for place, key in enumerate(keys) if all(key in table.places for table in tables.values())]
    found: list[MetricEffects] = []
    for name in pairing.metrics:
        if (metrics is not None and name not in metrics) or any(name not in table.values for table in tables.values()):
            continue
        old, _ = pairing.values(name)
        between = {
            new: mean_of_repeats(table.values[name][[table.places[keys[place]] for place in kept]])
            for new, table in tables.items()
        }
        first = "" if plan.around is None else plan.around.name
        made = effects(pairing.columns[name], old[kept], between, plan.names, pairing.clusters[kept], first, seed)
        if made is not None:
            found.append(made)
    changes = {factor.name: factor.change for factor in (*plan.factors, *([plan.around] if plan.around else []))}
    return Attribution(plan.bot, base.run, head.run, changes, tuple(found), len(plan.between), asked)


def comparable_keys(base: ScoreTable, head: ScoreTable) -> frozenset[str]:
    """The questions that are asked of the configurations between: what can't be compared in the end need not be."""
    return frozenset(case.key for case in pair(base, head).cases)


def _held(
    plan: AttributionPlan,
    new: frozenset[str],
    store: Store,
    keys: frozenset[str],
    watching: Watching,
    told: Callable[[str], None] | None,
) -> tuple[ScoreTable, int]:
    with plan.suite(new) as loaded:
        exam = asked_only(_noted(suite_exam(loaded, plan.options, plan.environ, told), plan, new), keys)
    with watching() as watcher:
        outcome = hold(exam, store, watcher)
    if outcome.unable:
        why = outcome.problems.get(plan.bot, "it gave no answer")
        raise InputError(f"{plan.bot} with {plan.worded(new)} could not be asked: {why}")
    run_id, _ = find_run(store, outcome.summary.run)
    return run_tables(store, run_id, [plan.bot]).tables[plan.bot], outcome.asked


def asked_only(exam: Exam, keys: frozenset[str]) -> Exam:
    """The exam with these questions alone: what can't be compared in the end need not be asked."""

    def lanes(run: OpenRun) -> list[Lane]:
        made = []
        for lane in exam.lanes(run):
            items = [
                item._replace(position=place) for place, item in enumerate(lane.items()) if item.question.id in keys
            ]
            made.append(dataclasses.replace(lane, items=lambda items=items: items, total=len(items)))  # type: ignore[misc]
        return made

    return dataclasses.replace(exam, lanes=lanes)


def _noted(exam: Exam, plan: AttributionPlan, new: frozenset[str]) -> Exam:
    """The exam with what it is for in its manifest, which names no file that is gone."""
    note = {"bot": plan.bot, "baseline": plan.record.run, "new": sorted(new), "old": sorted(set(plan.names) - new)}
    made = dict(exam.header.manifest)
    settings = made.get("settings")
    if isinstance(settings, dict) and PROMPT not in new and PROMPT in plan.names:
        of_bot = settings["suite"]["bots"][plan.bot]
        of_bot["prompt"] = f"(that of run {plan.record.run})"
    return dataclasses.replace(exam, header=dataclasses.replace(exam.header, manifest={**made, "attribution": note}))
