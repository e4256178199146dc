"""Flipped pairs: the questions and rewordings whose outcome flipped, those that lost most first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..comparing.flips import Direction
from ..comparing.score_table import Flags
from ..summary import MetricColumn
from .reworded_pairs import RewordedPairs
from .rewordings import Rewording


@dataclass(frozen=True, slots=True)
class Flip:
    """One question and one rewording of it whose outcome differs on one metric.

    Attributes:
        bot: who was asked.
        metric: what flipped.
        threshold: what the metric wants.
        direction: what became of it, in the first repeat that flipped.
        rewording: how it was reworded; ``rewording.source`` is the key of the question.
        key: of the reworded question.
        repeat: the first repeat that flipped.
        repeats: how many repeats flipped.
        before: value of the question as it was.
        after: value of the rewording.
        question: as it was.
        reworded: as it was asked then.
    """

    bot: str
    metric: str
    threshold: float
    direction: Direction
    rewording: Rewording
    key: str
    repeat: int
    repeats: int
    before: float
    after: float
    question: str
    reworded: str

    @property
    def rank(self) -> tuple[bool, bool, float, float]:
        """Real rewordings before copies, losses before gains, the greatest change first, for the fewest words."""
        gained, change = self.direction != "pass_to_fail", abs(self.after - self.before)
        return self.rewording.is_control, gained, -round(change, 9), self.rewording.intensity or 0.0


@dataclass(frozen=True, slots=True)
class FlippedPair:
    """A question and a rewording of it with all metrics that flipped, and what was answered."""

    flips: tuple[Flip, ...]
    answer: str | None
    reworded_answer: str | None

    @property
    def first(self) -> Flip:
        """The worst of its flips."""
        return self.flips[0]


def flips_of(pairs: RewordedPairs, column: MetricColumn) -> list[Flip]:
    """All flips of one metric, worst first: one a question and rewording, however many repeats flipped."""
    if column.threshold is None:
        return []
    before, after = pairs.outcomes(column)
    found = (before >= 0) & (after >= 0) & (before != after)
    made = [
        _flip(pairs, column, column.threshold, int(pair), bool(before[pair, found[pair].argmax()]), found[pair])
        for pair in np.flatnonzero(found.any(axis=1))
    ]
    return sorted(made, key=lambda each: each.rank)


def _flip(
    pairs: RewordedPairs, column: MetricColumn, threshold: float, pair: int, before: bool, flipped: Flags
) -> Flip:
    source, place, repeat = int(pairs.sources[pair]), int(pairs.places[pair]), int(flipped.argmax())
    return Flip(
        bot=pairs.base.bot, metric=column.name, threshold=threshold,
        direction="pass_to_fail" if before else "fail_to_pass",
        rewording=pairs.rewordings[pair], key=pairs.reworded.cases[place].key, repeat=repeat,
        repeats=int(flipped.sum()), before=float(pairs.base.values[column.name][source, repeat]),
        after=float(pairs.reworded.values[column.name][place, repeat]),
        question=pairs.base.cases[source].text, reworded=pairs.reworded.cases[place].text,
    )  # fmt: skip


def worst_pairs(
    pairs: RewordedPairs, columns: Sequence[MetricColumn], most: int
) -> tuple[tuple[FlippedPair, ...], int]:
    """The pairs that lost most, each with all its flips and both answers, and how many flips there are in all."""
    by_pair: dict[str, list[Flip]] = {}
    for found in sorted((each for column in columns for each in flips_of(pairs, column)), key=lambda each: each.rank):
        by_pair.setdefault(found.key, []).append(found)
    groups = _questions_in_turn(list(by_pair.values()))[:most]
    return tuple(_pairs(pairs, groups)), sum(map(len, by_pair.values()))


def _questions_in_turn(groups: Sequence[list[Flip]]) -> list[list[Flip]]:
    """The worst of each question before the second of any, losses still before gains."""
    seen: Counter[tuple[object, ...]] = Counter()
    ranked = []
    for flips in groups:
        first = flips[0]
        part = first.rank[:2]
        ranked.append((part, seen[*part, first.rewording.source], first.rank, flips))
        seen[*part, first.rewording.source] += 1
    return [flips for *_, flips in sorted(ranked, key=lambda each: each[:3])]


def _pairs(pairs: RewordedPairs, groups: Sequence[list[Flip]]) -> Iterator[FlippedPair]:
    for flips in groups:
        first = flips[0]
        yield FlippedPair(
            tuple(flips),
            pairs.base.answers(first.rewording.source, first.repeat),
            pairs.reworded.answers(first.key, first.repeat),
        )
