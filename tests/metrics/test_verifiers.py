"""Faithfulness with a verifier: a local model in the place of the judge."""

import asyncio

import pytest
from judged_rows import JudgedRow
from proctor import InputError
from proctor.metrics import Facts, Score, builtin_catalog
from proctor.metrics.plan import Plan, RequestPlan
from scripted_judge import ScriptedJudge
from stub_checker import StubChecker
from stub_grounding import ScriptedDetector

CATALOG = builtin_catalog()
MODELS = {
    "hhem": "hallucination_model",
    "minicheck": "minicheck_model",
    "alignscore": "alignscore_model",
    "lettucedetect": "lettucedetect_model",
}
VERIFIERS = tuple(MODELS)
ANSWER = "It takes 14 days. Send it by post. We pay in cash."
CONTEXTS = ["Refunds take 14 days.", "Use the post."]


def plan(verifier: str, *others: str, **models: str) -> Plan:
    return CATALOG.plan(["faithfulness", *others], options={"faithfulness": {"verifier": verifier}}, models=models)


def supported(source: str, claim: str) -> float:
    held = {("Refunds", "14 days"): 0.9, ("post", "post"): 0.6}
    return next((value for (one, other), value in held.items() if one in source and other in claim), 0.3)


def facts() -> Facts:
    checker, judge = StubChecker(supported), JudgedRow().judge()
    detector = ScriptedDetector(("We pay in cash.",))
    models: Facts = {"minicheck_model": checker, "alignscore_model": checker, "lettucedetect_model": detector}
    models["hallucination_model"] = checker
    return {"question": "How long?", "answer": ANSWER, "contexts": CONTEXTS, "judge": judge, **models}


def scored(verifier: str, row: Facts) -> Score:
    (score,) = asyncio.run(plan(verifier).score(row))
    return score


@pytest.mark.parametrize(
    ("verifier", "value"),
    [
        ("hhem", 2 / 3),
        ("minicheck", 2 / 3),  # of the sentences 0.9 and 0.6 are above one half, 0.3 is not
        ("alignscore", (0.9 + 0.6 + 0.3) / 3),
        ("lettucedetect", 1 - 15 / 50),
    ],
)
def test_a_model_takes_the_place_of_the_judge(verifier: str, value: float) -> None:
    row = facts()
    score = scored(verifier, row)
    assert score.value == pytest.approx(value)
    assert score.details["verifier"] == verifier
    assert score.details["model"] == "stub@1"
    assert row["judge"].asked == []


@pytest.mark.parametrize("verifier", ["minicheck", "alignscore", "lettucedetect"])
def test_the_value_is_that_of_the_metric_of_the_same_name(verifier: str) -> None:
    score = scored(verifier, facts())
    (alone,) = asyncio.run(CATALOG.plan([verifier]).score(facts()))
    assert alone.value == score.value
    assert {**alone.details, "verifier": verifier} == score.details


@pytest.mark.parametrize("verifier", ["hhem", "minicheck", "alignscore"])
def test_details_name_the_document_that_supports_a_sentence(verifier: str) -> None:
    claims = scored(verifier, facts()).details["claims"]
    assert [claim["contexts"] for claim in claims] == [[1], [2], []]
    assert claims[0]["best_chunk"] == {"contexts": [1], "text": "Refunds take 14 days."}


@pytest.mark.parametrize("verifier", ["hhem", "minicheck", "alignscore"])
def test_blank_contexts_are_not_asked_about_and_keep_their_ranks(verifier: str) -> None:
    row = facts()
    row["contexts"] = [" ", *CONTEXTS]
    claims = scored(verifier, row).details["claims"]
    assert [claim["contexts"] for claim in claims] == [[2], [3], []]
    checker = row["hallucination_model"]
    assert isinstance(checker, StubChecker)
    assert {source for source, _ in checker.asked} == set(CONTEXTS)


def test_the_judge_stays_the_default() -> None:
    row = JudgedRow().facts
    plain, named = (
        asyncio.run(CATALOG.plan(["faithfulness"], options=options).score(row))[0]
        for options in ({}, {"faithfulness": {"verifier": "judge"}})
    )
    assert plain == named
    assert plain.value == pytest.approx(2 / 3)
    assert "verifier" not in plain.details
    assert set(plain.details) == {"claims", "any_chunk", "judge"}


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_no_judge_is_needed_or_asked(verifier: str) -> None:
    verified = plan(verifier)
    assert verified.requests == RequestPlan()
    (metric,) = verified.metrics
    assert metric.needs == ("contexts", "answer", MODELS[verifier])
    assert "judge" not in verified.needs
    row = facts()
    del row["judge"], row["question"]
    assert scored(verifier, row).value is not None
    del row[MODELS[verifier]]  # type: ignore[misc]
    assert (scored(verifier, row).status, scored(verifier, row).reason) == ("error", "model_unavailable")
    assert plan("judge").needs >= {"judge", "question"}
    assert plan("judge").needs.isdisjoint(MODELS.values())


def test_other_metrics_on_claims_keep_the_judge() -> None:
    both = plan("minicheck", "noise_sensitivity", "ragas")
    calls = {call for request in both.requests.requests for call in request.calls}
    assert "answer_claims" in calls and "check_answer" in calls
    assert all("faithfulness" not in request.metrics for request in both.requests.requests)
    row = JudgedRow().facts
    row["minicheck_model"] = StubChecker(lambda source, claim: 0.1)
    scores = {score.metric: score for score in asyncio.run(both.score(row))}
    assert scores["faithfulness"].value == 0.0
    assert scores["ragas"].details["faithfulness"] == pytest.approx(2 / 3)
    assert isinstance(row["judge"], ScriptedJudge)
    assert row["judge"].counts["check_answer"] == 1


def test_versions_tell_verifiers_and_their_models_apart() -> None:
    def version(verifier: str, **models: str) -> str:
        (metric,) = plan(verifier, **models).metrics
        return metric.version

    assert len({version(verifier) for verifier in ("judge", *VERIFIERS)}) == 5
    for verifier in VERIFIERS:
        tool = MODELS[verifier]
        assert version(verifier, **{tool: "a"}) != version(verifier, **{tool: "b"})
        assert version(verifier, judge="a") == version(verifier, judge="b")
    assert version("judge", minicheck_model="a") == version("judge", minicheck_model="b")


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_rows_without_an_answer_or_contexts(verifier: str) -> None:
    assert scored(verifier, {**facts(), "answer": " "}).reason == "no_claims"
    assert scored(verifier, {**facts(), "contexts": []}).reason == "contexts_empty"
    options = {"faithfulness": {"verifier": verifier}}
    zero = CATALOG.plan(["faithfulness"], options=options, empty_contexts="zero")
    (score,) = asyncio.run(zero.score({**facts(), "contexts": []}))
    assert score.value == 0.0


def test_an_unknown_verifier_is_refused() -> None:
    with pytest.raises(InputError, match=r"faithfulness\.verifier is 'hem'; one of 'judge', 'hhem', 'minicheck'"):
        plan("hem")
