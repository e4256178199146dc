import asyncio

import pytest
from proctor import InputError
from proctor.metrics import builtin_catalog
from proctor.metrics.evaluators import CRITICS, named, rates
from proctor.metrics.judge.calls import SafetyVerdicts
from proctor.metrics.judge.grades import ASPECTS
from proctor.metrics.judge.rendering import render
from proctor.metrics.score import JudgeUnavailable, Unreadable
from scripted_judge import ScriptedJudge
from tables import in_one_test

CRITIC_IDS = (
    "critic_harmful", "critic_malicious", "critic_bias", "critic_toxic", "critic_hateful", "critic_sexual",
    "critic_violent", "critic_insensitive", "critic_self_harm", "critic_manipulative",
)  # fmt: skip
IDS = [f"{critic}.passes" for critic in CRITIC_IDS]
BOTH = ("safety_votes", *CRITIC_IDS)


def judge_of(*votes):
    """A judge whose votes, in their order, are yes, no or unreadable on 'harmful', and no on all else."""
    waiting = list(votes)

    def judged(call):
        said = waiting.pop(0)
        if said == "mumble":
            return Unreadable("mumbled")
        if isinstance(said, Exception):
            return said
        flag = {"yes": True, "no": False, "left out": None}[said]
        return {aspect: flag if aspect == "harmful" else False for aspect in call.aspects}

    return ScriptedJudge({SafetyVerdicts: judged})


def scored(judge, ids=("critic_harmful.passes",), options=None, **facts):
    plan = builtin_catalog().plan(ids, options=dict.fromkeys(BOTH, options or {}))
    return asyncio.run(plan.score({"question": "Q?", "answer": "A.", "judge": judge, **facts}))


@in_one_test(
    ("votes", "passes"),
    [
        (["yes", "yes", "no"], 0.0),
        (["no", "yes", "no"], 1.0),
        (["yes", "mumble", "yes"], 0.0),
        (["yes", "left out", "yes"], 0.0),
        (["yes", "mumble", "no", "no"], 1.0),
        (["yes", "mumble", "no", "yes"], 0.0),
        (["yes", "mumble", "no", "mumble"], None),
        (["yes", "mumble", "mumble"], None),
        (["mumble", "mumble", "mumble"], None),
    ],
)
def test_the_majority_decides(votes, passes):
    judge = judge_of(*votes)
    (score,) = scored(judge)
    assert score.value == passes
    assert score.status == ("parse_failure" if passes is None else "ok")
    assert len(judge.asked) == len(votes)
    if passes is not None:
        words = {"mumble": "unreadable", "left out": "unreadable"}
        assert score.details["answer"] == [{"votes": [words.get(vote, vote) for vote in votes], "judge": "scripted"}]


def test_the_votes_are_independent_and_go_out_together():
    judge = judge_of("yes", "mumble", "no", "no")
    scored(judge)
    assert [(asked.vote, asked.votes) for asked in judge.asked] == [(1, 3), (2, 3), (3, 3), (4, 3)]
    assert judge.most_at_once == 3


def test_an_extra_vote_counts_only_where_there_was_a_tie():
    judge = judge_of("yes", "mumble", "no", "no")
    scores = scored(judge, IDS)
    assert scores[0].details["answer"][0]["votes"] == ["yes", "unreadable", "no", "no"]
    assert scores[1].details["answer"][0]["votes"] == ["no", "unreadable", "no"]


def test_one_request_a_vote_answers_all_ten_aspects():
    judge = judge_of("yes", "yes", "no")
    scores = scored(judge, [id for critic in CRITICS for id in rates(f"critic_{critic}")])
    assert len(judge.asked) == 3
    assert judge.asked[0].call.aspects == tuple(ASPECTS) == CRITICS
    assert [score.value for score in scores[:5]] == [0.0, 1.0, None, 1.0, 0.0]
    assert scores[2].reason == "contexts_missing"
    assert {score.value for score in scores[5:] if score.metric.endswith(".passes")} == {1.0}
    (alone,) = scored(judge_of("yes", "yes", "no"))
    assert alone == scores[0]


def test_asked_one_by_one_each_aspect_costs_its_votes():
    judge = ScriptedJudge({SafetyVerdicts: lambda call: dict.fromkeys(call.aspects, False)})
    options = {"isolate": True}
    assert scored(judge, IDS[:2], options)[0].value == 1.0
    assert [asked.call.aspects for asked in judge.asked] == [("harmful",)] * 3 + [("malicious",)] * 3
    catalog = builtin_catalog()
    joint = catalog.plan(IDS).requests.per_row
    isolated = catalog.plan(IDS, options={name: {"isolate": True, "votes": 5} for name in BOTH}).requests.per_row
    assert (joint, isolated) == (6, 100)  # where there are contexts, they are voted on as well


@pytest.mark.parametrize("isolate", [False, True])
def test_contexts_are_voted_on_as_well(isolate):
    judge = ScriptedJudge(
        {SafetyVerdicts: lambda call: dict.fromkeys(call.aspects, call.shown()[-1].label == "contexts")}
    )
    ids = rates("critic_harmful")
    scores = scored(judge, ids, {"isolate": isolate}, contexts=["C1.", " ", "C2."])
    assert [score.value for score in scores] == [1.0, 0.0, 1.0, 0.0, 0.0]
    assert scores[0].details["contexts"] == [{"votes": ["yes"] * 3, "judge": "scripted"}]
    (of_contexts,) = {asked.call for asked in judge.asked if asked.call.judged == "contexts"}
    assert (of_contexts.question, of_contexts.answer) == ("", "C1.\n\nC2.")  # the same for every row that has them
    assert 'under "contexts"' in render(of_contexts).system
    assert len(judge.asked) == 6
    unchecked = scored(judge, ids, {"isolate": isolate, "check_contexts": False}, contexts=["C1."])
    assert unchecked[2].reason == "contexts_not_checked"


def test_the_number_of_votes_is_odd():
    judge = judge_of(*["yes"] * 5)
    scored(judge, options={"votes": 5})
    assert len(judge.asked) == 5
    assert scored(judge_of("no"), options={"votes": 1})[0].value == 1.0
    with pytest.raises(InputError, match=r"safety_votes\.votes is 2; one of 1, 3, 5, 7, 9 is wanted"):
        scored(judge, options={"votes": 2})


def test_a_judge_that_is_not_there_is_no_vote():
    (score,) = scored(judge_of("yes", JudgeUnavailable("gone"), "yes"))
    assert (score.status, score.reason) == ("error", "judge_unavailable")
    (score,) = scored(ScriptedJudge())
    assert (score.status, score.reason) == ("not_applicable", "judge_cannot_grade")


def test_the_question_is_optional_and_the_answer_is_not():
    judge = judge_of("no", "no", "no")
    assert scored(judge, question=None)[0].value == 1.0
    assert judge.asked[0].call.question == ""
    (blank,) = scored(judge, answer=" ")
    assert (blank.status, blank.reason) == ("not_applicable", "answer_empty")
    assert len(judge.asked) == 3


def test_the_group_stands_for_all_critics():
    assert [evaluator.id for evaluator in named("safety_critics", builtin_catalog())] == [
        f"critic_{a}" for a in CRITICS
    ]


def test_each_row_counts_in_one_of_passes_failures_and_parse_failures():
    rows = [scored(judge_of(*votes), rates("critic_harmful")) for votes in (["no"] * 3, ["yes"] * 3, ["mumble"] * 3)]
    values = [[row[place].value for place in (0, 1, 4)] for row in rows]
    assert values == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [None, None, 1.0]]
    assert [metric.aggregate for metric in builtin_catalog().plan(rates("critic_harmful")).metrics] == ["rate"] * 5
