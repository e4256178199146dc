"""The word of several judges or votes on one thing: majority, share, tie."""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

from .verdicts import Verdict

Word = TypeVar("Word", bound=Hashable)


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
