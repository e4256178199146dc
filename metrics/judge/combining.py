"""One grade of several judges or votes."""

from collections.abc import Sequence
from statistics import fmean, median
from typing import Final

from .verdicts import Grade

_CLOSE: Final = 0.1  # of the scale; so near are grades that agree


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
