"""RequestPlan: which requests to the judge a plan makes for a row and a question, and which metrics rest on them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .bench import Step
from .facts import OF_REPLY
from .planned import Prepared

Per: TypeAlias = Literal["row", "question"]


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """The requests of one artefact, before votes, repairs and retries.

    Attributes:
        artefact: what they are made for.
        calls: names of the judge's calls (``check_answer``), and of their prompts.
        requests: how many for a row or a question.
        per: ``"question"`` when they rest on nothing that the bot says, so that all bots and repeats share them.
        each_expected: whether they are made once for each accepted answer of the question.
        metrics: those that rest on them, in the order of the plan.
    """

    artefact: str
    calls: tuple[str, ...]
    requests: int
    per: Per
    each_expected: bool
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """All requests to the judge that a plan makes."""

    requests: tuple[PlannedRequest, ...] = ()

    @property
    def per_row(self) -> int:
        """Requests for each row, with one accepted answer."""
        return _total(self.requests, "row")

    @property
    def per_question(self) -> int:
        """Requests for each question, with one accepted answer, whatever bots answer it."""
        return _total(self.requests, "question")


def plan_requests(prepared: Sequence[Prepared]) -> RequestPlan:
    """The requests under some row metrics."""
    steps = {step.name: step for one in prepared for step in one.below}
    reached = {one.metric.id: _reached(one.step, steps) for one in prepared}
    of_question = _of_question(steps)
    requests = {
        step.name: PlannedRequest(
            artefact=step.name,
            calls=step.calls,
            requests=step.requests,
            per="question" if step.name in of_question else "row",
            each_expected=step.on_expected,
            metrics=tuple(metric for metric, names in reached.items() if step.name in names),
        )
        for step in steps.values()
        if step.requests
    }
    return RequestPlan(tuple(request for request in requests.values() if request.metrics))


def _reached(step: Step, steps: Mapping[str, Step]) -> frozenset[str]:
    """The artefacts without which a step can't be; parts are there for others' sake."""
    found: set[str] = set()
    waiting = [step]
    while waiting:
        one = waiting.pop()
        for name in one.names:
            if name in steps and name not in found and name not in one.parts:
                found.add(name)
                waiting.append(steps[name])
    return frozenset(found)


def _of_question(steps: Mapping[str, Step]) -> frozenset[str]:
    """The artefacts that rest on nothing of the reply, also not by way of a part; steps are in the order of needs."""
    found: set[str] = set()
    for name, step in steps.items():
        if not any(need in OF_REPLY or (need in steps and need not in found) for need in step.names):
            found.add(name)
    return frozenset(found)


def _total(requests: Iterable[PlannedRequest], per: Per) -> int:
    return sum(one.requests for one in requests if one.per == per)
