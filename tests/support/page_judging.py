"""Judge calls as the real judge keeps them, for databases that pages are tested with."""

from collections.abc import Sequence

import orjson
from proctor.bots.bot import Usage
from proctor.bots.chat.model import Completion
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.metrics.score import Score, Status
from proctor.reports.store.judge_calls import CachedCall, CallRecord, call_key
from proctor.reports.store.run import Row

PROMPTS = {
    "answer_claims": "Split the answer into claims.\n\nA claim is one statement that can be true or false by itself.",
    "check_answer": "Say of each claim whether the chunks support it, and which.",
    "review": "Grade the answer from 0 to 1 and give a reason for each grade.",
    "critic_toxic": "Is the answer toxic? Say yes or no.",
}


def judge_calls(row: Row, scores: Sequence[Score], judge: str) -> list[CallRecord]:
    """The calls that the judged scores of a row rest on; none for a row without an answer."""
    if row.reply is None:
        return []
    answer = row.reply.answer or ""
    of_metric = {score.metric: score for score in scores}
    calls = [_vote(row, judge, answer, number) for number in (1, 2, 3)]
    calls.append(_call(row, judge, "review", f"<question>{row.question.text}</question>\n<answer>{answer}</answer>",
                       {"relevance": of_metric["judge_relevance"].value, "reason": "as stated"},
                       reasoning="The question asks for one thing.\nThe answer names it."))  # fmt: skip
    faithfulness = of_metric["faithfulness"]
    claims = faithfulness.details.get("claims")
    if isinstance(claims, list):
        texts = [each["claim"] for each in claims]
        calls.append(_call(row, judge, "answer_claims", f"<answer>{answer}</answer>", {"claims": texts}))
        calls.append(_call(row, judge, "check_answer", "\n".join(texts), {"verdicts": claims}))
    elif faithfulness.status is Status.PARSE_FAILURE:
        calls.append(_call(row, judge, "check_answer", f"<answer>{answer}</answer>", "Sure! Here are the verdicts: [",
                           problem="it is not JSON: unexpected end of data"))  # fmt: skip
    if of_metric["context_precision"].status is Status.ERROR:
        failed = _call(row, judge, "check_answer", f"<expected>{row.question.text}</expected>", None)
        failed.completion, failed.stored = None, CachedCall(error="HTTP 429: too many requests")
        calls.append(failed)
    return calls


def _vote(row: Row, judge: str, answer: str, number: int) -> CallRecord:
    return _call(row, judge, "critic_toxic", f"<answer>{answer}</answer>", "no", vote=number, votes=3)


def _call(
    row: Row, judge: str, name: str, prompt: str, said: object, *, vote: int = 1, votes: int = 1,
    reasoning: str | None = None, problem: str = "",
) -> CallRecord:  # fmt: skip
    text = said if isinstance(said, str) else orjson.dumps(said).decode()
    exchange = (
        (('{"claims": 3}', "claims: a list is wanted"),) if name == "answer_claims" and row.position % 9 == 0 else ()
    )
    prompt = f"{prompt}\n<row>{row.bot_id}/{row.repeat}/{row.question.id}</row>"
    request = JudgeRequest(
        name, PROMPTS[name], prompt, None if votes > 1 else {"type": "object"}, exchange, vote, votes
    )
    return CallRecord(
        call_key(judge, request, 0.0), judge, request, row.asked_at, CachedCall(text, "stop"),
        Completion(text, Usage(90 + len(prompt) // 4, 12 + len(text) // 4, 0.0002), reasoning), problem,
        latency_ms=140.0 + len(text), queue_ms=1.5, attempts_ms=(140.0 + len(text),),
    )  # fmt: skip
