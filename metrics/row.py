"""One row on the bench: which metrics can be measured on it, and their scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .bench import Failure, Step, Values, Work, make, measure
from .declaring import BlankAnswer
from .facts import TOOLS, Check, Facts, is_blank
from .planned import Prepared, in_order
from .score import Better, Measured, Reason, Score, Status

_COMPONENT_REASONS: Final = {
    Status.NOT_APPLICABLE: Reason.COMPONENT_NOT_APPLICABLE,
    Status.PARSE_FAILURE: Reason.COMPONENT_PARSE_FAILURE,
}


@dataclass(frozen=True, slots=True)
class RowPlan:
    """What is the same for every row of a plan."""

    prepared: tuple[Prepared, ...]
    steps: tuple[Step, ...]  # all artefacts, in the order of needs
    checks: tuple[tuple[str, Check], ...]  # of the facts that some metric or artefact can't do without
    is_on_expected: bool  # whether anything rests on the expected answer


class Row:
    """One row on the bench: which metrics can be measured on it, and their scores."""

    __slots__ = ("_answer", "_layers", "_missing", "_outcomes", "_plan", "_several", "_steps", "_values")

    def __init__(self, plan: RowPlan, facts: Facts) -> None:
        self._plan = plan
        self._values = Values(facts)
        self._answer = facts.get("answer")
        self._layers: list[tuple[int, Values]] = [(0, self._values)]
        self._several = False
        if plan.is_on_expected:
            self._lay_out_expected(facts)
        values = self._values
        self._missing = {name: why for name, check in plan.checks if (why := check(values[name])) is not None}
        self._outcomes: list[Score | None] = []
        self._steps = plan.steps
        if self._missing or is_blank(self._answer):
            self._outcomes = [self._before_measuring(one) for one in plan.prepared]
            both = zip(plan.prepared, self._outcomes, strict=True)
            self._steps = in_order(one for one, outcome in both if outcome is None)

    def _lay_out_expected(self, facts: Facts) -> None:
        """Give each accepted answer that is not blank its own layer, unless there is only one."""
        accepted = facts.get("expected_answers")
        if not accepted:
            return
        usable = [(place, text) for place, text in enumerate(accepted) if not is_blank(text)]
        self._values["expected"] = usable[0][1] if usable else None
        self._several = len(accepted) > 1
        if len(usable) > 1:
            self._layers = [(place, Values({"expected": text}, self._values)) for place, text in usable]
        elif usable:
            self._layers = [(usable[0][0], self._values)]

    def _before_measuring(self, one: Prepared) -> Score | None:
        """The score of a metric that a missing fact or a blank answer decides, or None to go on."""
        is_zero = False
        missing_tool = ""
        for name in one.facts:
            reason = self._missing.get(name)
            if reason is Reason.CONTEXTS_EMPTY and one.zero_on_empty:
                is_zero = True
            elif reason is not None and name in TOOLS:
                missing_tool = name
            elif reason is not None:
                return no_value(one, Failure(Status.NOT_APPLICABLE, reason))
        if one.needs_answer and one.blank_answer != "measure" and is_blank(self._answer):
            return _blank(one, one.blank_answer)
        if is_zero:
            return _empty_contexts_zero(one)
        if missing_tool:
            message = {"message": f"The metric needs a model that this run has not: {missing_tool}."}
            return no_value(one, Failure(Status.ERROR, self._missing[missing_tool], message))
        return None

    def make_plain(self) -> None:
        """Make all artefacts that nothing has to be awaited for."""
        for step, values in self.work(waiting=False):
            make(step, values)

    def work(self, waiting: bool) -> list[Work]:
        """The artefacts that are wanted, in the order of needs, each for the layers that it is made in."""
        work: list[Work] = []
        for step in self._steps:
            if step.waits is waiting:
                if self._missing and (lacking := self._lacking(step)):
                    self._values[step.name] = lacking
                elif step.on_expected:
                    work += [(step, values) for _, values in self._layers]
                else:
                    work.append((step, self._values))
        return work

    def _lacking(self, step: Step) -> Failure | None:
        """Why an artefact that the metrics can do without is not made: the first of its facts that is missing."""
        for name in step.names:
            if name in self._missing and name not in step.defaults:
                status = Status.ERROR if name in TOOLS else Status.NOT_APPLICABLE
                return Failure(status, self._missing[name])
        return None

    def scores(self) -> list[Score]:
        """One score for each metric of the plan."""
        if not self._outcomes:
            return [self._measured(one) for one in self._plan.prepared]
        return [
            outcome or self._measured(one) for one, outcome in zip(self._plan.prepared, self._outcomes, strict=True)
        ]

    def _measured(self, one: Prepared) -> Score:
        if not one.step.on_expected or not self._several:
            return score_of(one, _outcome(one, self._values))
        scores = [(place, score_of(one, _outcome(one, values))) for place, values in self._layers]
        place, best = _best(scores, one.metric.better)
        details = {**best.details, "reference": place}
        return Score(best.metric, best.value, best.status, best.reason, details, best.version)


def _outcome(one: Prepared, values: Values) -> float | Measured | Failure:
    """What a metric says; where it is made of other metrics and has no value, that one of them has none."""
    outcome = measure(one.step, values)
    if not one.components or not isinstance(outcome, Failure):
        return outcome
    need = next((name for name in one.step.names if values[name] is outcome), "")
    details = {"component": one.components.get(need, need), "reason": str(outcome.reason), **outcome.details}
    return Failure(outcome.status, _COMPONENT_REASONS.get(outcome.status, outcome.reason), details)


def score_of(one: Prepared, outcome: float | Measured | Failure) -> Score:
    """The score that a metric's outcome makes."""
    metric = one.metric
    if isinstance(outcome, float):
        return Score(metric.id, outcome, Status.OK, "", {}, metric.version)
    if isinstance(outcome, Measured):
        return Score(metric.id, outcome.value, Status.OK, "", outcome.details, metric.version)
    if one.zero_on_empty and outcome.reason == Reason.CONTEXTS_EMPTY:
        return _empty_contexts_zero(one)
    return no_value(one, outcome)


def no_value(one: Prepared, failure: Failure) -> Score:
    """The score of a metric without a value."""
    metric = one.metric
    return Score(metric.id, None, failure.status, str(failure.reason), failure.details, metric.version)


def _empty_contexts_zero(one: Prepared) -> Score:
    details = {"contexts": str(Reason.CONTEXTS_EMPTY)}
    return Score(one.metric.id, 0.0, Status.OK, "", details, one.metric.version)


def _blank(one: Prepared, rule: BlankAnswer) -> Score:
    if isinstance(rule, str):
        reason = Reason.ANSWER_EMPTY if rule == "not_applicable" else rule
        return no_value(one, Failure(Status.NOT_APPLICABLE, reason))
    details = {"answer": str(Reason.ANSWER_EMPTY)}
    return Score(one.metric.id, float(rule), Status.OK, "", details, one.metric.version)


def _best(scores: Sequence[tuple[int, Score]], better: Better) -> tuple[int, Score]:
    """The best score in the metric's direction, the first of equals; the first of all when none has a value."""
    valued = [(place, score) for place, score in scores if score.value is not None]
    if not valued or better == "neither":
        return (valued or list(scores))[0]
    sign = 1 if better == "higher" else -1
    return max(valued, key=lambda both: (sign * (both[1].value or 0.0), -both[0]))
