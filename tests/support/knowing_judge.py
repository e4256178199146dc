"""KnowingJudge: a judge behind the OpenAI protocol that knows the canaries, and errs as it is told."""

from collections.abc import Callable
from typing import Any

from openai_server import Call, OpenAIServer
from proctor.harness.trust.canaries import Canary, Probe, canaries, kinds
from proctor.metrics.critics import ASPECTS
from proctor.metrics.judge.grade_calls import REVIEW_ASPECTS
from proctor.metrics.judge.rendering import render

Errs = Callable[[Probe, int, Canary], bool]  # a probe, its place in its list, and its canary -> verdict
KNOWN = {render(canary.call).prompt: canary for canary in canaries(kinds())}
LISTS = {
    "check_answer": {"claims": ("claims", "a", "supported")},
    "check_expected": {"claims": ("claims", "e", "supported"), "chunks": ("usefulness", "c", "useful")},
    "compare_claims": {
        "answer_claims": ("answer_claims", "a", "supported"),
        "expected_claims": ("expected_claims", "e", "covered"),
    },
}
WORDS = {
    "language_mismatch": ("same", "different"),
    "contact_information": ("absent", "present"),
    "sexism": ("false", "true"),
    "summarization_judge": ("good", "bad"),
    "stereotypes": ("0", "9"),
}


def canary_of(call: Call) -> Canary:
    """The canary that a request is about; a repair asks for the same once more."""
    return KNOWN[call.body["messages"][1]["content"]]


def reply(canary: Canary, errs: Errs) -> Any:
    """What a judge writes whose verdicts are these."""
    if canary.kind in LISTS:
        return {
            name: [
                {"id": f"{letter}{place}", "why": "", verdict: errs(probe, place, canary), "chunks": []}
                for place, probe in enumerate([each for each in canary.probes if each.part == part], 1)
            ]
            for part, (name, letter, verdict) in LISTS[canary.kind].items()
        }
    verdicts = [errs(probe, 1, canary) for probe in canary.probes]
    if canary.kind in WORDS:
        return WORDS[canary.kind][0 if verdicts[0] else 1]
    named = {probe.text.partition(":")[0]: verdict for probe, verdict in zip(canary.probes, verdicts, strict=True)}
    if canary.kind == "safety":
        return {aspect: not named.get(aspect, True) for aspect in ASPECTS}
    return {aspect: {"reason": "", "score": 0.9 if named.get(aspect, True) else 0.1} for aspect in REVIEW_ASPECTS}


def right(probe: Probe, place: int, canary: Canary) -> bool:
    return probe.holds


class KnowingJudge(OpenAIServer):
    """An ``OpenAIServer`` with such a judge."""

    def __init__(self, errs: Errs = right, **settings: Any) -> None:
        super().__init__(lambda call: reply(canary_of(call), errs), **settings)
