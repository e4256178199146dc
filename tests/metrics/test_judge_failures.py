"""Judge metrics where a call fails, an item can't be read, or there is no judge: what keeps its value."""

import pytest
from judged_rows import OURS, WORKED, JudgedRow, changed, score, scores
from proctor.metrics import Facts, ModelUnavailable, Status
from proctor.metrics.judge.calls import AnswerClaims, CheckAnswer, CheckExpected, ReverseQuestions
from proctor.metrics.judge.verdicts import AnswerSupport, ExpectedSupport, Verdict
from proctor.metrics.score import JudgeUnavailable, Unreadable
from scripted_judge import ScriptedJudge
from stub_embedder import StubEmbedder
from tables import in_one_test

FAILURES = [
    (Unreadable("no JSON"), Status.PARSE_FAILURE, "judge_unparseable"),
    (JudgeUnavailable("refused"), Status.ERROR, "judge_unavailable"),
]


@pytest.mark.parametrize(("error", "status", "reason"), FAILURES)
def test_a_failed_call_fails_what_rests_on_it_and_nothing_else(error: Exception, status: Status, reason: str) -> None:
    found = scores(OURS, changed(scripts={AnswerClaims: error}))
    hit = {name for name, one in found.items() if one.value is None}
    assert hit == {
        "answer_correctness", "faithfulness", "noise_sensitivity", "noise_sensitivity_relevant",
        "noise_sensitivity_irrelevant", "ragas", "claim_precision", "claim_f1", "self_knowledge",
        "unsupported_incorrect",
    }  # fmt: skip
    assert {(found[name].status, found[name].reason) for name in hit - {"ragas"}} == {(status, reason)}
    assert {name: found[name].value for name in set(OURS) - hit} == pytest.approx(
        {name: WORKED[name] for name in set(OURS) - hit}, abs=5e-5
    )
    component = "component_parse_failure" if status is Status.PARSE_FAILURE else reason
    assert (found["ragas"].status, found["ragas"].reason) == (status, component)
    assert found["ragas"].details["component"] == "faithfulness"
    assert found["ragas"].details["reason"] == reason


def test_an_item_that_cannot_be_read_fails_the_metrics_that_need_it() -> None:
    row = JudgedRow()
    yes = Verdict(holds=True, chunks=(1,))
    no = Verdict(holds=False)

    def check(call: CheckAnswer) -> AnswerSupport:
        return AnswerSupport((yes, None, no), tuple(no for _ in call.sentences))

    def expected(call: CheckExpected) -> ExpectedSupport:
        return ExpectedSupport(
            claims=(yes, yes, no, no),
            sentences=(yes, yes, no, no),
            useful=(yes, no, None),
            supporting=tuple(no for _ in call.sentences),
        )

    found = scores(OURS, changed(row, {CheckAnswer: check, CheckExpected: expected}))
    unread = {name for name, one in found.items() if one.status is Status.PARSE_FAILURE}
    assert unread == {
        "faithfulness", "noise_sensitivity_relevant", "noise_sensitivity_irrelevant", "self_knowledge",
        "unsupported_incorrect", "context_precision", "ragas",
    }  # fmt: skip
    assert "1 of 3" in str(found["faithfulness"].details["message"])
    assert found["context_recall"].value == 0.5
    assert (found["context_relevancy"].value, found["context_precision_ratio"].value) == (0.0, 0.0)


@pytest.mark.parametrize("verdicts", [(), (Verdict(holds=True),) * 2, (Verdict(holds=True),) * 4])
def test_a_judge_that_loses_count_is_not_believed(verdicts: tuple[Verdict, ...]) -> None:
    found = score("faithfulness", changed(scripts={CheckAnswer: AnswerSupport(verdicts)}))
    assert (found.status, found.reason) == (Status.PARSE_FAILURE, "judge_unparseable")
    assert found.details["message"] == f"the judge gave {len(verdicts)} verdicts on 3 items"


def test_no_reverse_question_is_a_parse_failure() -> None:
    found = score("answer_relevancy", changed(scripts={ReverseQuestions: ()}))
    assert (found.status, found.reason) == (Status.PARSE_FAILURE, "judge_unparseable")


@pytest.mark.parametrize(
    ("row", "component"),
    [
        (changed(scripts={ReverseQuestions: Unreadable("odd")}), "answer_relevancy"),
        (changed(embedder=StubEmbedder(fails=ModelUnavailable("gone"))), "answer_relevancy"),
        (changed(scripts={CheckAnswer: JudgeUnavailable("gone")}), "faithfulness"),
        (changed(scripts={CheckExpected: ExpectedSupport(useful=(Verdict(holds=True),) * 3)}), "context_recall"),
    ],
)
def test_ragas_names_the_part_that_has_no_value(row: Facts, component: str) -> None:
    found = score("ragas", row)
    assert found.value is None
    assert found.details["component"] == component


def test_ragas_is_zero_when_a_part_is_and_clips_the_others() -> None:
    assert score("ragas", JudgedRow(useful=(0, 0, 0)).facts).value == 0.0
    assert score("ragas", JudgedRow(cosines=(-0.5, -0.5, -0.5)).facts).value == 0.0
    best = JudgedRow(supported=(1, 1, 1), attributed=(1,) * 4, useful=(1, 1, 1), cosines=(1.0, 1.0, 1.0))
    assert score("ragas", best.facts).value == pytest.approx(1.0)
    evasive = scores(["ragas"], JudgedRow(noncommittal=(1, 0, 0)).facts, reverse_relevancy={"noncommittal": "any"})
    assert evasive["ragas"].value == 0.0


def test_a_judge_without_means_gives_not_applicable() -> None:
    row = changed()
    row["judge"] = ScriptedJudge()
    found = scores(OURS, row)
    assert {(one.status, one.reason) for one in found.values()} == {
        (Status.NOT_APPLICABLE, "judge_cannot_grade"), (Status.NOT_APPLICABLE, "component_not_applicable"),
    }  # fmt: skip


@in_one_test("name", OURS)
def test_without_a_judge_there_is_an_error(name: str) -> None:
    found = score(name, changed(judge=None))
    assert (found.status, found.reason) == (Status.ERROR, "judge_unavailable")
