"""Judge metrics agree with the score functions of Ragas and RAGChecker on the same verdicts."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from judged_rows import ANSWER, EXPECTED, QUESTION, JudgedRow
from proctor.metrics import Facts, builtin_catalog
from proctor.metrics.judge.calls import AnswerClaims, CompareClaims, Entities, ExpectedClaims, ReverseQuestions
from proctor.metrics.judge.verdicts import Agreement, ReverseQuestion, Verdict
from scripted_judge import ScriptedJudge
from stub_embedder import StubEmbedder
from tables import in_one_test

GOLDEN = Path(__file__).parents[1] / "golden"
RAGAS = json.loads((GOLDEN / "ragas.json").read_text("utf-8"))
CHECKER = json.loads((GOLDEN / "ragchecker.json").read_text("utf-8"))
CATALOG = builtin_catalog()
# Ragas adds 1e-10 or 1e-8 to denominators.
CLOSE = {"abs": 1e-7}


def values(names: Sequence[str], facts: Facts, **options: Mapping[str, object]) -> dict[str, float | None]:
    plan = CATALOG.plan(names, options=options)
    return {score.metric: score.value for score in asyncio.run(plan.score(facts))}


def row_of(case: Mapping[str, Any], **more: Any) -> JudgedRow:
    """A row with the verdicts of a golden case; what it doesn't tell follows from the matrices."""
    chunks = len(case["answer_by_chunk"][0])
    given = {
        "right": case["right"],
        "covered": case["covered"],
        "answer_by_chunk": case["answer_by_chunk"],
        "expected_by_chunk": case["expected_by_chunk"],
        "supported": [any(claim) for claim in case["answer_by_chunk"]],
        "found": [any(claim) for claim in case["expected_by_chunk"]],
        "contexts": [f"Chunk {number}." for number in range(chunks)],
    }
    return JudgedRow(**given | more)


@in_one_test("case", RAGAS["cases"])
def test_verdicts_of_ragas(case: Mapping[str, Any]) -> None:
    row = row_of(case, useful=case["useful"], supported=case["supported"])
    names = ["faithfulness", "context_precision", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant"]
    assert values(names, row.facts) == pytest.approx({name: case["values"][name] for name in names}, **CLOSE)


@in_one_test("case", RAGAS["cases"])
def test_recall_of_ragas(case: Mapping[str, Any]) -> None:
    facts = row_of(case, attributed=case["attributed"]).facts
    facts["expected"] = " ".join(f"Sentence {number} is here." for number in range(len(case["attributed"])))
    assert values(["context_recall"], facts)["context_recall"] == pytest.approx(case["values"]["context_recall"])


@in_one_test("case", RAGAS["cases"])
def test_factual_f1_of_ragas(case: Mapping[str, Any]) -> None:
    plan = CATALOG.plan(["answer_correctness"])
    (score,) = asyncio.run(plan.score(row_of(case).facts))
    assert score.details["factual_f1"] == pytest.approx(case["values"]["factual_f1"])


@pytest.mark.parametrize("case", RAGAS["correctness"])
def test_answer_correctness_of_ragas(case: Mapping[str, Any]) -> None:
    hits, wrong, missed = case["counts"]
    right = [True] * hits + [False] * wrong
    judge = ScriptedJudge(
        {
            AnswerClaims: tuple("a" for _ in right),
            ExpectedClaims: tuple("e" for _ in range(missed + 1)),
            CompareClaims: Agreement(
                tuple(Verdict(one) for one in right), (*[Verdict(holds=False)] * missed, Verdict(holds=True))
            ),
        }
    )
    cosine = case["similarity"]
    vectors = {ANSWER: (1.0, 0.0), EXPECTED: (cosine, math.sqrt(1 - cosine**2))}
    facts: Facts = {
        "question": QUESTION, "answer": ANSWER, "expected": EXPECTED, "judge": judge, "embedder": StubEmbedder(vectors),
    }  # fmt: skip
    found = values(["answer_correctness"], facts, answer_correctness={"weights": case["weights"]})
    assert found["answer_correctness"] == pytest.approx(case["value"], abs=1e-6)


@pytest.mark.parametrize("case", RAGAS["relevancy"])
def test_answer_relevancy_of_ragas(case: Mapping[str, Any]) -> None:
    asked = tuple(ReverseQuestion(f"reverse {number}", no) for number, no in enumerate(case["noncommittal"]))
    judge = ScriptedJudge({ReverseQuestions: asked})
    facts: Facts = {
        "question": "question", "answer": ANSWER, "judge": judge, "embedder": StubEmbedder(case["vectors"]),
    }  # fmt: skip
    assert values(["answer_relevancy"], facts)["answer_relevancy"] == pytest.approx(case["value"], abs=1e-6)


@pytest.mark.parametrize("case", RAGAS["entities"])
def test_context_entities_recall_of_ragas(case: Mapping[str, Any]) -> None:
    judge = ScriptedJudge({Entities: lambda call: tuple(case["expected" if call.text == EXPECTED else "found"])})
    facts: Facts = {"expected": EXPECTED, "contexts": ["Some text."], "judge": judge}
    found = values(["context_entities_recall"], facts)["context_entities_recall"]
    assert found == pytest.approx(case["value"], **CLOSE)


# RAGChecker's names of our metrics.
NAMES = {
    "claim_precision": "precision",
    "claim_recall_answer": "recall",
    "claim_f1": "f1",
    "claim_recall_context": "claim_recall",
    "chunk_precision": "context_precision",
    "context_utilization": "context_utilization",
    "self_knowledge": "self_knowledge",
    "unsupported_incorrect": "hallucination",
    "noise_sensitivity_relevant": "noise_sensitivity_in_relevant",
    "noise_sensitivity_irrelevant": "noise_sensitivity_in_irrelevant",
    "faithfulness": "faithfulness",
}


@in_one_test("case", CHECKER["cases"])
def test_verdicts_of_ragchecker(case: Mapping[str, Any]) -> None:
    wanted = {ours: case["values"][theirs] for ours, theirs in NAMES.items()}
    if not any(map(any, case["expected_by_chunk"])):
        assert wanted["context_utilization"] == 0
        wanted["context_utilization"] = None  # nothing was found that could be used: they say 0, we have no value
    assert values(list(NAMES), row_of(case).facts) == pytest.approx(wanted, abs=1e-9)
