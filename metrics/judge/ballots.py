"""The word of several judges or votes on one thing: majority, share, tie, one verdict, one grade."""

from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean, median
from typing import Final, TypeVar

from .verdicts import Grade, Verdict

Word = TypeVar("Word", bound=Hashable)

_CLOSE: Final = 0.1  # of the scale; so near are grades that agree


def majority(words: Sequence[Word | None]) -> Word | None:
    """What most readable words say; None on a tie, or when fewer than half can be read.

    >>> majority([True, False, True]), majority([True, False]), majority([True, None, None])
    (True, None, None)
    """
    readable = [word for word in words if word is not None]
    if not readable or 2 * len(readable) < len(words) or tie(words):
        return None
    return Counter(readable).most_common(1)[0][0]


def tie(words: Sequence[Word | None]) -> bool:
    """Whether two words lead with as many votes each."""
    leading = Counter(word for word in words if word is not None).most_common(2)
    return len(leading) == 2 and leading[0][1] == leading[1][1]


def share(words: Sequence[Word | None], word: Word) -> float:
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
        mean: the mean is wanted.
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
