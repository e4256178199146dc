"""Answer agreement: whether a bot says the same to the same question, reworded or asked again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...metrics.text import normalise
from ..comparing.score_table import Figures, ScoreTable
from .reworded_pairs import Outcomes, RewordedPairs, ratios

_TRIMMED = ".,!?;:()[]{}\"'"


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two answers agree, of shape (pairs, repeats); NaN where one of them is not there.

    Attributes:
        same: 1 when they are equal but for case and white space, or when both decline; else 0.
        overlap: F1 of their words, 1 where ``same`` is.
    """

    same: Figures
    overlap: Figures


@dataclass(frozen=True, slots=True)
class Consistency:
    """How far the repeats of each question agree; NaN where fewer than two were answered.

    Attributes:
        agreeing: share of the pairs of repeats whose answers are the same.
        majority: share of the repeats that give the commonest answer.
    """

    agreeing: Figures
    majority: Figures


def agreement(pairs: RewordedPairs) -> Agreement:
    """Compare the answers to every question with those to its rewordings, repeat by repeat."""
    shape = len(pairs.rewordings), pairs.repeats
    same, overlap = np.full(shape, np.nan), np.full(shape, np.nan)
    before = _Said(pairs.base)
    after = before if pairs.base is pairs.reworded else _Said(pairs.reworded)
    for place, (source, reworded) in enumerate(zip(pairs.sources, pairs.places, strict=True)):
        for repeat in range(pairs.repeats):
            first, second = before.at(int(source), repeat), after.at(int(reworded), repeat)
            if first is not None and second is not None:
                same[place, repeat] = float(first == second)
                overlap[place, repeat] = 1.0 if first == second else word_overlap(first, second)
    return Agreement(same, overlap)


def consistency(table: ScoreTable) -> Consistency:
    """Compare the answers to each question of a table with one another."""
    agreeing, majority = np.full(len(table.cases), np.nan), np.full(len(table.cases), np.nan)
    said = _Said(table)
    for place in range(len(table.cases)):
        answers = [answer for repeat in range(table.repeats) if (answer := said.at(place, repeat)) is not None]
        if len(answers) > 1:
            counts = Counter(answers)
            agreeing[place] = sum(n * (n - 1) for n in counts.values()) / (len(answers) * (len(answers) - 1))
            majority[place] = max(counts.values()) / len(answers)
    return Consistency(agreeing, majority)


DECLINED = "\0declined"  # all answers of a bot that declines say the same, in whatever words


class _Said:
    """The answers of a table in the form in which they are compared, each read once."""

    def __init__(self, table: ScoreTable) -> None:
        self._table = table
        self._known: dict[tuple[int, int], str | None] = {}

    def at(self, place: int, repeat: int) -> str | None:
        """The answer, or None where the bot gave none."""
        if (place, repeat) not in self._known:
            self._known[place, repeat] = self._read(place, repeat)
        return self._known[place, repeat]

    def _read(self, place: int, repeat: int) -> str | None:
        table = self._table
        if not table.answered[place, repeat]:
            return None
        answer = table.answers(table.cases[place].key, repeat)
        if answer is not None and table.declined[place, repeat] == 1:
            return DECLINED
        return None if answer is None else normalise(answer)


def word_overlap(first: str, second: str) -> float:
    """F1 of the words of two texts, each as often as it stands there (as SQuAD counts, with its articles kept).

    >>> round(word_overlap("within 14 days", "Within 14 days, always."), 3)
    0.857
    """
    one, other = Counter(_words(first)), Counter(_words(second))
    if not one or not other:
        return float(one == other)
    return 2 * (one & other).total() / (one.total() + other.total())


def _words(text: str) -> list[str]:
    return [word for piece in text.lower().split() if (word := piece.strip(_TRIMMED))]


def repeat_flips(outcomes: Outcomes) -> Figures:
    """Of each question the share of pairs of repeats with another outcome; NaN with fewer than two outcomes.

    It is what a copy would flip by chance, since a copy and a repeat are the same thing asked again.
    """
    flips, pairs = np.zeros(len(outcomes)), np.zeros(len(outcomes))
    for first, second in combinations(range(outcomes.shape[1]), 2):
        both = (outcomes[:, first] >= 0) & (outcomes[:, second] >= 0)
        pairs += both
        flips += both & (outcomes[:, first] != outcomes[:, second])
    return ratios(flips, pairs)
