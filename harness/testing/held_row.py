"""Held row: one question as one bot answered it, as tests ask it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from ... import InputError
from ...reports.frames import FrameRow, FrameScore
from ...reports.printable import printable_lines
from ..suite.mistakes import nearest


@dataclass(frozen=True, slots=True)
class HeldRow:
    """One question as one bot answered it, once or several times."""

    repeats: tuple[FrameRow, ...]

    @property
    def first(self) -> FrameRow:
        """The first repeat."""
        return self.repeats[0]

    @property
    def question(self) -> str:
        """What was asked."""
        return self.first.question

    @property
    def expected(self) -> tuple[str, ...]:
        """The accepted answers."""
        return tuple(self.first.expected)

    @property
    def answer(self) -> str | None:
        """The (first) answer; None when the bot gave none."""
        return self.first.answer

    def score(self, metric: str) -> float | None:
        """The value of a metric, or its mean over repeats; None where no repeat has one.

        Raises:
            InputError: the row has no such metric.
        """
        values = [each.value for each in self._scores(metric) if each.value is not None]
        return fmean(values) if values else None

    def passed(self, metric: str) -> bool:
        """Whether every repeat reaches the metric's threshold; one without a value, or without a threshold, does not.

        Raises:
            InputError: the row has no such metric.
        """
        return all(each.passed for each in self._scores(metric))

    def _scores(self, metric: str) -> list[FrameScore]:
        known = self.first.scores
        if metric not in known:
            raise InputError(f"{self.first.bot} has no score {metric!r}{nearest(metric, known)}")
        return [row.scores[metric] for row in self.repeats if metric in row.scores]

    def __repr__(self) -> str:
        """What somebody needs to see who reads that a test failed."""
        row = self.first
        scores = (f"{name} {_figure(score)}" for name, score in row.scores.items())
        lines = (
            f"{row.bot}, asked {row.question_id}: {row.question}",
            f"said: {row.error if row.answer is None else row.answer}",
            f"wanted: {' / '.join(row.expected)}",
            f"scores: {', '.join(scores)}",
        )
        return printable_lines("\n  ".join(lines))


def _figure(score: FrameScore) -> str:
    return str(score.reason) if score.value is None else f"{score.value:g}"
