import asyncio

import pytest
from proctor import InputError
from proctor.metrics import Score, builtin_catalog
from proctor.metrics.evaluators import rates
from proctor.metrics.judge.calls import Label, Rating
from proctor.metrics.judge.judges import PromptedJudge
from proctor.metrics.judge.rendering import JudgeReply
from proctor.metrics.judge.verdicts import Grade, Word
from proctor.metrics.score import JudgeUnavailable, Unreadable
from scripted_judge import ScriptedJudge
from tables import in_one_test

EVALUATORS = ("language_mismatch", "contact_information", "sexism", "stereotypes", "summarization_judge")
ROW = {"question": "What is the refund period?", "expected": "14 days.", "answer": "Within 14 days."}


class Saying:
    """A model that says the same to every request, and remembers the requests."""

    model_id = "saying"

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.requests = []

    async def complete(self, request, problem):
        self.requests.append(request)
        return JudgeReply(self.reply)


def scored(evaluator: str, judge, options=None, **facts) -> dict[str, Score]:
    plan = builtin_catalog().plan(rates(evaluator), options={evaluator: options or {}})
    scores = asyncio.run(plan.score({**ROW, "judge": judge, **facts}))
    return {score.metric.removeprefix(f"{evaluator}."): score for score in scores}


def values(scores) -> list[float | None]:
    return [score.value for score in scores.values()]


@in_one_test(
    ("evaluator", "reply", "passes"),
    [
        ("language_mismatch", "different", 0.0),
        ("language_mismatch", "Same.", 1.0),
        ("contact_information", "Present.", 0.0),
        ("contact_information", "not present, absent", None),
        ("sexism", "FALSE", 1.0),
        ("sexism", "true", 0.0),
        ("sexism", "untrue", None),
        ("stereotypes", "1", 1.0),
        ("stereotypes", "1 out of 10", 1.0),
        ("stereotypes", "2", 0.0),
        ("stereotypes", "8/10", 0.0),
        ("stereotypes", "between 1 and 3", None),
        ("summarization_judge", '{"verdict": "good"}', 1.0),
        ("summarization_judge", "bad", 0.0),
    ],
)
def test_the_examples_of_the_specification(evaluator, reply, passes):
    scores = scored(evaluator, PromptedJudge(Saying(reply)))
    fails = None if passes is None else 1 - passes
    assert values(scores) == [passes, fails, None, fails, float(passes is None)]
    assert scores["passes"].status == ("parse_failure" if passes is None else "ok")
    assert scores["retrieval_failures"].reason == "contexts_missing"


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_what_the_judge_said_is_in_the_details(evaluator):
    (found,) = scored(evaluator, PromptedJudge(Saying("1 or 2, same absent false good")))["passes"].details.get(
        "answer", [{}]
    )
    assert found == {}  # nothing can be read from that
    judge = ScriptedJudge({Label: Word("x", "**X**", agreement=0.75), Rating: Grade(7.0, agreement=0.75)})
    (found,) = scored(evaluator, judge)["passes"].details["answer"]
    said = {"score": 7.0} if evaluator == "stereotypes" else {"label": "x", "reply": "**X**"}
    assert found == {**said, "judge": "scripted", "agreement": 0.75}


@pytest.mark.parametrize(
    ("evaluator", "shown"),
    [
        ("language_mismatch", ["question", "answer"]),
        ("contact_information", ["answer"]),
        ("sexism", ["question", "answer"]),
        ("stereotypes", ["question", "answer"]),
        ("summarization_judge", ["expected", "answer"]),
    ],
)
def test_the_judge_is_shown_what_the_specification_names(evaluator, shown):
    judge = ScriptedJudge({Label: Word("x"), Rating: Grade(0)})
    scored(evaluator, judge, {"check_contexts": False}, contexts=["One chunk."])
    ((call),) = [asked.call for asked in judge.asked]
    assert [block.label for block in call.shown()] == shown
    assert call.prompt == evaluator


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_contexts_are_judged_by_a_second_request_wherever_there_are_any(evaluator):
    def judged(call):
        is_answer = call.shown()[-1].label == "answer"
        if isinstance(call, Rating):
            return Grade(0 if is_answer else 9)
        return Word(call.labels[0 if is_answer else 1])

    judge = ScriptedJudge({Label: judged, Rating: judged})
    checked = scored(evaluator, judge, contexts=["Bad.", " ", "Worse."])
    assert values(checked) == [1.0, 0.0, 1.0, 0.0, 0.0]  # the row is the answer's: failing contexts have their own rate
    assert judge.asked[-1].call.shown()[-1].text == "Bad.\n\nWorse."
    assert judge.most_at_once == 2
    assert set(checked["passes"].details) == {"answer", "contexts"}
    assert scored(evaluator, judge, contexts=[])["retrieval_failures"].reason == "contexts_empty"
    unchecked = scored(evaluator, judge, {"check_contexts": False}, contexts=["Bad."])
    assert values(unchecked) == [1.0, 0.0, None, 0.0, 0.0]
    assert unchecked["retrieval_failures"].reason == "contexts_not_checked"


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_the_prompt_of_contexts_says_what_they_are(evaluator):
    judge = PromptedJudge(saying := Saying("0, same, absent, false or good"))
    scored(evaluator, judge, contexts=["One chunk."])
    of_contexts = [request.system for request in saying.requests if "One chunk." in request.prompt]
    assert of_contexts
    assert all('under "contexts"' in system for system in of_contexts)


@pytest.mark.parametrize(
    ("answer", "contexts", "expected"),
    [
        ("absent", "mumble", [1.0, 0.0, None, 0.0, 0.0]),
        ("present", "mumble", [0.0, 1.0, None, 1.0, 0.0]),
        ("mumble", "absent", [None, None, 0.0, None, 1.0]),
        ("mumble", "present", [None, None, 1.0, None, 1.0]),
        ("mumble", "mumble", [None, None, None, None, 1.0]),
    ],
)
def test_a_verdict_that_cannot_be_read_costs_only_the_rates_that_need_it(answer, contexts, expected):
    def judged(call):
        said = answer if call.texts[-1].label == "answer" else contexts
        return Unreadable("mumbled") if said == "mumble" else Word(said)

    scores = scored("contact_information", ScriptedJudge({Label: judged}), contexts=["C"])
    assert values(scores) == expected
    assert {score.status for score in scores.values() if score.value is None} == {"parse_failure"}
    assert all(score.details["message"].startswith("mumbled") for score in scores.values() if score.value is None)


@pytest.mark.parametrize("evaluator", EVALUATORS)
def test_a_judge_that_is_not_there_is_no_parse_failure(evaluator):
    judge = ScriptedJudge({Label: JudgeUnavailable("gone"), Rating: JudgeUnavailable("gone")})
    assert {(score.status, score.reason) for score in scored(evaluator, judge).values()} == {
        ("error", "judge_unavailable")
    }
    assert {score.reason for score in scored(evaluator, ScriptedJudge()).values()} == {"judge_cannot_grade"}


@pytest.mark.parametrize("evaluator", EVALUATORS[:-1])
def test_a_blank_answer_is_not_judged(evaluator):
    judge = ScriptedJudge()
    assert {score.reason for score in scored(evaluator, judge, answer=" ").values()} == {"answer_empty"}
    assert judge.asked == []


def test_a_blank_answer_is_a_bad_summary_and_costs_no_request():
    judge = ScriptedJudge()
    assert values(scored("summarization_judge", judge, answer=" ")) == [0.0, 1.0, None, 1.0, 0.0]
    assert {score.reason for score in scored("summarization_judge", judge, answer=" ", expected="").values()} == {
        "expected_missing"
    }
    assert judge.asked == []


def test_a_summary_may_be_compared_with_its_source():
    judge = ScriptedJudge({Label: Word("good")})
    options = {"against": "source"}
    assert values(scored("summarization_judge", judge, options, expected=None, contexts=["C"]))[0] == 1.0
    assert [block.label for block in judge.asked[0].call.texts] == ["source", "answer"]
    missing = scored("summarization_judge", judge, options, question=None)
    assert {score.reason for score in missing.values()} == {"question_missing"}


def test_the_score_from_which_stereotypes_fail_is_an_option():
    judge = ScriptedJudge({Rating: Grade(2)})
    assert values(scored("stereotypes", judge))[0] == 0.0
    assert values(scored("stereotypes", judge, {"fails_from": 3}))[0] == 1.0
    for wrong in (0, 11):
        with pytest.raises(InputError, match=rf"stereotypes\.fails_from is {wrong}; a score from 1 to 10 is wanted"):
            scored("stereotypes", judge, {"fails_from": wrong})


@pytest.mark.parametrize(
    ("question", "answer"),
    [("?!", "Yes."), ("What?", "42"), ("What?", "```python\nprint('x')\n```"), ("What?", "https://a.io/b")],
)
def test_texts_without_letters_have_no_language(question, answer):
    judge = ScriptedJudge({Label: Word("same")})
    scores = scored("language_mismatch", judge, question=question, answer=answer)
    assert {(score.status, score.reason) for score in scores.values()} == {("not_applicable", "too_short")}
    assert judge.asked == []


def test_texts_without_a_script_in_common_need_no_judge():
    judge = ScriptedJudge({Label: Word("same")})
    options = {"method": "script"}
    russian = scored("language_mismatch", judge, options, answer="Возврат занимает 14 дней, см. https://a.io")
    assert values(russian) == [0.0, 1.0, None, 1.0, 0.0]
    assert russian["passes"].details["answer"] == [{"label": "different", "scripts": [["LATIN"], ["CYRILLIC"]]}]
    assert judge.asked == []
    assert values(scored("language_mismatch", judge, options, answer="Возврат (refund) занимает 14 дней"))[0] == 1.0
    assert len(judge.asked) == 1
