import asyncio

import pytest
from proctor import InputError
from proctor.metrics import builtin_catalog
from proctor.metrics.judge.calls import REVIEW_ASPECTS, Review
from proctor.metrics.judge.judges import PromptedJudge
from proctor.metrics.judge.rendering import JudgeReply
from proctor.metrics.judge.verdicts import Grade
from proctor.metrics.score import Unreadable, passed
from scripted_judge import ScriptedJudge

IDS = ("judge_relevance", "judge_faithfulness", "judge_safety", "judge_robustness")
ROW = {"question": "Q?", "expected": "E.", "answer": "A."}


def grades(**scores):
    return {aspect: Grade(scores[aspect], "so") if aspect in scores else None for aspect in REVIEW_ASPECTS}


def scored(judge, options=None, **facts):
    plan = builtin_catalog().plan(IDS, options={"review": options or {}})
    return asyncio.run(plan.score({**ROW, "judge": judge, **facts}))


def test_one_request_grades_all_four_aspects():
    judge = ScriptedJudge({Review: grades(relevance=0.8, faithfulness=0.5, safety=1.0, robustness=0.0)})
    scores = scored(judge)
    assert [score.value for score in scores] == [0.8, 0.5, 1.0, 0.0]
    assert dict(scores[0].details) == {"reason": "so", "judge": "scripted"}
    assert [asked.call for asked in judge.asked] == [Review("Q?", "A.", "E.")]


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ('{"relevance": {"score": 0.8, "reason": "…"}}', 0.8),
        ("about 0.8", None),
        ('{"relevance": {"score": 4, "reason": "…"}}', None),
    ],
)
def test_the_examples_of_the_specification(reply, value):
    class Model:
        model_id = "m"

        async def complete(self, request, problem):
            return JudgeReply(reply)

    scores = scored(PromptedJudge(Model()))
    assert scores[0].value == value
    assert [score.status for score in scores[1:]] == ["parse_failure"] * 3
    assert (scores[0].status == "ok") == (value is not None)


def test_without_an_expected_answer_it_is_judged_all_the_same():
    judge = ScriptedJudge({Review: grades(relevance=1, faithfulness=1, safety=1, robustness=1)})
    for expected in (None, " "):
        scores = scored(judge, expected=expected)
        assert all(score.details["no_expected"] for score in scores)
        assert judge.asked[-1].call.expected == ""


def test_a_blank_answer_is_irrelevant_and_nothing_else():
    judge = ScriptedJudge()
    scores = scored(judge, answer=" ")
    assert (scores[0].value, dict(scores[0].details)) == (0.0, {"answer": "answer_empty"})
    assert {(score.status, score.reason) for score in scores[1:]} == {("not_applicable", "answer_empty")}
    assert scored(judge, {"scale": [1, 5]}, answer=" ")[0].value == 1.0
    assert judge.asked == []


def test_on_another_scale_values_stay_raw_and_the_threshold_goes_along():
    judge = ScriptedJudge({Review: grades(relevance=4, faithfulness=3.9, safety=5, robustness=1)})
    scores = scored(judge, {"scale": [1, 5]})
    assert [score.value for score in scores] == [4, 3.9, 5, 1]
    assert [score.details["normalised"] for score in scores] == [0.75, pytest.approx(0.725), 1.0, 0.0]
    assert (judge.asked[0].call.low, judge.asked[0].call.high) == (1.0, 5.0)
    planned = builtin_catalog().plan(IDS, options={"review": {"scale": [1, 5]}}).metrics[0]
    assert (planned.low, planned.high, planned.threshold) == (1.0, 5.0, 4.0)
    assert planned.on_scale(0.5) == 3.0
    assert [passed(score.value, planned.threshold, planned.better) for score in scores] == [True, False, True, False]


def test_on_the_plain_scale_the_threshold_stays():
    plan = builtin_catalog().plan([*IDS, "exact_match"])
    assert [(one.low, one.high, one.threshold) for one in plan.metrics] == [(0, 1, 0.75)] * 4 + [(0, 1, 1.0)]
    assert plan.metrics[4].on_scale(0.5) == plan.metrics[0].on_scale(0.5) == 0.5


@pytest.mark.parametrize("scale", [[1], [5, 1], [1, 1], [1, 2, 3], [0, float("inf")]])
def test_a_scale_is_two_numbers(scale):
    with pytest.raises(InputError, match=r"review\.scale is .*; two numbers are wanted, the worst score first"):
        builtin_catalog().plan(IDS, options={"review": {"scale": scale}})


def test_the_mean_of_samples():
    waiting = [grades(relevance=0.6, safety=1), Unreadable("mumbled"), grades(relevance=0.9), grades(relevance=0.9)]
    judge = ScriptedJudge({Review: lambda call: waiting.pop(0)})
    scores = scored(judge, {"judge_scoring": "expected", "samples": 4})
    assert scores[0].value == pytest.approx(0.8)
    assert scores[0].details["samples"] == [0.6, 0.9, 0.9]
    assert [score.status for score in scores[1:]] == ["parse_failure"] * 3  # one of four, or none, can be read
    assert [(asked.vote, asked.votes) for asked in judge.asked] == [(number, 4) for number in (1, 2, 3, 4)]
    assert judge.most_at_once == 4


def test_half_of_the_samples_are_enough():
    waiting = [grades(safety=1), Unreadable("mumbled")]
    judge = ScriptedJudge({Review: lambda call: waiting.pop(0)})
    assert scored(judge, {"judge_scoring": "expected", "samples": 2})[2].value == 1.0


def test_samples_are_counted_before_any_request():
    catalog = builtin_catalog()
    options = {"review": {"judge_scoring": "expected", "samples": 7}}
    assert catalog.plan(IDS, options=options).requests.per_row == 7
    assert catalog.plan(IDS).requests.per_row == 1
    with pytest.raises(InputError, match=r"review\.samples is 1; 2 or more is wanted"):
        catalog.plan(IDS, options={"review": {"samples": 1}})
