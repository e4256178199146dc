import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proctor.metrics import Embedder, Facts, Score, Status, builtin_catalog
from stub_embedder import StubEmbedder
from tables import in_one_test

IDS = ("answer_similarity", "answer_relevancy_sentence", "answer_relevance_mean", "groundedness")
PLAN = builtin_catalog().plan(IDS)
(GOLDEN,) = json.loads((Path(__file__).parents[1] / "golden" / "cosines.json").read_text("utf-8"))["cases"]
LONG, OTHER = "This sentence is long enough.", "And so is this other one."


def scores(facts: Facts, embedder: Embedder | None) -> dict[str, Score]:
    return {score.metric: score for score in asyncio.run(PLAN.score({**facts, "embedder": embedder}))}


@pytest.mark.weights
def test_the_cosines_are_those_of_sentence_transformers() -> None:
    from proctor.knowledge.models.batching import BatchingEmbedder
    from proctor.knowledge.models.embedding import EmbedderSettings, open_encoder

    embedder_settings = EmbedderSettings()
    embedder = BatchingEmbedder(lambda: open_encoder(embedder_settings), embedder_settings.model_id)
    try:
        found = scores(GOLDEN["row"], embedder)
    finally:
        embedder.close()
    golden = {name: GOLDEN["values"][name] for name in IDS}
    assert {name: score.value for name, score in found.items()} == pytest.approx(golden, abs=1e-4)
    published = {"answer_similarity": 0.6911, "answer_relevancy_sentence": 0.6546, "answer_relevance_mean": 0.3565}
    assert {name: round(found[name].value or 0, 4) for name in published} == published
    details = found["groundedness"].details
    assert details["least_grounded"] == "Our office is in Berlin."
    similarities = [sentence["similarity"] for sentence in details["sentences"]]
    assert similarities == pytest.approx([0.7968, 0.1673], abs=1e-4)
    assert details["truncated"] is False
    assert details["model"] == embedder_settings.model_id


def test_answer_similarity_is_the_cosine() -> None:
    embedder = StubEmbedder({LONG: (3.0, 4.0), OTHER: (4.0, 3.0)})
    score = scores({"answer": LONG, "expected": OTHER}, embedder)["answer_similarity"]
    assert score.value == pytest.approx(0.96)
    assert score.details == {"model": "stub", "truncated": False}


def test_a_negative_cosine_is_not_clipped() -> None:
    embedder = StubEmbedder({LONG: (1.0, 0.0), OTHER: (-1.0, 0.0)})
    assert scores({"answer": LONG, "expected": OTHER}, embedder)["answer_similarity"].value == pytest.approx(-1.0)


def test_truncation_is_noted() -> None:
    embedder = StubEmbedder(truncated=frozenset({OTHER}))
    assert scores({"answer": LONG, "expected": OTHER}, embedder)["answer_similarity"].details["truncated"] is True


def test_relevancy_takes_the_best_and_the_mean_sentence() -> None:
    answer = f"{LONG} {OTHER} No."
    vectors = {"Why?": (1.0, 0.0), LONG: (0.6, 0.8), OTHER: (0.0, 1.0), "No.": (1.0, 0.0)}
    found = scores({"question": "Why?", "answer": answer}, StubEmbedder(vectors))
    assert found["answer_relevancy_sentence"].value == pytest.approx(0.6)  # "No." is too short to count
    assert found["answer_relevancy_sentence"].details["most_relevant"] == LONG
    assert found["answer_relevance_mean"].value == pytest.approx((0.6 + 0.0 + 1.0) / 3)


@pytest.mark.parametrize("answer", ["Yes.", "Yes. No."])
def test_an_answer_of_short_sentences_is_one_sentence(answer: str) -> None:
    vectors = {"Why?": (1.0, 0.0), answer: (0.6, 0.8), "Yes.": (0.6, 0.8), "No.": (0.0, 1.0)}
    found = scores({"question": "Why?", "answer": answer}, StubEmbedder(vectors))
    assert found["answer_relevancy_sentence"].value == pytest.approx(0.6)


def test_groundedness_names_the_least_grounded_sentence_and_counts_blank_contexts() -> None:
    chunk, second = "A chunk with a sentence.", "Another chunk with one."
    vectors = {LONG: (1.0, 0.0), OTHER: (0.6, 0.8), chunk: (0.0, 1.0), second: (1.0, 0.0)}
    facts: Facts = {"answer": f"{LONG} {OTHER} Ok.", "contexts": ["", chunk, " ", second]}
    score = scores(facts, StubEmbedder(vectors))["groundedness"]
    assert score.value == pytest.approx(0.8)
    assert score.details["least_grounded"] == OTHER
    nearest = {one["sentence"]: (one["context"], one["similarity"]) for one in score.details["sentences"]}
    assert nearest == {LONG: (3, pytest.approx(1.0)), OTHER: (1, pytest.approx(0.8))}


@in_one_test(
    ("facts", "outcome"),
    [
        ({"answer": "Ok. No."}, "no_sentences"),
        ({"answer": " "}, "no_sentences"),
        ({"contexts": None}, "contexts_missing"),
        ({"contexts": []}, "contexts_empty"),
        ({"contexts": ["", " \n"]}, "contexts_empty"),
        ({"contexts": ["Short."]}, "contexts_empty"),
        ({"contexts": [], "answer": " "}, "contexts_empty"),
        ({"answer": None}, "answer_missing"),
    ],
)
def test_groundedness_without_a_value(facts: Facts, outcome: str) -> None:
    whole: Facts = {"answer": LONG, "contexts": ["A chunk with a sentence."], **facts}
    score = scores(whole, StubEmbedder())["groundedness"]
    assert (score.status, score.reason, score.value) == (Status.NOT_APPLICABLE, outcome, None)


@pytest.mark.parametrize("contexts", [[], [" "], ["Short."]])
def test_empty_contexts_may_count_as_zero(contexts: list[str]) -> None:
    plan = builtin_catalog().plan(["groundedness"], empty_contexts="zero")
    facts: Facts = {"answer": LONG, "contexts": contexts, "embedder": StubEmbedder()}
    (score,) = asyncio.run(plan.score(facts))
    assert (score.value, score.status, score.details) == (0.0, Status.OK, {"contexts": "contexts_empty"})
    (missing,) = asyncio.run(plan.score({**facts, "contexts": None}))
    assert missing.reason == "contexts_missing"
    (unanswered,) = asyncio.run(plan.score({**facts, "answer": None}))
    assert (unanswered.reason, unanswered.value) == ("answer_missing", None)
    assert plan.metrics[0].version != PLAN.metrics[3].version


def test_a_blank_answer_is_worth_nothing_and_no_model_is_asked() -> None:
    embedder = StubEmbedder()
    found = scores({"question": "Why?", "answer": "\n", "expected": LONG}, embedder)
    assert [found[name].value for name in IDS[:3]] == [0.0, 0.0, 0.0]
    assert embedder.asked == []


def test_an_answer_without_a_sentence() -> None:
    found = scores({"question": "Why?", "answer": "- \n- "}, StubEmbedder())
    assert found["answer_relevance_mean"].reason == "no_sentences"


def test_each_text_is_embedded_once_and_all_at_the_same_time() -> None:
    embedder = StubEmbedder()
    facts: Facts = {"question": "Why is that so?", "answer": f"{LONG} {OTHER}", "expected": LONG, "contexts": [OTHER]}
    found = scores(facts, embedder)
    assert all(score.status is Status.OK for score in found.values())
    assert len(embedder.asked) == len(set(embedder.asked)) == 5
    assert embedder.most_at_once == 5


@pytest.mark.parametrize("name", IDS)
def test_asking_for_one_or_for_all_gives_the_same(name: str) -> None:
    facts: Facts = {"question": "Why?", "answer": f"{LONG} {OTHER}", "expected": OTHER, "contexts": [OTHER]}
    (alone,) = asyncio.run(PLAN.subset([name]).score({**facts, "embedder": StubEmbedder()}))
    assert alone == scores(facts, StubEmbedder())[name]


sentence = st.sampled_from(
    [LONG, OTHER, "Refunds take a fortnight.", "The office is in Berlin.", "Mail comes on Mondays."]
)


@given(st.lists(sentence, min_size=1, max_size=4), st.lists(sentence, min_size=1, max_size=4))
@settings(max_examples=40)
def test_bounds_between_metrics(answer: list[str], contexts: list[str]) -> None:
    facts: Facts = {"question": "Where is it?", "answer": " ".join(answer), "contexts": contexts}
    found = scores(facts, StubEmbedder())
    mean, best = found["answer_relevance_mean"].value, found["answer_relevancy_sentence"].value
    assert mean is not None and best is not None and mean <= best + 1e-6
    grounded = found["groundedness"]
    assert all(grounded.value <= one["similarity"] for one in grounded.details["sentences"])
