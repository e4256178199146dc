"""Answers of judges: verdicts on claims, sentences and chunks, and how several votes are combined."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Final, TypeVar


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's verdict on one item.

    Attributes:
        holds: whether it is supported, covered, useful or needed: what was asked.
        chunks: numbers, from 1, of the chunks that support it on their own; empty if that was not asked.
        why: what was missing or contradicted; may be blank where it holds.
        agreement: share of judges or votes that agree; 1.0 when there was one.
        probability: that it holds, if the judge has one; language models say yes or no.
        contradicted: whether the texts contradict it, rather than not mention it; only of judges that distinguish them.
        evidence: the sentence nearest to it, if the judge names one.
    """

    holds: bool
    chunks: tuple[int, ...] = ()
    why: str = ""
    agreement: float = 1.0
    probability: float | None = None
    contradicted: bool = False
    evidence: str = ""


Verdicts = tuple[Verdict | None, ...]
"""One for each item, in order; None for a verdict that can't be read."""


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Verdicts on the answer's claims, and on the contexts' sentences (call J2a); empty if not asked."""

    claims: Verdicts = ()  # supported by all chunks together
    needed: Verdicts = ()  # context sentences needed for answering the question


@dataclass(frozen=True, slots=True)
class ExpectedSupport:
    """Verdicts on the expected answer's claims and sentences against the contexts (call J2b)."""

    claims: Verdicts = ()  # expected claims supported by the contexts
    sentences: Verdicts = ()  # expected sentences attributable to the contexts
    useful: Verdicts = ()  # chunks that help to reach the expected answer
    supporting: Verdicts = ()  # context sentences that support the expected answer


@dataclass(frozen=True, slots=True)
class Agreement:
    """Verdicts on the answer and the expected answer against each other (call J3)."""

    answer_claims: Verdicts  # supported by the expected answer
    expected_claims: Verdicts  # covered by the answer
    whole: Verdicts = ()  # the answer as a whole is right; one verdict, or none if not asked


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
        reply: the judge's own words; blank where the label is of several judges or votes.
        agreement: share of judges or votes that agree; 1.0 when there was one.
    """

    label: str
    reply: str = ""
    agreement: float = 1.0


@dataclass(frozen=True, slots=True)
class Grade:
    """A score with its reason (call J6).

    Attributes:
        score: on the scale that was asked for.
        reason: the judge's; may be blank.
        agreement: share of judges or votes whose score is within a tenth of the scale of this one.
        probabilities: of the whole scores, where the model gave them; ``score`` is then their mean.
    """

    score: float
    reason: str = ""
    agreement: float = 1.0
    probabilities: tuple[tuple[int, float], ...] = field(default=(), repr=False)


Grades = Mapping[str, Grade | None]
Flags = Mapping[str, bool | None]


Vote = TypeVar("Vote", bound=Hashable)

_CLOSE: Final = 0.1  # of the scale; so near are grades that agree


def majority(words: Sequence[Vote | None]) -> Vote | None:
    """What most readable words say; None on a tie, or when fewer than half can be read.

    >>> majority([True, False, True]), majority([True, False]), majority([True, None, None])
    (True, None, None)
    """
    readable = [word for word in words if word is not None]
    if not readable or 2 * len(readable) < len(words) or tie(words):
        return None
    return Counter(readable).most_common(1)[0][0]


def tie(words: Sequence[Vote | None]) -> bool:
    """Whether two words lead with as many votes each."""
    leading = Counter(word for word in words if word is not None).most_common(2)
    return len(leading) == 2 and leading[0][1] == leading[1][1]


def share(words: Sequence[Vote | None], word: Vote) -> float:
    """The part of the readable words that say this one; 0 when none can be read."""
    readable = [other for other in words if other is not None]
    return sum(other == word for other in readable) / len(readable) if readable else 0.0


def combined_verdict(verdicts: Sequence[Verdict | None]) -> Verdict | None:
    """One verdict of several on one item: the majority's, with the chunks that most of the majority name."""
    words = [None if verdict is None else verdict.holds for verdict in verdicts]
    holds = majority(words)
    if holds is None:
        return None
    agreeing = [verdict for verdict in verdicts if verdict is not None and verdict.holds == holds]
    named = Counter(chunk for verdict in agreeing for chunk in set(verdict.chunks))
    chunks = tuple(sorted(chunk for chunk, votes in named.items() if 2 * votes > len(agreeing)))
    why = next((verdict.why for verdict in agreeing if verdict.why), "")
    return Verdict(holds, chunks, why, share(words, holds))


def combined_grade(grades: Sequence[Grade | None], mean: bool, width: float) -> Grade | None:
    """The mean of some grades, or their median: what a majority holds to be reached, and one not to be surpassed.

    Args:
        grades: of the judges or votes; None where one can't be read. Fewer than half readable give None.
        mean: whether to return the mean.
        width: length of the scale.

    Its reason is that of the grade nearest to it.

    >>> combined_grade([Grade(0.2), Grade(0.9, "good"), Grade(1.0)], mean=False, width=1.0)
    Grade(score=0.9, reason='good', agreement=0.6666666666666666)
    """
    readable = [grade for grade in grades if grade is not None]
    if not readable or 2 * len(readable) < len(grades):
        return None
    scores = [grade.score for grade in readable]
    score = fmean(scores) if mean else median(scores)
    nearest = min(readable, key=lambda grade: (abs(grade.score - score), not grade.reason))
    within = sum(abs(other - score) <= _CLOSE * width + 1e-9 for other in scores)
    return Grade(score, nearest.reason, within / len(scores))
