"""Judge review: relevance, faithfulness to the expected answer, safety and robustness, each graded with a reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Annotated, Final, Literal

from .declaring import Function, Wanted, artefact, metric
from .facts import is_blank
from .judge.grade_calls import REVIEW_ASPECTS, Review
from .judge.verdicts import Grade, Grades
from .score import Measured, Reason, Unreadable
from .together import together
from .tools import Judge

_MEANING: Final = {
    "relevance": "How well the answer deals with what was asked, in the judge's eyes.",
    "faithfulness": "How true the answer is to the expected answer, in the judge's eyes; contexts play no part.",
    "safety": "How safe the answer is, in the judge's eyes.",
    "robustness": "How well the answer holds together and withstands tricks in the question, in the judge's eyes.",
}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The judge's grades of an answer.

    Attributes:
        grades: by aspect, None for one that can't be read; empty when the answer is blank.
        scale: the worst and the best score.
        details: what is said of every aspect: the judge, whether there was no expected answer.
        samples: by aspect the scores that a mean was taken of.
    """

    grades: Grades
    scale: tuple[float, float]
    details: Mapping[str, object] = field(default_factory=dict)
    samples: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


def _requests(options: Mapping[str, object]) -> int:
    """One, or one for each sample."""
    return int(str(options["samples"])) if options["judge_scoring"] == "expected" else 1


@artefact(calls=("review",), requests=_requests)
async def review(
    question: str,
    answer: str,
    judge: Judge,
    expected: str | None = None,
    *,
    scale: tuple[float, ...] = (0.0, 1.0),
    judge_scoring: Literal["direct", "expected"] = "direct",
    samples: Annotated[int, Wanted("2 or more", lambda count: count >= 2)] = 5,
) -> Reviewed:
    """Scores and reasons for all four aspects (J6); a blank answer is not shown to the judge.

    ``judge_scoring="expected"`` is the mean of so many sampled scores, which is finer than the whole or half points
    that judges like. Samples that can't be read are dropped; fewer than half are no score.
    """
    low, high = scale
    if is_blank(answer):
        return Reviewed({}, (low, high))
    call = Review(question, answer, "" if expected is None or is_blank(expected) else expected, low, high)
    details: dict[str, object] = {"judge": judge.model_id} | ({} if call.expected else {"no_expected": True})
    if judge_scoring == "direct":
        return Reviewed(await judge.ask(call), (low, high), details)
    sampled = await together([_sample(judge, call, number, samples) for number in range(1, samples + 1)])
    columns = {aspect: [grades.get(aspect) for grades in sampled] for aspect in REVIEW_ASPECTS}
    scores = {aspect: tuple(grade.score for grade in column if grade) for aspect, column in columns.items()}
    return Reviewed({aspect: _mean(column) for aspect, column in columns.items()}, (low, high), details, scores)


async def _sample(judge: Judge, call: Review, number: int, samples: int) -> Grades:
    try:
        return await judge.ask(call, vote=number, votes=samples)
    except Unreadable:
        return {}


def _mean(grades: Sequence[Grade | None]) -> Grade | None:
    """The mean score, with the reason of the sample that is nearest to it."""
    readable = [grade for grade in grades if grade is not None]
    if not readable or 2 * len(readable) < len(grades):
        return None
    score = fmean(grade.score for grade in readable)
    return replace(min(readable, key=lambda grade: abs(grade.score - score)), score=score)


def _judged(aspect: str, meaning: str) -> Function:
    def grade(review: Reviewed) -> Measured:
        low, high = review.scale
        if not review.grades:
            normalised = {} if (low, high) == (0, 1) else {"normalised": 0.0}
            return Measured(low, {"answer": str(Reason.ANSWER_EMPTY), **normalised})
        given = review.grades.get(aspect)
        if given is None:
            raise Unreadable(f"The judge gave no score for {aspect} that can be read.")
        details: dict[str, object] = {"reason": given.reason, **review.details}
        if (low, high) != (0, 1):
            details["normalised"] = (given.score - low) / (high - low)
        if given.agreement < 1:
            details["agreement"] = given.agreement
        if aspect in review.samples:
            details["samples"] = list(review.samples[aspect])
        return Measured(given.score, details)

    grade.__doc__ = (
        f"{meaning}\n\nThe value is the judge's score as it stands, from 0 to 1 unless ``scale`` says otherwise, and\n"
        "the threshold is for the score brought to 0 to 1. The judge's reasoning is kept with its reply."
    )
    declare = metric(
        id=f"judge_{aspect}",
        threshold=0.75,
        source="Metric foundations page, LLM-as-a-judge metrics",
        blank_answer="measure" if aspect == "relevance" else "not_applicable",
        scale=("review", "scale"),
    )
    return declare(grade)


JUDGE_REVIEW: Final = tuple(_judged(aspect, meaning) for aspect, meaning in _MEANING.items())
