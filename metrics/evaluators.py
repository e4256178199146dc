"""Evaluators: which named groups of metrics there are, and what a name in a suite stands for."""

import re
from collections.abc import Iterable
from typing import Final

from .. import InputError
from .catalog import Catalog
from .entries import Metric
from .evaluator_table import EVALUATORS, GROUPS, RATES, Evaluator, own_prompt
from .messages import nearest

__all__ = [
    "EVALUATORS", "GROUPS", "RATES", "Evaluator", "evaluator_of", "is_of_the_suite", "missing_from", "named", "names",
    "options_of",
]  # fmt: skip

_OWN: Final = "byop"
_OWN_RATE: Final = re.compile(rf"{_OWN}\.(.+)\.({'|'.join(RATES)})")


def evaluator_of(metric: str) -> Evaluator | None:
    """The evaluator to which a metric belongs, that of which it is the primary one first; None for a free one."""
    own = _OWN_RATE.fullmatch(metric)
    if own:
        return own_prompt(own[1])
    holders = [evaluator for evaluator in EVALUATORS.values() if metric in evaluator.metrics]
    return next((each for each in holders if each.primary == metric), holders[0] if holders else None)


def named(name: str, catalog: Catalog) -> tuple[Evaluator, ...]:
    """The evaluators for which a name stands: that of a metric, of an evaluator or of a group.

    A metric's own name gives an evaluator with that metric alone. ``byop`` stands for all prompts of one's own.

    Raises:
        InputError: there is nothing of that name, or none of its metrics is there yet.
    """
    if name in catalog.metrics:
        return (_alone(name, catalog),)
    prompts = own_prompts(catalog)
    if name in prompts:
        return (prompts[name],)
    if name == _OWN:
        if not prompts:
            raise InputError("'byop' stands for prompts of your own; name their files under 'byop:' in the suite.")
        return tuple(prompts.values())
    if name not in EVALUATORS and name not in GROUPS:
        raise InputError(f"There is no metric or evaluator '{name}'{nearest(name, names(catalog))}")
    wanted = tuple(EVALUATORS[member] for member in GROUPS.get(name, (name,)))
    there = tuple(evaluator for evaluator in wanted if evaluator.there(catalog))
    if not there:
        raise InputError(
            f"The evaluator '{name}' is known but not yet there; 'proctor metrics --evaluators' lists those that are."
        )
    return there


def own_prompts(catalog: Catalog) -> dict[str, Evaluator]:
    """The evaluators of the prompts of one's own that the catalog holds, by name."""
    found = [own for own in map(_OWN_RATE.fullmatch, catalog.metrics) if own and own[2] == RATES[0]]
    prompts = [own_prompt(own[1], catalog.metrics[own[0]].needs) for own in found]
    return {each.id: each for each in prompts}


def names(catalog: Catalog) -> list[str]:
    """All that ``named`` understands and can give: metrics, evaluators and groups that are there."""
    there = [each.id for each in EVALUATORS.values() if each.there(catalog)]
    groups = [name for name, members in GROUPS.items() if any(member in there for member in members)]
    prompts = own_prompts(catalog)
    own = [*prompts, *([_OWN] if prompts else [])]
    return list(dict.fromkeys([*catalog.metrics, *there, *own, *groups]))


def options_of(metrics: Iterable[str], catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """The options of some metrics and of the artefacts under them: name of the option, and who has it."""
    owners: dict[str, tuple[str, ...]] = {}
    seen: set[str] = set()
    waiting = list(metrics)
    while waiting:
        name = waiting.pop()
        entry = catalog.metrics.get(name) or catalog.artefacts.get(name)
        if entry is None or name in seen:  # a fact
            continue
        seen.add(name)
        waiting += [need.name for need in entry.parameters]
        waiting += entry.declaration.adds_up if isinstance(entry, Metric) else ()
        for option in entry.options:
            owners[option] = (*owners.get(option, ()), name)
    return owners


def is_of_the_suite(evaluator: Evaluator) -> bool:
    """Whether a suite's own prompts bring the metrics with them, so that no catalog of ours has them."""
    return evaluator.id == _OWN


def missing_from(evaluator: Evaluator, catalog: Catalog) -> list[str]:
    """Those of its metrics that are not yet there."""
    there = evaluator.there(catalog)
    return [metric for metric in evaluator.metrics if metric not in there]


def _alone(metric: str, catalog: Catalog) -> Evaluator:
    if metric in EVALUATORS:
        return EVALUATORS[metric]
    family = evaluator_of(metric)
    title = metric.replace("_", " ").replace(".", ": ")
    return Evaluator(
        id=metric,
        title=title[:1].upper() + title[1:],
        metrics=(metric,),
        primary=metric,
        needs=catalog.metrics[metric].needs,
        problem_type=family.problem_type if family else "accuracy",
        rag_only=family.rag_only if family else False,
    )
