"""EarlyResult: what was certain of an exam before every question was asked, and how much that saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

Word = Literal["regressed", "not worse", "undecided"]


@dataclass(frozen=True, slots=True)
class EarlyVerdict:
    """What the bets say of a metric of a bot.

    Attributes:
        bot: its name.
        metric: which.
        margin: of harm.
        word: ``regressed``, ``not worse`` or ``undecided``.
        mean: improvement a question over what was looked at, above 0 where the bot got better; None before the first.
        low: lower end of the anytime-valid interval of the improvement.
        high: its upper end.
        level: of the interval; all intervals of an exam hold together with a chance of 95 %.
        clusters: units that were looked at.
        questions: how many questions they had.
        base_mean: mean of the base over them; None before the first.
        head_mean: mean of the head.
        wins: questions on which the head was better.
        losses: questions on which it was worse.
    """

    bot: str
    metric: str
    margin: float
    word: Word
    mean: float | None
    low: float
    high: float
    level: float
    clusters: int
    questions: int
    base_mean: float | None
    head_mean: float | None
    wins: int
    losses: int


@dataclass(frozen=True, slots=True)
class EarlyResult:
    """How an exam with an early stop ended.

    Attributes:
        stopped: questions were left out, because every verdict was certain; else the ordinary rule holds.
        questions: how many the bots on which there are bets were asked, or had been before.
        of: how many the exam has.
        rows: answers that were asked, or kept from before; several a question with several bots or repeats.
        rows_left: answers that there are not; of a bot that could not go on, too.
        saved_seconds: what they would have taken, at the pace of those that were asked; None when none was.
        saved_cost: what they would have cost the bots, at the mean of those that were asked; None where not known.
        verdicts: of each metric that is gated.
        reasons: sentences about metrics that can't be bet on.
    """

    stopped: bool
    questions: int
    of: int
    rows: int
    rows_left: int
    saved_seconds: float | None
    saved_cost: float | None
    verdicts: tuple[EarlyVerdict, ...]
    reasons: tuple[str, ...] = ()

    def word(self, bot: str) -> Word:
        """The verdict of a bot: regressed when a metric is, not worse when all are."""
        return word_of([verdict.word for verdict in self.verdicts if verdict.bot == bot])

    @property
    def sentence(self) -> str:
        """What happened, for people."""
        if not self.stopped:
            said = f"all {self.of:,} questions have their answers"
            if self.rows_left:
                said = f"{self.rows_left:,} answers could not be had"
            return " ".join([f"No verdict was certain early: {said}, and the ordinary rule holds.", *self.reasons])
        saved = [f"{self.rows_left:,} answers"]
        if self.saved_seconds is not None:
            saved.append(f"about {_duration(self.saved_seconds)}")
        if self.saved_cost is not None:
            saved.append(f"a cost of about {self.saved_cost:.2g}")
        return (
            f"Stopped early after {self.questions:,} of {self.of:,} questions: the verdict is certain at any time of "
            f"looking. That saved {', '.join(saved)}; the same command without --early-stop asks the rest."
        )

    @property
    def as_object(self) -> dict[str, object]:
        """For a manifest, and for machines."""
        return {**asdict(self), "sentence": self.sentence}


def word_of(words: Iterable[Word]) -> Word:
    """The verdict of a bot from those of its metrics."""
    said: Sequence[Word] = list(words)
    if "regressed" in said:
        return "regressed"
    return "not worse" if said and all(word == "not worse" for word in said) else "undecided"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
