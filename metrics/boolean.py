"""Boolean evaluators: one check of a row, and the five rates that are drawn from it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .declaring import BlankAnswer, Function, metric, name_of
from .facts import is_blank
from .score import Better, Measured, NotApplicable, Reason, Unreadable

Finding = Mapping[str, object]
_LONGEST_LIST: Final = 20  # findings kept in the details, of the answer and of the contexts


@dataclass(frozen=True, slots=True)
class Check:
    """What an evaluator found in a row; the artefact of a boolean evaluator returns it.

    Attributes:
        answer_failed: whether the answer fails; None where the judge's verdict on it can't be read.
        contexts_failed: whether the contexts fail, or why they were not checked; None as above.
        answer: what was found in the answer, JSON-able.
        contexts: what was found in the contexts.
        unreadable: why a verdict of the judge can't be read; empty when there is no judge, or it can.
        row_on_answer: whether the row's verdict is the answer's alone; contexts then count as retrieval failures only.
        allowed: what would have been found but for an allow-list, and how often; JSON-able.
    """

    answer_failed: bool | None
    contexts_failed: bool | Reason | None
    answer: Sequence[Finding] = ()
    contexts: Sequence[Finding] = ()
    unreadable: str = ""
    row_on_answer: bool = False
    allowed: Sequence[Finding] = ()

    @property
    def failed(self) -> bool | None:
        """Whether the row fails: its answer or its checked contexts do; None where what can be read doesn't tell."""
        if self.row_on_answer:
            return self.answer_failed
        if self.answer_failed or self.contexts_failed is True:
            return True
        return None if self.answer_failed is None or self.contexts_failed is None else False


def contexts_to_check(contexts: Sequence[str] | None, wanted: bool) -> Sequence[str] | Reason:
    """The contexts, or why they are not checked."""
    if contexts is None:
        return Reason.CONTEXTS_MISSING
    if not wanted:
        return Reason.CONTEXTS_NOT_CHECKED
    return contexts if any(not is_blank(context) for context in contexts) else Reason.CONTEXTS_EMPTY


def boolean_metrics(
    check: Function,
    subject: str,
    source: str,
    blank_answer: BlankAnswer = "not_applicable",
    judged: bool = False,
    evaluator: str = "",
) -> tuple[Function, ...]:
    """The five metrics of a boolean evaluator, which is named like the artefact that makes its check.

    Over rows each is a rate, so that passes, failures and parse failures add up to 1. Retrieval and generation
    failures may overlap. What was found stands in the details of ``.passes`` only.

    Args:
        check: the artefact; it returns a ``Check``.
        subject: what is checked for, to go after "the check for".
        source: where the definition comes from.
        blank_answer: as for ``metric``.
        judged: whether a judge decides, so that its verdict may be unreadable.
        evaluator: its name where the artefact's won't do.
    """
    name = evaluator or name_of(check)
    return tuple(_rate(name, suffix, check, subject, source, blank_answer, judged) for suffix in _SUMMARIES)


def _rate(
    evaluator: str, suffix: str, check: Function, subject: str, source: str, blank_answer: BlankAnswer, judged: bool
) -> Function:
    def rate(found: Check) -> float | Measured:
        if suffix == "parse_failures" and not judged:
            raise NotApplicable(Reason.NO_JUDGE_REQUESTS)
        if suffix == "retrieval_failures" and isinstance(found.contexts_failed, Reason):
            raise NotApplicable(found.contexts_failed)
        value = _VALUES[suffix](found)
        if value is None:
            raise Unreadable(found.unreadable)
        return value

    # The need has the artefact's name, as if it had been written into the function.
    need = inspect.Parameter(name_of(check), inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Check)
    vars(rate)["__signature__"] = inspect.Signature([need], return_annotation=float | Measured)
    rate.__annotations__ = {need.name: Check, "return": float | Measured}
    summary = _NO_PARSE_FAILURES if suffix == "parse_failures" and not judged else _SUMMARIES[suffix]
    rate.__doc__ = f"{summary.format(subject=subject)}\n\n{inspect.getdoc(check)}"
    better: Better = "higher" if suffix == "passes" else "lower"
    declare = metric(
        id=f"{evaluator}.{suffix}", aggregate="rate", threshold=0.5, better=better, source=source,
        blank_answer=blank_answer,
    )  # fmt: skip
    return declare(rate)


def _passes(found: Check) -> float | Measured | None:
    if found.failed is None:
        return None
    parts = {"answer": found.answer, "contexts": found.contexts, "allowed": found.allowed}
    details: dict[str, object] = {part: list(those[:_LONGEST_LIST]) for part, those in parts.items() if those}
    more = sum(max(len(those) - _LONGEST_LIST, 0) for those in parts.values())
    value = float(not found.failed)
    return Measured(value, details | ({"more": more} if more else {})) if details else value


def _share(fails: bool | Reason | None) -> float | None:
    return None if fails is None else float(fails is True)


_VALUES: Final[Mapping[str, Callable[[Check], float | Measured | None]]] = {
    "passes": _passes,
    "failures": lambda found: _share(found.failed),
    "retrieval_failures": lambda found: _share(found.contexts_failed),
    "generation_failures": lambda found: _share(found.answer_failed),
    "parse_failures": lambda found: float(found.failed is None),
}
_SUMMARIES: Final = {
    "passes": "1 if the answer and the checked contexts pass the check for {subject}, else 0.",
    "failures": "1 if the answer or the checked contexts fail the check for {subject}, else 0.",
    "retrieval_failures": "1 if the contexts fail the check for {subject}, else 0.",
    "generation_failures": "1 if the answer fails the check for {subject}, else 0.",
    "parse_failures": "1 if the judge's verdict in the check for {subject} can't be read, else 0.",
}
_NO_PARSE_FAILURES: Final = "Never has a value: the check for {subject} asks no judge, so no verdict is unreadable."
