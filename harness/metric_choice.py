"""Metric choice: which metrics a run has, from the suite or from what its questions provide."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .. import InputError

if TYPE_CHECKING:
    from ..metrics.catalog import Catalog
    from ..metrics.plan import Plan

# What a suite that names no metrics gets, and what some question must have for it to say anything.
DEFAULTS = (
    ("exact_match", "expected"),
    ("keyword_recall", "expected"),
    ("rouge_l", "expected"),
    ("answer_similarity", "expected"),
    ("answer_relevancy_sentence", ""),
    ("groundedness", ""),
    ("politeness", ""),
    ("answer_length", ""),
    ("latency_ms", ""),
)


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """The plan, and sentences about what was left out."""

    plan: Plan
    warnings: tuple[str, ...] = ()


def choose_metrics(
    catalog: Catalog,
    wanted: Sequence[str | Mapping[str, Mapping[str, object]]] | None,
    thresholds: Mapping[str, float],
    provides: Mapping[str, int],
    models: Mapping[str, str],
    empty_contexts: Literal["not_applicable", "zero"] = "not_applicable",
) -> MetricChoice:
    """Plan the metrics that a suite names, or the defaults that its questions allow.

    Raises:
        InputError: no such metric or option, or a threshold for a metric that is not in the run.
    """
    warnings: list[str] = []
    if wanted is None:
        ids = [name for name, need in DEFAULTS if not need or provides.get(need)]
        left_out = [name for name, _ in DEFAULTS if name not in ids]
        if left_out:
            warnings.append(f"No question has an expected answer, so these are left out: {', '.join(left_out)}.")
        options: dict[str, Mapping[str, object]] = {}
    else:
        ids, options = _named(wanted)
    plan = catalog.plan(ids, options=options, empty_contexts=empty_contexts, models=models)
    for name in thresholds:
        if name not in ids:
            near = difflib.get_close_matches(name, ids, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"thresholds names {name!r}, which is not among the metrics of the run.{hint}")
    return MetricChoice(plan, tuple(warnings))


def _named(
    wanted: Sequence[str | Mapping[str, Mapping[str, object]]],
) -> tuple[list[str], dict[str, Mapping[str, object]]]:
    ids: list[str] = []
    options: dict[str, Mapping[str, object]] = {}
    for entry in wanted:
        if isinstance(entry, str):
            ids.append(entry)
            continue
        for name, chosen in entry.items():
            ids.append(name)
            options[name] = chosen
    twice = [name for name in ids if ids.count(name) > 1]
    if twice:
        raise InputError(f"The metric {twice[0]!r} is named twice; once is enough.")
    return ids, options
