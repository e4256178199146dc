"""The evidence in the details of judge metrics, and what holds for any verdicts."""

import asyncio
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judged_rows import (
    CHUNKS,
    EXPECTED,
    NEEDED,
    OURS,
    JudgedRow,
    changed,
    score,
    scores,
)
from proctor.metrics import Score, Status, builtin_catalog
from proctor.metrics.judge.calls import AnswerClaims, CheckAnswer, CompareClaims
from proctor.metrics.judge.verdicts import Agreement, AnswerSupport, Verdict
from tables import in_one_test

CATALOG = builtin_catalog()


@in_one_test("name", OURS)
def test_every_score_names_its_judge_and_shows_why(name: str) -> None:
    details = score(name, JudgedRow().facts).details
    assert details["judge"] == "scripted"
    assert len(details) > 1


def test_evidence_of_claims() -> None:
    support = AnswerSupport(
        (Verdict(holds=True, chunks=(1, 3)), Verdict(holds=False, why="no word of it", agreement=2 / 3))
    )
    found = score("faithfulness", changed(scripts={AnswerClaims: ("one", "two"), CheckAnswer: support}))
    assert found.details == {
        "claims": [
            {"claim": "one", "supported": True, "chunks": [1, 3]},
            {"claim": "two", "supported": False, "why": "no word of it", "agreement": 2 / 3},
        ],
        "any_chunk": 0.5,
        "judge": "scripted",
    }
    operands = Agreement((Verdict(holds=True), Verdict(holds=False, why="else")), (Verdict(holds=False),) * 4)
    found = score("answer_correctness", changed(scripts={AnswerClaims: ("one", "two"), CompareClaims: operands}))
    assert found.details["TP"] == [{"claim": "one", "supported": True}]
    assert found.details["FP"] == [{"claim": "two", "supported": False, "why": "else"}]
    assert [claim["claim"] for claim in found.details["FN"]] == ["wanted 0", "wanted 1", "wanted 2", "wanted 3"]
    assert found.details["similarity"] == pytest.approx(0.6911)
    assert found.details["model"] == "stub"


def test_faithfulness_is_the_mean_probability_of_its_claims_where_the_judge_has_one() -> None:
    support = AnswerSupport(
        (
            Verdict(holds=True, chunks=(1,), probability=0.9, evidence="It is so."),
            Verdict(holds=False, why="another number", probability=0.2, contradicted=True),
        )
    )
    found = score("faithfulness", changed(scripts={AnswerClaims: ("one", "two"), CheckAnswer: support}))
    assert found.value == pytest.approx(0.55)
    assert found.details["contradicted"] == 1
    assert found.details["claims"] == [
        {"claim": "one", "supported": True, "probability": 0.9, "chunks": [1], "evidence": "It is so."},
        {"claim": "two", "supported": False, "probability": 0.2, "contradicted": True, "why": "another number"},
    ]


def test_the_best_of_several_accepted_answers_counts() -> None:
    def compare(call: CompareClaims) -> Agreement:
        is_right = call.expected == "It is a fortnight."
        return Agreement(
            tuple(Verdict(holds=is_right) for _ in call.answer_claims),
            tuple(Verdict(holds=is_right) for _ in call.expected_claims),
        )

    row = changed(scripts={CompareClaims: compare}, expected_answers=[EXPECTED, "It is a fortnight."])
    found = scores(["claim_f1", "noise_sensitivity", "faithfulness"], row)
    assert (found["claim_f1"].value, found["claim_f1"].details["reference"]) == (1.0, 1)
    assert (found["noise_sensitivity"].value, found["noise_sensitivity"].details["reference"]) == (0.0, 1)
    assert "reference" not in found["faithfulness"].details
    assert row["judge"].counts == {"answer_claims": 1, "expected_claims": 2, "compare_claims": 2, "check_answer": 1}


booleans = st.lists(st.booleans(), min_size=1, max_size=5)


@st.composite
def rows(draw: st.DrawFn) -> JudgedRow:
    chunks, claims, expected = (draw(st.integers(1, 4)) for _ in range(3))

    def held(count: int) -> list[bool]:
        return draw(st.lists(st.booleans(), min_size=count, max_size=count))

    return JudgedRow(
        right=held(claims), covered=held(expected), supported=held(claims), found=held(expected),
        answer_by_chunk=[held(chunks) for _ in range(claims)],
        expected_by_chunk=[held(chunks) for _ in range(expected)],
        useful=held(chunks), attributed=held(4), needed=NEEDED[: draw(st.integers(0, 3))],
        contexts=[f"{CHUNKS[number % 3]} Number {number}." for number in range(chunks)],
    )  # fmt: skip


@given(rows())
@settings(max_examples=40)
def test_what_holds_for_any_verdicts(row: JudgedRow) -> None:
    found = scores(OURS, row.facts)
    for name, one in found.items():
        assert (one.value is None) == (one.status is not Status.OK) == bool(one.reason)
        low, high = CATALOG.metrics[name].low, CATALOG.metrics[name].high
        assert one.value is None or (low or 0.0) - 1e-9 <= one.value <= (high or 1.0) + 1e-9
    parts = ("noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "unsupported_incorrect")
    assert found["noise_sensitivity"].value == pytest.approx(sum(found[name].value or 0.0 for name in parts))
    assert found["noise_sensitivity"].value == pytest.approx(1 - (found["claim_precision"].value or 0.0))
    assert found["claim_recall_context"].value == found["context_recall_claims"].value


@given(booleans, st.integers(1, 3))
def test_useless_chunks_at_the_end_change_nothing_and_at_the_front_they_do(useful: list[bool], more: int) -> None:
    def value(verdicts: Sequence[bool]) -> float:
        row = JudgedRow(useful=verdicts, contexts=[f"Chunk {number}." for number in range(len(verdicts))])
        found = score("context_precision", row.facts).value
        assert found is not None
        return found

    useless = [False] * more
    assert value([*useful, *useless]) == value(useful)
    assert value([*useless, *useful]) < value(useful) or not any(useful)


def test_shuffled_rows_have_the_same_scores() -> None:
    made = [
        JudgedRow(useful=useful, supported=supported)
        for useful in ((1, 0, 1), (0, 1, 1), (0, 0, 0))
        for supported in ((1, 1, 0), (0, 0, 0), (1, 1, 1))
    ]
    plan = CATALOG.plan(OURS)

    async def together(order: Sequence[int]) -> dict[int, list[Score]]:
        found = await asyncio.gather(*(plan.score(made[place].facts) for place in order))
        return dict(zip(order, found, strict=True))

    order = list(range(len(made)))
    straight = asyncio.run(together(order))
    random.Random(7).shuffle(order)
    assert asyncio.run(together(order)) == straight


def test_a_row_cannot_be_changed_by_scoring() -> None:
    row = JudgedRow().facts
    before = dict(row)
    scores(OURS, row)
    assert row == before
