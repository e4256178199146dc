"""What judges answer: verdicts on claims, sentences and chunks, with their reasons."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's word on one item.

    Attributes:
        holds: whether it is supported, covered, useful or needed: what was asked.
        chunks: numbers, from 1, of the chunks that support it alone; empty where that was not asked.
        why: what was missing or contradicted; may be blank where it holds.
        agreement: share of judges or votes that said the same; 1.0 when there was one.
        probability: that it holds, where the judge has one; language models say yes or no.
        contradicted: whether the texts say otherwise, rather than nothing; only of judges that tell the two apart.
        evidence: the sentence that comes nearest to it, where the judge names one.
    """

    holds: bool
    chunks: tuple[int, ...] = ()
    why: str = ""
    agreement: float = 1.0
    probability: float | None = None
    contradicted: bool = False
    evidence: str = ""


Verdicts = tuple[Verdict | None, ...]
"""One for each item, in their order; None where the judge's word can't be read."""


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """What was said of the answer's claims, and of the contexts' sentences (call J2a); empty where not asked."""

    claims: Verdicts = ()  # supported by all chunks together
    needed: Verdicts = ()  # context sentences needed for answering the question


@dataclass(frozen=True, slots=True)
class ExpectedSupport:
    """What was said of the expected answer's claims and sentences against the contexts (call J2b)."""

    claims: Verdicts = ()  # expected claims supported by the contexts
    sentences: Verdicts = ()  # expected sentences attributable to the contexts
    useful: Verdicts = ()  # chunks that help to reach the expected answer
    supporting: Verdicts = ()  # context sentences that support the expected answer


@dataclass(frozen=True, slots=True)
class Agreement:
    """What was said of the answer and the expected answer against each other (call J3)."""

    answer_claims: Verdicts  # supported by the expected answer
    expected_claims: Verdicts  # covered by the answer


@dataclass(frozen=True, slots=True)
class ReverseQuestion:
    """A question that the answer would answer (call J4)."""

    text: str
    noncommittal: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A class label (calls J8).

    Attributes:
        label: one of those that were asked for.
        said: how the judge put it; blank where the label is of several judges or votes.
        agreement: share of judges or votes that said the same; 1.0 when there was one.
    """

    label: str
    said: str = ""
    agreement: float = 1.0


@dataclass(frozen=True, slots=True)
class Grade:
    """A score with its reason (call J6).

    Attributes:
        score: on the scale that was asked for.
        reason: the judge's; may be blank.
        agreement: share of judges or votes whose score is within a tenth of the scale of this one.
    """

    score: float
    reason: str = ""
    agreement: float = 1.0


Grades = Mapping[str, Grade | None]
Flags = Mapping[str, bool | None]
