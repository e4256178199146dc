"""The judge metrics of a row: worked numbers of the specification, edges, evidence, and what holds for any verdicts."""

import asyncio
from collections.abc import Sequence

import pytest
from judged_rows import (
    ANSWER,
    BLANK,
    CHUNKS,
    EXPECTED,
    NEEDED,
    OURS,
    QUESTION,
    WORKED,
    JudgedRow,
    changed,
    score,
    scores,
)
from proctor import InputError
from proctor.metrics import ModelUnavailable, Status, builtin_catalog
from proctor.metrics.judge.calls import (
    AnswerClaims,
    CheckAnswer,
    CheckExpected,
    CompareClaims,
    ContextText,
    Entities,
    ExpectedClaims,
    ReverseQuestions,
)
from stub_embedder import StubEmbedder
from tables import in_one_test

CATALOG = builtin_catalog()


def test_the_worked_example_of_the_specification() -> None:
    found = scores(list(WORKED), JudgedRow().facts)
    assert {name: one.value for name, one in found.items()} == pytest.approx(WORKED, abs=5e-5)


@in_one_test("name", WORKED)
def test_a_metric_alone_has_the_value_that_it_has_among_all(name: str) -> None:
    alone, together = score(name, JudgedRow().facts), scores(OURS, JudgedRow().facts)[name]
    assert (alone.value, alone.details) == (together.value, together.details)


def test_the_worked_example_of_noise() -> None:
    """Two chunks, the first relevant; claims: right by chunk 1, wrong by 2, wrong by 1, wrong by none."""
    row = JudgedRow(
        right=(1, 0, 0, 0),
        supported=(1, 1, 1, 0),
        answer_by_chunk=((1, 0), (0, 1), (1, 0), (0, 0)),
        covered=(1,),
        found=(1,),
        expected_by_chunk=((1, 0),),
        contexts=CHUNKS[:2],
    )
    found = scores(
        ["noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "unsupported_incorrect"],
        row.facts,
    )
    assert [one.value for one in found.values()] == [0.75, 0.25, 0.25, 0.25]
    relevant = found["noise_sensitivity_relevant"].details
    assert relevant["relevant_chunks"] == [1]
    assert [claim["counted"] for claim in relevant["claims"]] == [False, False, True, False]


def test_faithful_is_yes_from_three_of_four_supported_claims() -> None:
    for supported, value in (((1, 1, 1, 0), 1.0), ((1, 1, 0, 0), 0.0)):
        found = score(
            "faithful", JudgedRow(supported=supported, right=(1, 0, 0, 0), answer_by_chunk=((0,) * 3,) * 4).facts
        )
        assert (found.value, found.details["contradicted"]) == (value, 0)


def test_the_order_of_chunks_counts_for_precision_by_rank_and_not_for_the_ratio() -> None:
    for useful, by_rank in (((1, 0, 1), 0.8333), ((0, 1, 1), 0.5833), ((0, 0, 0), 0.0), ((1, 1, 0), 1.0)):
        row = JudgedRow(useful=useful)
        assert score("context_precision", row.facts).value == pytest.approx(by_rank, abs=5e-5)
        ratio = score("context_precision_ratio", row.facts, unit="chunk")
        assert ratio.value == pytest.approx(sum(useful) / 3)
        assert ratio.details["unit"] == "chunk"


def test_no_sentence_that_is_needed_gives_zero() -> None:
    """Nothing rests on the words of a refusal: the judge says yes or no to each sentence."""
    found = score("context_relevancy", JudgedRow(needed=()).facts)
    assert (found.value, found.details["needed"], found.details["sentences"]) == (0.0, [], 7)


def test_a_ratio_over_chunks_asks_about_chunks_alone() -> None:
    row = JudgedRow().facts
    score("context_precision_ratio", row, unit="chunk")
    (call,) = row["judge"].calls(CheckExpected)
    assert (call.usefulness, call.sentences) == (True, ())


def test_precision_by_the_answer_needs_no_expected_answer_and_shows_none() -> None:
    row = JudgedRow(useful=(0, 1, 1)).facts
    del row["expected"]
    found = score("context_precision", row, reference="answer")
    assert (found.value, found.details["reference"]) == (pytest.approx(0.5833, abs=5e-5), "answer")
    (call,) = row["judge"].calls(CheckExpected)
    assert (call.expected, call.usefulness, call.claims) == (ANSWER, True, ())
    plan = CATALOG.plan(["context_precision"], options={"context_precision": {"reference": "answer"}})
    assert plan.metrics[0].needs == ("question", "contexts", "answer", "judge")
    assert score("context_precision", row).reason == "expected_missing"
    blank = score("context_precision", {**row, "answer": " "}, reference="answer")
    assert (blank.status, blank.reason) == (Status.NOT_APPLICABLE, "answer_empty")


@pytest.mark.parametrize(("rule", "noncommittal", "value"), [
    ("all", (0, 0, 0), 0.5692), ("all", (1, 0, 0), 0.5692), ("all", (1, 1, 1), 0.0),
    ("any", (0, 0, 0), 0.5692), ("any", (1, 0, 0), 0.0), ("any", (1, 1, 1), 0.0),
])  # fmt: skip
def test_noncommittal_answers(rule: str, noncommittal: Sequence[int], value: float) -> None:
    row = JudgedRow(noncommittal=noncommittal).facts
    both = scores(["answer_relevancy", "ragas"], row, reverse_relevancy={"noncommittal": rule})
    found = both["answer_relevancy"]
    assert found.value == pytest.approx(value, abs=5e-5)
    assert both["ragas"].details["answer_relevancy"] == found.value  # one rule for the metric and for its part
    assert [one["noncommittal"] for one in found.details["questions"]] == [bool(one) for one in noncommittal]


def test_the_number_of_reverse_questions_is_an_option() -> None:
    row = JudgedRow(noncommittal=(0,), cosines=(0.5,)).facts
    found = scores(["answer_relevancy"], row, reverse_questions={"questions": 1})
    assert found["answer_relevancy"].value == pytest.approx(0.5)
    assert [call.count for call in row["judge"].calls(ReverseQuestions)] == [1]
    with pytest.raises(InputError, match=r"reverse_questions\.questions is 0; 1 or more is wanted"):
        CATALOG.plan(["answer_relevancy"], options={"reverse_questions": {"questions": 0}})


def test_a_blank_answer() -> None:
    row = changed(answer=" \n")
    found = scores(OURS, row)
    for name, outcome in BLANK.items():
        one = found[name]
        if isinstance(outcome, float):
            assert (one.value, one.status) == (outcome, Status.OK), name
        else:
            assert (one.status, one.reason) == (Status.NOT_APPLICABLE, outcome), name
    rest = [name for name in OURS if name not in BLANK]
    assert {name: found[name].value for name in rest} == pytest.approx({name: WORKED[name] for name in rest}, abs=5e-5)
    assert set(row["judge"].counts) == {"check_answer", "check_expected", "expected_claims", "entities"}
    (call,) = row["judge"].calls(CheckAnswer)
    assert (call.claims, len(call.sentences)) == ((), 7)


@pytest.mark.parametrize("contexts", [None, [], [" ", ""]])
def test_without_contexts_nothing_is_asked_about_them(contexts: Sequence[str] | None) -> None:
    reason = "contexts_missing" if contexts is None else "contexts_empty"
    row = changed(contexts=contexts)
    found = scores(OURS, row)
    with_contexts = {name for name in OURS if "contexts" in CATALOG.metrics[name].needs}
    assert {name for name, one in found.items() if one.reason == reason} == with_contexts
    assert all(found[name].value is not None for name in OURS if name not in with_contexts)
    assert set(row["judge"].counts) == {"answer_claims", "expected_claims", "compare_claims", "reverse_questions"}


def test_a_retriever_that_found_nothing_may_count_as_zero() -> None:
    plan = CATALOG.plan(OURS, empty_contexts="zero")
    found = {one.metric: one for one in asyncio.run(plan.score(changed(contexts=[])))}
    zero = {"faithfulness", "context_recall", "context_recall_claims", "context_entities_recall"}
    assert {name for name, one in found.items() if one.value == 0} >= zero
    assert {name for name, one in found.items() if one.reason == "contexts_empty"} == {
        name for name in OURS if "contexts" in CATALOG.metrics[name].needs and name not in zero
    }


def test_an_answer_without_claims() -> None:
    row = changed(scripts={AnswerClaims: ()})
    found = scores(OURS, row)
    assert found["answer_correctness"].value == pytest.approx(0.25 * 0.6911)
    assert found["answer_correctness"].details["factual_f1"] == 0.0
    assert len(found["answer_correctness"].details["FN"]) == 4
    assert found["claim_recall_answer"].value == 0.0
    assert found["context_utilization"].value == 0.0
    none = {name for name, one in found.items() if one.reason == "no_claims"}
    assert none == {name for name, outcome in BLANK.items() if outcome == "no_claims"}
    assert found["ragas"].reason == "component_not_applicable"
    assert found["ragas"].details["component"] == "faithfulness"
    assert "compare_claims" not in row["judge"].counts  # an answer that claims nothing covers nothing


def test_an_expected_answer_without_claims() -> None:
    row = changed(scripts={ExpectedClaims: ()})
    found = scores(OURS, row)
    # Two of three claims are supported by the expected answer's text, and nothing can be missed.
    assert found["answer_correctness"].details["factual_f1"] == pytest.approx(0.8)
    assert found["noise_sensitivity"].value == pytest.approx(1 / 3)
    none = {name for name, one in found.items() if one.reason == "no_expected_claims"}
    assert none == {
        "context_recall_claims", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "claim_recall_answer",
        "claim_f1", "claim_recall_context", "chunk_precision", "context_utilization",
    }  # fmt: skip


def test_no_claims_on_either_side() -> None:
    row = changed(scripts={AnswerClaims: (), ExpectedClaims: ()})
    found = score("answer_correctness", row)
    assert (found.status, found.reason) == (Status.NOT_APPLICABLE, "no_claims")
    assert row["judge"].counts == {"answer_claims": 1, "expected_claims": 1}


def test_correctness_without_an_embedder_is_an_error() -> None:
    for embedder in (None, StubEmbedder(fails=ModelUnavailable("Install the weights."))):
        found = score("answer_correctness", changed(embedder=embedder))
        assert (found.status, found.reason) == (Status.ERROR, "model_unavailable")


def test_weights_are_divided_by_their_sum_and_checked() -> None:
    row = JudgedRow().facts
    assert score("answer_correctness", row, weights=[3.0, 1]).value == pytest.approx(WORKED["answer_correctness"])
    assert score("answer_correctness", row, weights=[1.0, 0.0]).value == pytest.approx(4 / 7)
    for weights in ([1.0], [0.0, 0.0], [-1.0, 2.0], []):
        with pytest.raises(InputError, match=r"answer_correctness\.weights is \[.*; a pair of numbers, none below 0"):
            CATALOG.plan(["answer_correctness"], options={"answer_correctness": {"weights": weights}})


def test_blank_chunks_are_not_shown_and_keep_their_ranks() -> None:
    row = JudgedRow(contexts=(" ", CHUNKS[0], "", CHUNKS[1], CHUNKS[2])).facts
    found = scores(["context_precision", "chunk_precision", "faithfulness", "context_relevancy"], row)
    (answer,), (expected,) = row["judge"].calls(CheckAnswer), row["judge"].calls(CheckExpected)
    assert answer.chunks == expected.chunks == CHUNKS
    assert answer.sentences[0] == ContextText(1, "Refunds take 14 days.")
    assert answer.sentences[-1] == ContextText(3, "Cash is not paid.")
    # Useful are the ranks 2 and 5.
    assert found["context_precision"].value == pytest.approx((1 / 2 + 2 / 5) / 2)
    assert [chunk["useful"] for chunk in found["context_precision"].details["chunks"]] == [
        False,
        True,
        False,
        False,
        True,
    ]
    assert found["chunk_precision"].value == 2 / 5
    assert found["chunk_precision"].details["supporting_chunks"] == [2, 5]
    assert found["faithfulness"].details["claims"][0]["chunks"] == [2]
    assert [line["chunk"] for line in found["context_relevancy"].details["needed"]] == [2, 2, 5]


def test_entities_are_compared_in_a_plain_form_and_counted_once() -> None:
    row = JudgedRow(
        entities={EXPECTED: ("The Danube", "danube", "Ulm's", "the boys'", "an Ox", "Neckar", " ")},
        context_entities=("DANUBE", "ulm", "boys", "Ox"),
    )
    found = score("context_entities_recall", row.facts)
    assert found.value == pytest.approx(4 / 5)
    assert found.details == {"found": ["danube", "ulm", "boys", "ox"], "missing": ["neckar"], "judge": "scripted"}
    none = score("context_entities_recall", JudgedRow(entities={EXPECTED: ()}).facts)
    assert (none.status, none.reason) == (Status.NOT_APPLICABLE, "no_entities")
    assert score("context_entities_recall", JudgedRow(context_entities=()).facts).value == 0.0


def test_entities_of_all_contexts_are_asked_for_at_once() -> None:
    row = JudgedRow(contexts=("One.", " ", "Two.")).facts
    score("context_entities_recall", row)
    assert sorted(call.text for call in row["judge"].calls(Entities)) == sorted([EXPECTED, "One.\n\nTwo."])


def test_what_the_judge_is_shown() -> None:
    row = JudgedRow().facts
    scores(OURS, row)
    judge = row["judge"]
    assert judge.calls(AnswerClaims) == [AnswerClaims(QUESTION, ANSWER)]
    assert judge.calls(ExpectedClaims) == [ExpectedClaims(QUESTION, EXPECTED)]
    assert judge.calls(ReverseQuestions) == [ReverseQuestions(ANSWER, 3)]
    (check,) = judge.calls(CheckAnswer)
    assert EXPECTED not in repr(check)
    assert check.claims == ("claim 0", "claim 1", "claim 2")
    (expected,) = judge.calls(CheckExpected)
    assert ANSWER not in repr(expected)
    assert expected.expected_sentences == ("It is 14 days.", "From the purchase.", "Keep the receipt.", "Ask in Ulm.")
    assert [sentence.text for sentence in expected.sentences] == [sentence.text for sentence in check.sentences]
    assert {sentence.text for sentence in check.sentences} > set(NEEDED)
    (compared,) = judge.calls(CompareClaims)
    assert (compared.question, compared.answer, compared.expected) == (QUESTION, ANSWER, EXPECTED)
