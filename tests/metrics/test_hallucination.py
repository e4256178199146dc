import asyncio
import json
import math
from pathlib import Path

import pytest
from proctor.knowledge.models.finding import ModelChoice
from proctor.knowledge.models.pool import LocalModels
from proctor.metrics import Score, builtin_catalog
from proctor.metrics.tools import Checker
from stub_checker import StubChecker
from tiny_checkers import golden_folder

CATALOG = builtin_catalog()
GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "checkers.json").read_text("utf-8"))
CASES = {case["name"]: case for case in GOLDEN["cases"]}
ANSWER = "It takes five days."
CONTEXTS = ["Refunds take five days.", " ", "Cats sleep."]


def score(
    checker: Checker | None, contexts: list[str] | None = CONTEXTS, answer: str | None = ANSWER, **options: bool
) -> Score:
    plan = CATALOG.plan(["hallucination"], {"context_consistency": options})
    facts = {"answer": answer, "contexts": contexts, "hallucination_model": checker}
    return asyncio.run(plan.score(facts))[0]


def test_the_example_of_the_specification() -> None:
    first, second = 1 / (1 + math.exp(0.3 - 1.7)), 1 / (1 + math.exp(1.9 + 0.4))
    found = score(StubChecker({("Refunds take five days.", ANSWER): first, ("Cats sleep.", ANSWER): second}))
    assert found.value == pytest.approx(0.8022, abs=5e-5)
    chunks = found.details["chunks"]
    assert [chunk["contexts"] for chunk in chunks] == [[1], [3]]  # type: ignore[attr-defined]
    assert [chunk["probability"] for chunk in chunks] == pytest.approx([0.8022, 0.0911], abs=5e-5)  # type: ignore[attr-defined]
    assert found.details["best_contexts"] == [1]
    assert found.details["model"] == "stub@1"
    assert found.details["truncated"] is False


@pytest.mark.parametrize("name", ["hhem_2", "cross_encoder_bert", "cross_encoder_deberta"])
def test_the_value_is_upstreams_greatest(tmp_path: Path, name: str) -> None:
    models = LocalModels({"hallucination": ModelChoice(str(golden_folder(tmp_path / name, CASES[name])))})
    (first, answer), *_ = GOLDEN["pairs"]
    try:
        alone = score(models.tool("hallucination"), [first], answer)
        several = score(models.tool("hallucination"), ["cats", first, "days"], answer)
    finally:
        models.close()
    assert alone.value == pytest.approx(CASES[name]["values"][0], abs=1e-5)
    by_context = [chunk["probability"] for chunk in several.details["chunks"]]  # type: ignore[attr-defined]
    assert by_context[1] == pytest.approx(CASES[name]["values"][0], abs=1e-5)
    assert several.value == max(by_context)
    assert several.details["model"] == models.found("hallucination").model_id


def test_the_best_context_may_be_the_last() -> None:
    found = score(StubChecker({("Cats sleep.", ANSWER): 0.75}))
    assert found.value == 0.75
    assert found.details["best_contexts"] == [3]


def test_joint_contexts_are_one_text_without_blank_ones() -> None:
    joint = "Refunds take five days.\n\nCats sleep."
    checker = StubChecker({(joint, ANSWER): 0.5})
    found = score(checker, joint_contexts=True)
    assert checker.asked == [(joint, ANSWER)]
    assert found.value == 0.5
    assert found.details["chunks"] == [{"contexts": [1, 3], "probability": 0.5}]


def test_joint_contexts_are_refused_for_a_model_with_a_short_window_before_it_is_asked() -> None:
    checker = StubChecker(reads=512)
    found = score(checker, joint_contexts=True)
    assert (found.status, found.reason) == ("error", "model_unavailable")
    assert "reads 512 tokens at once, too few for 'joint_contexts'" in str(found.details["message"])
    assert checker.asked == []
    assert score(StubChecker(reads=1024), joint_contexts=True).status == "ok"


def test_a_text_that_was_cut_is_noted() -> None:
    assert score(StubChecker(truncated=frozenset({"Cats sleep."}))).details["truncated"] is True


def test_empty_contexts_may_count_as_zero() -> None:
    plan = CATALOG.plan(["hallucination"], empty_contexts="zero")
    assert (
        asyncio.run(plan.score({"answer": ANSWER, "contexts": [], "hallucination_model": StubChecker()}))[0].value == 0
    )
