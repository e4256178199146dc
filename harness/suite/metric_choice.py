"""Metric choice: which metrics a run has, from the suite or from what its questions and bots provide."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from ... import InputError
from ...reports.primary import check_primary
from ...reports.problem import listed
from ...reports.run import RunEvaluator
from .metric_entries import Entry, EntryError, Wanted, outside_range, read_entries, settled_options, with_options

if TYPE_CHECKING:
    from ...metrics.catalog import Catalog
    from ...metrics.plan import Plan

# What a run has whose suite names no metrics, and what somebody must provide for it to say anything. One line each on
# the leaderboard: of whole families only what a first look needs.
DEFAULTS: Final[Mapping[str, tuple[str, ...]]] = {
    "exact_match": ("expected",),
    "keyword_recall": ("expected",),
    "rouge_l": ("expected",),
    "answer_similarity": ("expected",),
    "tokens_presence.passes": ("constraints",),
    "answer_relevancy_sentence": ("text",),
    "faithfulness": ("contexts",),
    "hit_rate": ("evidence", "contexts"),
    "mrr": ("evidence", "contexts"),
    "ndcg": ("evidence", "contexts"),
    "politeness": (),
    "answer_length": (),
    "latency_ms": ("latency_ms",),
}
# What it has as well where a language model grades; the embedded judge grades also what a suite names.
JUDGED: Final[Mapping[str, tuple[str, ...]]] = {
    "answer_relevancy": ("text",),
    "context_precision": ("expected", "contexts"),
    "context_recall": ("expected", "contexts"),
    "answer_correctness": ("expected",),
}
LACKING: Final = {
    "expected": "no question has an expected answer",
    "constraints": "no question has constraints",
    "evidence": "no question has gold evidence",
    "text": "no question is known",
    "contexts": "no bot returns contexts",
    "latency_ms": "no latency is known",
}


@dataclass(frozen=True, slots=True)
class MetricChoice:
    """What a run is scored by.

    Attributes:
        plan: the metrics.
        evaluators: the groups in which they stand; each metric is in at least one.
        thresholds: what a value must reach to pass, where that is not the metric's own.
        left_out: defaults that the run does without, and why; empty where the suite names its metrics.
        warnings: sentences about what was left out.
        primary: the metric by which the run is read; blank where nobody names one.
        default_thresholds: the metrics whose threshold nobody set: not the suite, and not whoever wrote the metric.
    """

    plan: Plan
    evaluators: tuple[RunEvaluator, ...]
    thresholds: Mapping[str, float]
    left_out: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    primary: str = ""
    default_thresholds: frozenset[str] = frozenset()


def choose_metrics(
    catalog: Catalog,
    wanted: Sequence[Entry] | None,
    thresholds: Mapping[str, float],
    provides: Mapping[str, int],
    models: Mapping[str, str],
    empty_contexts: Literal["not_applicable", "zero"] = "not_applicable",
    is_judged: bool = False,
    own_prompts: bool = False,
    primary: str = "",
    options: Sequence[str] = (),
) -> MetricChoice:
    """Plan the metrics and evaluators that a suite names, or the defaults that its questions and bots allow.

    Args:
        catalog: all metrics that there are.
        wanted: entries of the suite: a metric, an evaluator, or a mapping from either to its settings.
        thresholds: what a value must reach to pass, by metric; they go before an evaluator's own threshold.
        provides: how many questions or bots have what the keys of ``LACKING`` name.
        models: id of the model behind each tool.
        empty_contexts: what metrics of retrieval say when nothing was retrieved.
        is_judged: whether a language model grades, so that its metrics are among the defaults.
        primary: the metric that the suite names as such; blank where it names none.
        options: values for options of these metrics, as the command line gives them: ``METRIC.KEY=VALUE``.
        own_prompts: whether the catalog has metrics from the suite's own prompts; they are defaults like the others.

    Raises:
        InputError: no such metric, evaluator or option, or a threshold for a metric that is not in the run.
    """
    judged = {**JUDGED, **({"byop": ()} if own_prompts else {})} if is_judged else {}
    defaults: Mapping[str, Sequence[str]] = {**DEFAULTS, **judged}
    left_out = _left_out(defaults, provides) if wanted is None else {}
    entries = [name for name in defaults if name not in left_out] if wanted is None else wanted
    chosen, warnings = read_entries(with_options(entries, options, catalog) if options else entries, catalog)
    ids = list(dict.fromkeys(metric for each in chosen for metric in each.metrics))
    plan = catalog.plan(ids, options=settled_options(chosen), empty_contexts=empty_contexts, models=models)
    _check_thresholds(thresholds, ids, catalog)
    if left_out:
        warnings.append(_sentence(left_out))
    settled = _settled_thresholds(chosen) | dict(thresholds)
    if primary:
        primary = _primary(primary, chosen, plan)
    unset = _unset_thresholds(chosen, settled)
    evaluators = _in_run(chosen, settled, unset, catalog)
    return MetricChoice(plan, evaluators, settled, left_out, tuple(warnings), primary, unset)


def _unset_thresholds(chosen: Sequence[Wanted], settled: Mapping[str, float]) -> frozenset[str]:
    """The metrics of ours whose threshold is a default; ``all_metrics`` asks for the defaults of its evaluator."""
    from ...metrics import builtin_catalog

    ours = builtin_catalog().metrics
    in_run = {metric for each in chosen for metric in each.metrics}
    wanted = {metric for each in chosen if each.parameters.all_metrics for metric in each.metrics}
    unset = in_run - wanted - settled.keys()
    return frozenset(metric for metric in unset if metric in ours or metric.startswith("byop."))


def _primary(name: str, chosen: Iterable[Wanted], plan: Plan) -> str:
    """The metric that is meant: one of the run, or that of one of its evaluators."""
    metrics = {metric.id: metric for metric in (*plan.metrics, *plan.run_metrics)}
    of_evaluator = {each.evaluator.id: each.primary for each in chosen}
    meant = name if name in metrics else of_evaluator.get(name, name)
    try:
        return check_primary(meant, metrics)
    except InputError as error:
        raise EntryError(("primary",), str(error)) from error


def check_spelling(path: Path, misspelt: Mapping[str, str], provides: Mapping[str, int], plan: Plan) -> None:
    """See that no metric goes without what the file seems to have under another name.

    Args:
        path: the file.
        misspelt: by what it should fill, a key of the file that is not known.
        provides: how many rows have what the fields fill.
        plan: metrics that somebody asked for.

    Raises:
        InputError: a metric needs what no row has and such a key was meant for.
    """
    for fills, key in misspelt.items():
        needing = [metric.id for metric in (*plan.metrics, *plan.run_metrics) if fills in metric.needs]
        if needing and not provides.get(fills):
            name = {"expected": "expected_answer"}.get(fills, fills)
            verb, them = ("needs", "it") if len(needing) == 1 else ("need", "these")
            raise InputError(
                f"{path}: no row has `{name}`, which {listed(needing)} {verb}, but there is `{key}`. "
                f"Rename `{key}` to `{name}`, if that is it, or leave {them} out of the metrics."
            )


def _left_out(defaults: Mapping[str, Sequence[str]], provides: Mapping[str, int]) -> dict[str, str]:
    """The defaults for which something is lacking, each with the first such thing."""
    lacking = {name: next((need for need in needs if not provides.get(need)), "") for name, needs in defaults.items()}
    return {name: LACKING[need] for name, need in lacking.items() if need}


def _sentence(left_out: Mapping[str, str]) -> str:
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    parts = [f"{', '.join(metrics)} ({reason})" for reason, metrics in reasons.items()]
    return f"Left out of the default metrics: {'; '.join(parts)}."


def _check_thresholds(thresholds: Mapping[str, float], ids: Sequence[str], catalog: Catalog) -> None:
    for name, threshold in thresholds.items():
        if name not in ids:
            near = difflib.get_close_matches(name, ids, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            said = f"thresholds names {name!r}, which is not among the metrics of the run.{hint}"
            raise EntryError(("thresholds", name), said)
        if outside := outside_range(name, threshold, catalog):
            raise EntryError(("thresholds", name), outside)


def _settled_thresholds(chosen: Iterable[Wanted]) -> dict[str, float]:
    """The thresholds that the evaluators give to their primary metrics."""
    settled: dict[str, float] = {}
    for each in chosen:
        threshold = each.parameters.metric_threshold
        if threshold is not None and settled.setdefault(each.primary, threshold) != threshold:
            said = f"'{each.evaluator.id}' gives the metric '{each.primary}' the threshold {threshold:g}"
            raise EntryError(each.path, f"{said}, and another evaluator {settled[each.primary]:g}.")
    return settled


def _in_run(
    chosen: Iterable[Wanted], thresholds: Mapping[str, float], unset: frozenset[str], catalog: Catalog
) -> tuple[RunEvaluator, ...]:
    return tuple(
        RunEvaluator(
            id=each.evaluator.id,
            title=each.evaluator.title,
            primary=each.primary,
            metrics=each.metrics,
            board=each.evaluator.board,
            problem_type=each.evaluator.problem_type,
            parameters={
                "metric_threshold": thresholds.get(each.primary, catalog.metric(each.primary).threshold),
                "metric_threshold_is_default": each.primary in unset
                and catalog.metric(each.primary).threshold is not None,
                "all_metrics": each.parameters.all_metrics,
                "min_test_cases": each.parameters.min_test_cases,
                "save_rows": each.parameters.save_rows,
                "options": dict(each.options),
            },
        )
        for each in chosen
    )
