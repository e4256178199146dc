import asyncio
import json
from pathlib import Path

import pytest
from proctor.metrics import Embedder, Facts, Score, Status, builtin_catalog
from stub_embedder import StubEmbedder

IDS = ("context_recall_relevancy", "context_precision_relevancy")
PLAN = builtin_catalog().plan(IDS)
(GOLDEN,) = json.loads((Path(__file__).parents[1] / "golden" / "cosines.json").read_text("utf-8"))["cases"]
FIRST, SECOND, THIRD = "The first long sentence.", "The second long sentence.", "The third long sentence."
TOLD = {"Why?": (1.0, 0.0), FIRST: (0.6, 0.8), SECOND: (0.8, 0.6), THIRD: (-0.6, 0.8)}


def scores(facts: Facts, embedder: Embedder) -> dict[str, Score]:
    return {score.metric: score for score in asyncio.run(PLAN.score({**facts, "embedder": embedder}))}


@pytest.mark.weights
def test_the_figures_are_those_of_sentence_transformers_and_of_the_specification() -> None:
    from proctor.knowledge.models.batching import BatchingEmbedder
    from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder

    chosen = EmbedderSettings()
    embedder = BatchingEmbedder(lambda: open_encoder(chosen), chosen.model_id)
    try:
        found = scores(GOLDEN["row"], embedder)
    finally:
        embedder.close()
    values = [found[name].value or 0 for name in IDS]
    assert values == pytest.approx([GOLDEN["values"][name] for name in IDS], abs=1e-4)
    assert [round(value, 4) for value in values] == [0.5793, 0.3890]
    assert found[IDS[0]].details["context"] == 0


def test_the_best_sentence_of_each_context_counts() -> None:
    found = scores({"question": "Why?", "contexts": ["", f"{FIRST} {SECOND} No.", " ", THIRD]}, StubEmbedder(TOLD))
    assert found[IDS[0]].value == pytest.approx(0.8)
    assert found[IDS[0]].details == {"model": "stub", "truncated": False, "most_relevant": SECOND, "context": 1}
    assert found[IDS[1]].value == pytest.approx((0.8 - 0.6) / 2)  # contexts without a sentence are left out
    chunks = [(chunk["context"], chunk["sentence"]) for chunk in found[IDS[1]].details["contexts"]]
    assert chunks == [(1, SECOND), (3, THIRD)]


def test_the_answer_does_not_matter() -> None:
    facts: Facts = {"question": "Why?", "contexts": [FIRST]}
    outcomes = [scores({**facts, **answer}, StubEmbedder(TOLD)) for answer in ({}, {"answer": None}, {"answer": " "})]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert outcomes[0][IDS[0]].status is Status.OK


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"contexts": None}, "contexts_missing"),
        ({"contexts": []}, "contexts_empty"),
        ({"contexts": [" "]}, "contexts_empty"),
        ({"contexts": ["Short."]}, "contexts_empty"),
        ({"question": " "}, "question_missing"),
    ],
)
def test_rows_without_a_value(facts: Facts, reason: str) -> None:
    whole: Facts = {"question": "Why?", "contexts": [FIRST], **facts}
    for score in scores(whole, StubEmbedder(TOLD)).values():
        assert (score.status, score.reason) == (Status.NOT_APPLICABLE, reason)


def test_empty_contexts_are_never_counted_as_zero() -> None:
    plan = builtin_catalog().plan(IDS, empty_contexts="zero")  # the specification does not mark these two
    facts: Facts = {"question": "Why?", "contexts": [], "embedder": StubEmbedder()}
    assert {score.reason for score in asyncio.run(plan.score(facts))} == {"contexts_empty"}


def test_sentences_are_embedded_once_for_both_and_for_groundedness() -> None:
    embedder = StubEmbedder(TOLD)
    plan = builtin_catalog().plan([*IDS, "groundedness"])
    facts: Facts = {"question": "Why?", "contexts": [FIRST, SECOND], "answer": THIRD, "embedder": embedder}
    assert {score.status for score in asyncio.run(plan.score(facts))} == {Status.OK}
    assert sorted(embedder.asked) == sorted([("Why?",), (FIRST, SECOND), (THIRD,)])
