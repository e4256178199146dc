"""What a plan asks the judge, told beforehand and counted at a scripted judge."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from judged_rows import JudgedRow
from proctor import InputError
from proctor.metrics import Catalog, Facts, artefact, builtin_catalog, metric
from proctor.metrics.plan import RequestPlan
from scripted_judge import ScriptedJudge
from tables import in_one_test

CATALOG = builtin_catalog()
FIVE = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")
BY_CLAIMS = (
    "claim_precision", "claim_recall_answer", "claim_f1", "claim_recall_context", "chunk_precision",
    "context_utilization", "self_knowledge", "unsupported_incorrect",
)  # fmt: skip
RAGAS_STYLE = (
    *FIVE, "context_precision_ratio", "context_recall_claims", "context_relevancy", "context_entities_recall",
    "noise_sensitivity", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "ragas", *BY_CLAIMS,
)  # fmt: skip
ALONE = {
    "faithfulness": {"answer_claims", "check_answer"},
    "answer_relevancy": {"reverse_questions"},
    "context_precision": {"check_expected"},
    "context_precision_ratio": {"check_expected"},
    "context_recall": {"check_expected"},
    "context_recall_claims": {"expected_claims", "check_expected"},
    "context_relevancy": {"check_answer"},
    "answer_correctness": {"answer_claims", "expected_claims", "compare_claims"},
    "noise_sensitivity": {"answer_claims", "compare_claims"},
    "noise_sensitivity_relevant": {
        "answer_claims", "expected_claims", "check_answer", "check_expected", "compare_claims",
    },
    "ragas": {"answer_claims", "check_answer", "check_expected", "reverse_questions"},
    "claim_precision": {"answer_claims", "compare_claims"},
    "claim_recall_answer": {"expected_claims", "compare_claims"},
    "claim_f1": {"answer_claims", "expected_claims", "compare_claims"},
    "claim_recall_context": {"expected_claims", "check_expected"},
    "chunk_precision": {"expected_claims", "check_expected"},
    "context_utilization": {"expected_claims", "check_expected", "compare_claims"},
    "self_knowledge": {"answer_claims", "check_answer", "compare_claims"},
    "unsupported_incorrect": {"answer_claims", "check_answer", "compare_claims"},
}  # fmt: skip


def asked(metrics: Sequence[str], facts: Facts | None = None) -> ScriptedJudge:
    """The judge after one row."""
    row: Facts = facts or JudgedRow().facts
    scores = asyncio.run(CATALOG.plan(metrics).score(row))
    assert all(score.value is not None for score in scores)
    judge = row["judge"]
    assert isinstance(judge, ScriptedJudge)
    return judge


def planned_calls(plan: RequestPlan) -> dict[str, int]:
    """Requests by the name of the call, as the plan tells them."""
    counts: Counter[str] = Counter()
    for request in plan.requests:
        (call,) = request.calls
        counts[call] += request.requests
    return dict(counts)


def test_five_metrics_cost_five_requests_a_row_and_one_a_question() -> None:
    plan = CATALOG.plan(FIVE).requests
    assert (plan.per_row, plan.per_question) == (5, 1)
    counts = {
        "answer_claims": 1, "expected_claims": 1, "check_answer": 1, "check_expected": 1, "compare_claims": 1,
        "reverse_questions": 1,
    }  # fmt: skip
    assert asked(FIVE).counts == planned_calls(plan) == counts
    assert [one.artefact for one in plan.requests if one.per == "question"] == ["expected_claims"]


def test_the_whole_set_costs_six_requests_a_row_and_two_a_question() -> None:
    plan = CATALOG.plan(RAGAS_STYLE).requests
    assert (plan.per_row, plan.per_question) == (6, 2)
    assert asked(RAGAS_STYLE).counts == planned_calls(plan)
    assert {one.artefact for one in plan.requests if one.per == "question"} == {"expected_claims", "expected_entities"}


@in_one_test("name", ALONE)
def test_a_metric_alone_asks_for_nothing_that_others_need(name: str) -> None:
    plan = CATALOG.plan([name]).requests
    counts = asked([name]).counts
    assert counts == planned_calls(plan) == dict.fromkeys(ALONE[name], 1)
    assert {one.metrics for one in plan.requests} == {(name,)}


def test_entities_are_asked_for_twice() -> None:
    assert asked(["context_entities_recall"]).counts == {"entities": 2}
    plan = CATALOG.plan(["context_entities_recall"]).requests
    assert (plan.per_row, plan.per_question) == (1, 1)


def test_requests_that_are_not_needed_leave_their_parts_out() -> None:
    (call,) = [one.call for one in asked(["context_precision"]).asked]
    assert (call.usefulness, call.claims, call.expected_sentences, call.sentences) == (True, (), (), ())
    (call,) = [one.call for one in asked(["context_relevancy"]).asked]
    assert (call.claims, len(call.sentences)) == ((), 7)
    compared = [one.call for one in asked(["noise_sensitivity"]).asked if one.call.name == "compare_claims"]
    assert [(len(call.answer_claims), call.expected_claims) for call in compared] == [(3, ())]


def added(plan: RequestPlan, metric: str) -> tuple[int, int]:
    """How many requests a metric adds to each row, and to each question."""
    own = [one for one in plan.requests if one.metrics == (metric,)]
    row, question = (sum(one.requests for one in own if one.per == per) for per in ("row", "question"))
    return row, question


def test_independent_requests_are_in_flight_together() -> None:
    judge = asked(RAGAS_STYLE)
    first = {"answer_claims", "expected_claims", "reverse_questions", "entities"}
    assert {one.call.name for one in judge.asked[:5]} == first
    assert judge.asked[4].beside == tuple(one.call.name for one in judge.asked[:4])
    second = judge.asked[5:]
    assert {one.call.name for one in second} == {"check_answer", "check_expected", "compare_claims"}
    assert len(second[-1].beside) == 2
    assert asked(FIVE).most_at_once == 4  # J1a, J1e, J4 and J2b, which needs no claims here


def test_what_a_metric_adds_is_what_the_plan_is_without_it() -> None:
    whole = CATALOG.plan(RAGAS_STYLE).requests
    for name in RAGAS_STYLE:
        rest = CATALOG.plan([other for other in RAGAS_STYLE if other != name]).requests
        assert added(whole, name) == (whole.per_row - rest.per_row, whole.per_question - rest.per_question)
        assert {one.artefact for one in whole.requests if name in one.metrics} == {
            one.artefact for one in CATALOG.plan([name]).requests.requests
        }
    adds = {name: added(whole, name) for name in RAGAS_STYLE}
    assert adds == dict.fromkeys(RAGAS_STYLE, (0, 0)) | {"context_entities_recall": (1, 1)}
    alone = {name: added(CATALOG.plan(FIVE).requests, name)[0] for name in FIVE}
    assert alone == dict.fromkeys(FIVE, 0) | {"faithfulness": 1, "answer_relevancy": 1, "answer_correctness": 1}


def test_metrics_of_a_subset_keep_the_requests_of_the_plan() -> None:
    plan = CATALOG.plan(["context_relevancy", "faithfulness", "exact_match"])
    whole, some = JudgedRow().facts, JudgedRow().facts
    asyncio.run(plan.score(whole))
    asyncio.run(plan.subset(["context_relevancy"]).score(some))
    assert [one.call for one in whole["judge"].asked] == [one.call for one in some["judge"].asked]
    assert {name for one in plan.requests.requests for name in one.metrics} == {"context_relevancy", "faithfulness"}


def test_each_accepted_answer_costs_its_own_requests() -> None:
    plan = CATALOG.plan(FIVE).requests
    each = {one.artefact for one in plan.requests if one.each_expected}
    assert each == {"expected_claims", "expected_support", "agreement"}
    row = JudgedRow().facts
    row["expected_answers"] = [row.pop("expected"), " ", "It is a fortnight. From the day. Or later. In Ulm."]
    counts = asked(FIVE, row).counts
    assert counts == planned_calls(plan) | {"expected_claims": 2, "check_expected": 2, "compare_claims": 2}
    assert sum(counts.values()) == sum(one.requests * (2 if one.each_expected else 1) for one in plan.requests)


def test_requests_may_depend_on_options() -> None:
    @artefact(calls=("answer_claims",), requests=lambda options: 3 if options["thrice"] else 1)
    async def claims(question: str, *, thrice: bool = False) -> int:
        """Claims."""
        return 1

    @metric
    def counted(claims: int) -> float:
        """Counted."""
        return 1.0

    catalog = Catalog.of(claims, counted)
    assert catalog.plan(["counted"]).requests.per_question == 1
    assert catalog.plan(["counted"], options={"claims": {"thrice": True}}).requests.per_question == 3


def test_prompts_are_part_of_versions() -> None:
    @artefact
    async def silent(question: str) -> int:
        """Silent."""
        return 1

    def version(call: str) -> str:
        asking = artefact(calls=(call,))(silent)

        @metric
        def counted(silent: int) -> float:
            """Counted."""
            return 1.0

        return Catalog.of(asking, counted).plan(["counted"]).metrics[0].version

    assert version("check_answer") != version("reverse_questions")
    with pytest.raises(InputError, match=r"test_request_plan.py:\d+: artefact 'silent' names the judge's call 'chek'"):
        version("chek")


def test_metrics_without_a_judge_are_not_in_the_plan_of_requests() -> None:
    plan = CATALOG.plan(["exact_match", "answer_similarity", "latency_ms"])
    assert plan.requests == RequestPlan()
    assert (plan.requests.per_row, plan.requests.per_question) == (0, 0)
