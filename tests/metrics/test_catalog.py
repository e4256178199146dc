import asyncio
import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
import types
import typing
from pathlib import Path

import proctor.metrics
import pytest
from proctor import InputError
from proctor.metrics import Artefact, Catalog, Facts, Metric, RunFacts, artefact, builtin_catalog, metric
from proctor.metrics.declaration import MetricDeclaration, MetricSettings
from proctor.metrics.facts import ROW_CHECKS, RUN_CHECKS

CATALOG = builtin_catalog()
MODULES = [module.name for module in pkgutil.walk_packages(proctor.metrics.__path__, "proctor.metrics.")]


@metric
def fine(answer: str) -> float:
    """Fine."""
    return float(len(answer))


@pytest.mark.parametrize("entry", [*CATALOG.metrics.values(), *CATALOG.artefacts.values()], ids=lambda entry: entry.id)
def test_every_annotation_is_what_its_name_provides(entry: Metric | Artefact) -> None:
    level = entry.level if isinstance(entry, Metric) else "row"
    facts = typing.get_type_hints(Facts if level == "row" else RunFacts)
    hints = typing.get_type_hints(entry.function)
    for need in entry.parameters:
        if need.name in CATALOG.artefacts and level == "row":
            provided = typing.get_type_hints(CATALOG.artefacts[need.name].function)["return"]
        else:
            provided = without_none(facts[need.name])
        hint = hints[need.name] if need.required else without_none(hints[need.name])
        assert hint == provided, f"{entry.id}({need.name})"


def without_none(hint: object) -> object:
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        kept = [one for one in typing.get_args(hint) if one is not type(None)]
        return typing.Union[tuple(kept)]  # noqa: UP007 - made from a list
    return hint


def test_every_fact_has_a_check() -> None:
    assert set(ROW_CHECKS) == set(Facts.__annotations__)
    assert set(RUN_CHECKS) == set(RunFacts.__annotations__)


@pytest.mark.parametrize("entry", [*CATALOG.metrics.values(), *CATALOG.artefacts.values()], ids=lambda entry: entry.id)
def test_every_docstring_begins_with_one_sentence(entry: Metric | Artefact) -> None:
    first, *others = (inspect.getdoc(entry.function) or "").splitlines()
    assert first.endswith(".")
    assert not others or others[0] == ""


@pytest.mark.parametrize("entry", CATALOG.metrics.values(), ids=lambda entry: entry.id)
def test_every_metric_says_where_it_comes_from(entry: Metric) -> None:
    assert entry.source
    assert entry.summary == entry.documentation.splitlines()[0]
    assert entry.needs


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_thresholds_and_directions_are_those_of_the_specification() -> None:
    three_quarters = {
        "keyword_recall", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "bleu", "rouge_1", "rouge_2", "rouge_l",
        "answer_similarity", "answer_relevancy_sentence", "answer_relevance_mean", "groundedness",
        "unique_sentences", "longest_repeated_substring", "compression_ratio", "accuracy", "precision", "recall", "f1",
        "context_recall_relevancy", "context_precision_relevancy", "summary_completeness",
        "answer_correctness", "answer_relevancy", "faithfulness", "context_precision", "context_recall",
        "context_relevancy", "ragas", "context_precision_ratio", "context_recall_claims", "context_entities_recall",
        "judge_relevance", "judge_faithfulness", "judge_safety", "judge_robustness",
        "toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack", "fairness_bias",
        "hallucination", "minicheck", "alignscore", "summac_zs", "summac_conv",
    }  # fmt: skip
    noise = {"noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant"}
    others = {"exact_match": 1.0, "row_correct": 1.0, "bot_error_rate": 0.0, "parse_failure_rate": 0.2}
