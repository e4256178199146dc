"""What all metrics on local models have in common: versions, rows without a value, evidence that stays small."""

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from proctor import InputError
from proctor.knowledge.models.language_models import Likelihood
from proctor.knowledge.models.pool import LocalModels
from proctor.knowledge.models.running import Checked
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.facts import LOCAL_MODELS
from stub_checker import StubChecker
from stub_classifier import StubClassifier
from stub_grounding import ScriptedDetector
from stub_language_model import StubLanguageModel
from tables import in_one_test

CATALOG = builtin_catalog()
# Asks for its model with this option alone.
OPTIONS = {"answer_similarity": {"method": "cross_encoder"}}
NEEDS = {one.id: set(one.needs) for one in CATALOG.plan(list(CATALOG.metrics), options=OPTIONS).metrics}
METRICS = [name for name, needs in NEEDS.items() if needs & set(LOCAL_MODELS)]
VERIFIERS = ("hhem", "minicheck", "alignscore", "lettucedetect")


FACTS: Facts = {
    "question": "How long do refunds take, and how are they paid?",
    "answer": "Refunds take 14 days. They are paid in cash.",
    "expected": "It takes two weeks, and cash is paid.",
    "contexts": ["A refund takes two weeks.", " ", "Cash is not paid."],
}
GPTSCORES = [name for name in METRICS if name.startswith("gptscore_")]


class SameForAll:
    """An entailment model that says the same of every pair."""

    model_id = "same@1"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def entailed(self, pairs: Sequence[tuple[str, str]]) -> Checked:
        self.asked += pairs
        return Checked(np.full((len(pairs), 3), 1 / 3, dtype=np.float32), np.zeros(len(pairs), dtype=np.bool_))


def tools(answer: str) -> Facts:
    """A model for each role; the detector of spans marks the whole answer."""
    checker, language_model = StubChecker(), StubLanguageModel([Likelihood(1.0, 1)])
    return {
        "hallucination_model": checker,
        "minicheck_model": checker,
        "alignscore_model": checker,
        "lettucedetect_model": ScriptedDetector((answer,)),
        "perplexity_model": language_model,
        "gptscore_model": language_model,
        "toxicity_model": StubClassifier(
            ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate"), {answer: (1.0,) * 6}
        ),
        "fairness_bias_model": StubClassifier(("Non-biased", "Biased")),
        "summac_model": SameForAll(),
        "similarity_model": checker,
    }


def scored(ids: Sequence[str], facts: Facts, verifier: str = "judge") -> list[Score]:
    return asyncio.run(CATALOG.plan(ids, options={**OPTIONS, "faithfulness": {"verifier": verifier}}).score(facts))


def versions(**models: str) -> dict[str, str]:
    return {one.id: one.version for one in CATALOG.plan(METRICS, options=OPTIONS, models=models).metrics}


@in_one_test("tool", LOCAL_MODELS)
def test_another_model_is_another_version_of_its_metrics_alone(tool: str) -> None:
    before, after = versions(**{tool: "a@1"}), versions(**{tool: "a@2"})
    changed = {name for name in METRICS if before[name] != after[name]}
    assert changed == {name for name in METRICS if tool in NEEDS[name]}
    assert changed


@in_one_test(
    ("metrics", "changed", "reason"),
    [
        (["hallucination", "minicheck", "alignscore", "lettucedetect"], {"contexts": None}, "contexts_missing"),
        (["hallucination", "minicheck", "alignscore", "lettucedetect"], {"contexts": []}, "contexts_empty"),
        (["hallucination", "minicheck", "alignscore", "lettucedetect"], {"contexts": ["", " "]}, "contexts_empty"),
        (METRICS, {"answer": None}, "answer_missing"),
        (["hallucination", "lettucedetect", "perplexity", *GPTSCORES], {"answer": " \n"}, "answer_empty"),
        ([name for name in METRICS if name.startswith("toxicity")], {"answer": ""}, "answer_empty"),
        (["fairness_bias"], {"answer": " "}, "answer_empty"),
        (["minicheck", "alignscore", "summac_zs", "summac_conv"], {"answer": " "}, "no_sentences"),
        (["minicheck", "alignscore", "toxicity"], {"answer": "- \n* "}, "no_sentences"),
        (["summac_zs", "summac_conv"], {"answer": "Yes. No."}, "no_sentences"),
        (["summac_zs", "summac_conv"], {"question": "Why? So."}, "no_sentences"),
        (["summac_zs", "summac_conv"], {"question": " "}, "question_missing"),
        ([name for name in GPTSCORES if "_mt_" in name or "_sumref_" in name], {"expected": " "}, "expected_missing"),
        ([name for name in GPTSCORES if "_qa_" in name or "_sum_" in name], {"question": None}, "question_missing"),
    ],
)
def test_rows_with_nothing_to_measure_say_why_and_no_model_is_asked(
    metrics: list[str], changed: Facts, reason: str
) -> None:
    models = tools("Refunds take 14 days.")
    found = scored(metrics, {**FACTS, **models, **changed})
    assert {(one.value, one.status, one.reason) for one in found} == {(None, "not_applicable", reason)}
    assert [name for name, model in models.items() if model.asked] == []  # type: ignore[attr-defined]


def test_a_text_without_a_token_that_counts_is_too_short() -> None:
    model = StubLanguageModel([Likelihood(math.nan, 0)])
    (score,) = scored(["perplexity"], {"answer": "a", "perplexity_model": model})
    assert (score.value, score.status, score.reason) == (None, "not_applicable", "too_short")


def test_a_model_that_is_not_here_is_an_error_that_says_what_to_do() -> None:
    class Hub:
        def cached(self, model: str, revision: str | None, files: Sequence[str] = ()) -> None: ...
        def download(self, model: str, revision: str | None, files: Sequence[str] = ()) -> None: ...
        def reachable(self) -> bool:
            return False

    models = LocalModels(hub=Hub())
    absent = {tool: models.tool(tool.removesuffix("_model")) for tool in LOCAL_MODELS}
    try:
        found = scored(METRICS, {**FACTS, **absent})  # type: ignore[typeddict-item]
    finally:
        models.close()
    found += scored(METRICS, {**FACTS, **dict.fromkeys(LOCAL_MODELS)})  # type: ignore[typeddict-item]
    assert {(one.value, one.status, one.reason) for one in found} == {(None, "error", "model_unavailable")}
    for one in found[: len(METRICS)]:
        (role,) = NEEDS[one.metric] & set(LOCAL_MODELS)
        assert f"proctor models fetch {role.removesuffix('_model')}" in str(one.details["message"]), one.metric


@pytest.mark.parametrize("text", ["long " * 20_000, "A sentence of its own, and not a short one at that. " * 100])
def test_details_do_not_repeat_long_texts(text: str) -> None:
    text = text.strip()
    facts: Facts = {"question": text, "answer": text, "expected": text, "contexts": [text, text], **tools(text)}
    found = scored(METRICS, facts)
    found += [score for verifier in VERIFIERS for score in scored(["faithfulness"], facts, verifier)]
    assert {score.status for score in found} == {"ok"}
    for score in found:
        size = len(json.dumps(dict(score.details)))
        sentences = text.count(".") or 1
        assert size < 1_000 + 900 * sentences, (score.metric, size)
        if sentences == 1:
            assert text[:400] not in json.dumps(dict(score.details)), score.metric


OWN = '''
from proctor.metrics import artefact, metric
from proctor.metrics.tools import {annotation}

@artefact
async def rudeness(answer: str, {need}: {annotation}) -> float:
    """How rude the model finds the answer."""
    said = await {need}.classify([answer])
    return float(said.logits[0, 0])

@metric(better="lower", low=None, high=None)
def rude(rudeness: float) -> float:
    """How rude the answer is."""
    return rudeness
'''


def own(folder: Path, need: str, annotation: str, model: object) -> Score:
    (folder / "mine.py").write_text(OWN.format(need=need, annotation=annotation), encoding="utf-8")
    plan = CATALOG.with_file(folder / "mine.py").plan(["rude"], models={need: "stub@1"})
    (score,) = asyncio.run(plan.score({"answer": "You fool.", need: model}))  # type: ignore[misc]
    return score


def test_a_metric_of_ones_own_asks_for_a_model_by_its_name(tmp_path: Path) -> None:
    score = own(tmp_path, "toxicity_model", "Classifier", StubClassifier(("toxic",), {"You fool.": (2.5,)}))
    assert (score.value, score.status) == (2.5, "ok")
    absent = own(tmp_path, "toxicity_model", "Classifier", None)
    assert (absent.value, absent.status, absent.reason) == (None, "error", "model_unavailable")


def test_a_model_of_another_kind_than_its_own_metric_takes_it_for_is_told(tmp_path: Path) -> None:
    score = own(tmp_path, "minicheck_model", "Classifier", StubChecker())
    assert (score.value, score.status, score.reason) == (None, "error", "metric_raised")
    assert score.details["message"] == "'StubChecker' object has no attribute 'classify'"
    assert (score.details["raised_by"], score.details["line"]) == ("rudeness", 8)


def test_a_misspelt_model_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"asks for 'toxicty_model', which nothing .*; did you mean 'toxicity_model'"):
        own(tmp_path, "toxicty_model", "Classifier", None)
