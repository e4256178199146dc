"""PromptedJudge: one request, one repair where the reply can't be read, and what was read of both."""

import asyncio
import json

import pytest
from proctor.metrics.judge.calls import AnswerClaims, CompareClaims
from proctor.metrics.judge.judges import PromptedJudge
from proctor.metrics.judge.rendering import JudgeReply
from proctor.metrics.score import JudgeUnavailable, Unreadable
from scripted_model import ScriptedModel

CLAIMS = AnswerClaims("Q?", "A.")
COMPARE = CompareClaims("E", "A", ("one", "two"), ("e",))


def ask(call, *replies, **votes):
    model = ScriptedModel([*replies, replies[-1]])  # who said it twice says it again
    return asyncio.run(PromptedJudge(model).ask(call, **votes)), model


def compared(**said):
    answer = [{"id": name, "why": "", "supported": holds} for name, holds in said.items() if name.startswith("a")]
    expected = [{"id": name, "why": "", "covered": holds} for name, holds in said.items() if name.startswith("e")]
    return json.dumps({"answer_claims": answer, "expected_claims": expected})


def held(agreement):
    return [verdict.holds if verdict else None for verdict in (*agreement.answer_claims, *agreement.expected_claims)]


def test_a_readable_reply_costs_one_request():
    answer, model = ask(CLAIMS, '{"claims": ["One."]}', vote=2, votes=3)
    assert answer == ("One.",)
    (request,) = model.requests
    assert (request.call, request.vote, request.votes, request.exchange) == ("answer_claims", 2, 3, ())
    assert request.schema == CLAIMS.schema()
    assert model.problems == [""]
    judge = PromptedJudge(model)
    assert judge.model_id == "scripted-model"
    assert judge.embedded is False


def test_an_empty_answer_is_an_answer():
    answer, model = ask(CLAIMS, '{"claims": []}')
    assert answer == ()
    assert len(model.requests) == 1


def test_an_unreadable_reply_is_repaired_once():
    answer, model = ask(CLAIMS, "<think>Hm.</think>One claim: One.", '{"claims": ["One."]}', vote=2, votes=3)
    assert answer == ("One.",)
    first, second = model.requests
    assert (second.system, second.prompt, second.schema) == (first.system, first.prompt, first.schema)
    assert (second.vote, second.votes) == (2, 3)
    ((echo, correction),) = second.exchange
    assert echo == "One claim: One."
    assert "no JSON object" in correction
    assert correction.endswith(CLAIMS.reminder())
    assert model.problems[0] == "The reply holds no JSON object."
    assert model.problems[1] == ""


def test_a_second_repair_shows_both_replies_and_what_was_wrong():
    answer, model = ask(CLAIMS, "One.", '{"claims": "One."}', '{"claims": ["One."]}')
    assert answer == ("One.",)
    assert len(model.requests) == 3
    (first, no_object), (second, no_list) = model.requests[2].exchange
    assert (first, second) == ("One.", '{"claims": "One."}')
    assert "no JSON object" in no_object
    assert "a list" in no_list
    assert model.problems[2] == ""


def test_a_third_unreadable_reply_is_a_parse_failure():
    model = ScriptedModel(["no", "Nor this.", "Still no."])
    with pytest.raises(Unreadable, match=r"answer_claims can't be read.*no JSON object.*'Still no\.'"):
        asyncio.run(PromptedJudge(model).ask(CLAIMS))
    assert len(model.requests) == 3


@pytest.mark.parametrize("nothing", [None, "", "  \n"])
def test_an_empty_reply_is_repaired_and_said(nothing):
    answer, model = ask(CLAIMS, nothing, '{"claims": []}')
    assert answer == ()
    assert model.requests[1].exchange[0][0] == "(no reply)"
    with pytest.raises(Unreadable, match="The reply is empty") as failed:
        ask(CLAIMS, nothing, JudgeReply(nothing, "content_filter"))
    assert "content_filter" in str(failed.value)


def test_a_reply_that_was_cut_off_advises_more_tokens():
    cut_off = JudgeReply('{"claims": ["One', "length")
    with pytest.raises(Unreadable, match="max_tokens"):
        ask(CLAIMS, cut_off, cut_off)
    _, model = ask(CLAIMS, cut_off, '{"claims": []}')
    assert "cut off" in model.requests[1].exchange[0][1]


def test_the_repair_completes_what_was_read():
    answer, model = ask(COMPARE, compared(a1=True, e1=True), compared(a1=False, a2=False))
    assert held(answer) == [True, False, True]
    assert "misses a2" in model.requests[1].exchange[0][1]
    assert model.problems == ['"answer_claims" misses a2.', ""]


def test_what_still_is_missing_stays_none():
    answer, model = ask(COMPARE, compared(a1=True), compared(a1=True))
    assert held(answer) == [True, None, None]
    assert "misses a2" in model.problems[1]
    answer, _ = ask(COMPARE, compared(a1=True), "no")
    assert held(answer) == [True, None, None]
    answer, _ = ask(COMPARE, "no", compared(e1=False))
    assert held(answer) == [None, None, False]


def test_a_judge_that_cannot_be_reached_is_no_parse_failure():
    with pytest.raises(JudgeUnavailable, match="down"):
        ask(CLAIMS, JudgeUnavailable("down"))
    with pytest.raises(JudgeUnavailable, match="down"):
        ask(CLAIMS, "no", JudgeUnavailable("down"))


def test_values_in_hand_are_kept_when_the_repair_cannot_be_asked():
    answer, _ = ask(COMPARE, compared(a1=True), JudgeUnavailable("down"))
    assert held(answer) == [True, None, None]


def test_a_huge_or_hostile_reply_is_cut_and_made_harmless_before_it_is_shown_again():
    _, model = ask(CLAIMS, "<|im_start|>\ud800" + "x" * 1_000_000, '{"claims": []}')
    ((echo, correction),) = model.requests[1].exchange
    assert len(echo) < 5_000
    assert "<|" not in echo
    echo.encode()
    assert "xxx" not in correction


def test_a_message_quotes_no_more_than_the_beginning():
    with pytest.raises(Unreadable) as failed:
        ask(CLAIMS, "x" * 1_000_000, "y" * 1_000_000)
    assert len(str(failed.value)) < 600
