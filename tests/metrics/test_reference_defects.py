"""Defects of the reference code (specification, section 14) that we don't have: one test each, here or where named.

Here are those of the deterministic and embedding metrics. ELSEWHERE names the tests of the others. Still to come with
their metrics: labels and scores read out of a judge's reply (judge metrics), GPTScore prefixes that are dropped whole,
empty SummaC input that is scored (local models), flips of a later bot that overwrite those of an earlier one
(perturbations).
"""

import ast
import asyncio
import math
from pathlib import Path

import numpy as np
import pytest
from proctor.metrics import Catalog, Facts, Measured, Score, Status, artefact, builtin_catalog, metric
from stub_embedder import Embedded, StubEmbedder
from tables import in_one_test

TESTS = Path(__file__).parents[1]
ELSEWHERE = {
    "a refusal is known by a phrase with a full stop": (
        ("metrics/test_judge_metrics.py", "test_no_sentence_that_is_needed_gives_zero"),
    ),
    "parse failures become failures while retrieval and generation failures stay 0": (
        ("metrics/test_boolean.py", "test_the_example_of_the_specification"),
        ("metrics/test_boolean.py", "test_an_unreadable_verdict_is_no_failure"),
        ("reports/test_rates.py", "test_passes_failures_and_parse_failures_are_one"),
    ),
    "accuracy is printed as 0 for a bot without failures": (
        ("reports/test_boards.py", "test_the_five_rates_of_the_specification"),
    ),
    "card, SSN and key patterns want a character on both sides": (
        ("metrics/test_personal_data.py", "test_what_begins_or_ends_the_text_is_found"),
        ("metrics/test_secrets.py", "test_what_begins_or_ends_the_text_is_found"),
    ),
    "the class A-z holds signs between the cases": (
        ("metrics/test_personal_data.py", "test_signs_between_the_cases_are_no_letters"),
        ("metrics/test_secrets.py", "test_signs_between_the_cases_are_no_letters"),
    ),
    "no Luhn check": (("metrics/test_personal_data.py", "test_every_card_is_checked_by_luhn"),),
    "severity of metrics where lower is better is always medium": (
        ("reports/test_problems.py", "test_severity_knows_the_direction"),
    ),
    "bots without a value are ranked above 0": (
        ("reports/test_boards.py", "test_bots_are_sorted_by_the_primary_metric_null_last_ties_by_name"),
    ),
}
LONG = "Refunds are accepted within 14 days of purchase."


def embedding_metrics() -> list[str]:
    """Those that embed texts; bertscore wants the vectors of their tokens, which the stub has not."""
    embedding = [one for one in builtin_catalog().metrics.values() if "embedder" in one.needs]
    return [one.id for one in embedding if "judge" not in one.needs and one.id != "bertscore"]


def context_metrics() -> list[str]:
    return [
        one.id for one in builtin_catalog().metrics.values() if "contexts" in one.needs and "judge" not in one.needs
    ]


def scores(metrics: list[str], facts: Facts) -> dict[str, Score]:
    made = asyncio.run(builtin_catalog().plan(metrics).score(facts))
    return {score.metric: score for score in made}


@in_one_test(("file", "name"), [test for tests in ELSEWHERE.values() for test in tests])
def test_the_tests_of_the_other_defects_are_there(file: str, name: str) -> None:
    nodes = ast.walk(ast.parse((TESTS / file).read_text("utf-8")))
    assert name in {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_a_row_that_failed_gets_no_value_whichever_way_is_good(better: str) -> None:
    @artefact
    def broken(answer: str) -> str:
        """Break."""
        raise RuntimeError(answer)

    @metric(better=better)
    def resting_on_it(broken: str) -> float:
        """Never measured."""
        return 0.0

    plan = Catalog.of(broken, resting_on_it).plan(["resting_on_it"])
    for (score,) in (plan.score_now({"answer": "text"}), plan.bot_failed()):
        assert score.value is None
        assert score.status in (Status.ERROR, Status.BOT_ERROR)


def test_a_bot_that_failed_gets_no_value_from_any_metric() -> None:
    catalog = builtin_catalog()
    failed = catalog.plan(list(catalog.metrics)).bot_failed()
    assert "longest_repeated_substring" in {score.metric for score in failed}  # of those where 0 would be the best
    assert {(score.value, score.status) for score in failed} == {(None, Status.BOT_ERROR)}


def test_an_answer_of_one_sentence_repeats_nothing() -> None:
    assert scores(["unique_sentences"], {"answer": LONG})["unique_sentences"].value == 1.0


@pytest.mark.parametrize("prediction", ["untrue", "This is not true.", "true or false", "tru", "true."])
def test_a_label_inside_other_text_is_another_label(prediction: str) -> None:
    assert scores(["row_correct"], {"answer": prediction, "expected_answers": ["true"]})["row_correct"].value == 0.0


@pytest.mark.parametrize(
    "facts",
    [
        {"answer": "Yes.", "contexts": [LONG]},
        {"answer": LONG, "contexts": ["Yes.", "No."]},
        {"answer": LONG, "contexts": []},
        {"answer": "🙂", "contexts": ["🙂"]},
        {"answer": "", "contexts": [""]},
    ],
)
def test_a_row_that_cannot_be_embedded_keeps_its_place_with_a_reason(facts: Facts) -> None:
    given: Facts = {"question": "When?", "expected_answers": [LONG], "embedder": StubEmbedder(), **facts}
    made = scores(embedding_metrics(), given)
    assert list(made) == embedding_metrics()
    without = [score for score in made.values() if score.value is None]
    assert without, "the row was meant to be unusable for some metric"
    assert all(score.reason and score.status is Status.NOT_APPLICABLE for score in without)


def test_chunks_keep_their_numbers_when_empty_ones_are_left_out() -> None:
    near, far = "Refunds take two weeks.", "Shipping is free of charge."
    embedder = StubEmbedder({"Refund?": (1, 0), near: (1, 0), far: (0.1, 1), LONG: (1, 0.1)})
    contexts = ["", near, "No.", " ", far]
    facts: Facts = {"question": "Refund?", "answer": LONG, "contexts": contexts, "embedder": embedder}
    made = scores(["context_precision_relevancy", "context_recall_relevancy", "groundedness"], facts)
    chunks = made["context_precision_relevancy"].details["contexts"]
    assert isinstance(chunks, list)
    assert [contexts[chunk["context"]] for chunk in chunks] == [near, far]
    assert min(chunks, key=lambda chunk: chunk["similarity"])["context"] == 4
    assert made["context_recall_relevancy"].details["context"] == 1
    sentences = made["groundedness"].details["sentences"]
    assert isinstance(sentences, list)
    assert [sentence["context"] for sentence in sentences] == [1]


def test_missing_contexts_are_not_replaced_by_a_text() -> None:
    embedder = StubEmbedder()
    facts: Facts = {"question": "When?", "answer": LONG, "contexts": None, "embedder": embedder}
    made = scores(context_metrics(), facts)
    assert "groundedness" in made
    assert {(score.value, score.reason) for score in made.values()} == {(None, "contexts_missing")}
    assert embedder.asked == []
    wanted: Facts = {"answer": "NO CONTEXT", "constraints": ["NO CONTEXT"], "contexts": None}
    assert scores(["tokens_presence.retrieval_failures"], wanted)["tokens_presence.retrieval_failures"].value is None


class NowhereEmbedder:
    """Gives vectors that are no numbers."""

    model_id = "nowhere"

    async def embed(self, texts: list[str]) -> Embedded:
        return Embedded(np.full((len(texts), 4), np.nan, dtype=np.float32), np.zeros(len(texts), dtype=np.bool_))


def test_no_number_is_no_value() -> None:
    @metric
    def undefined(answer: str) -> Measured:
        """Not a number."""
        return Measured(math.nan)

    (score,) = Catalog.of(undefined).plan(["undefined"]).score_now({"answer": "text"})
    assert (score.value, score.reason) == (None, "not_finite")
    facts: Facts = {"answer": LONG, "expected_answers": [LONG], "embedder": NowhereEmbedder()}
    similarity = scores(["answer_similarity"], facts)["answer_similarity"]
    assert (similarity.value, similarity.reason) == (None, "not_finite")
