"""Verdicts: what caused a wrong answer, told from the answers without some of its documents."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...reports.surveys.blame import BlamedAnswer, Cause
from .reading import has_read, held_words, is_copy, led_to

if TYPE_CHECKING:
    from ...reports.comparing.score_table import ScoreTable
    from ..ground.answers import Answer, Answers
    from ..ground.ground import Ground
    from .blame_plan import Look
    from .removals import Removal
    from .shares import Shares

# An answer is another one only when the metric moves by so much of its range: just past the threshold is not enough.
LEAST_GAIN = 0.1
# Or by so much of what the worse of the two lacks of the best there is: where only all words will do, the one word
# that is wrong is a small part of a long answer, and all that matters.
LEAST_OF_LACKING = 0.5
GONE = "No document holds the answer."
CHANCE = "It turned right with a document removed that has nothing to do with it: chance decides."
NOISE = 2.0  # standard errors of a difference, where bots are asked several times


@dataclass(frozen=True)
class Marks:
    """What answers are worth, and which differences count.

    Attributes:
        ground: tells which questions can't be answered.
        answers: with the metric and its threshold.
        noise: standard error of the difference of two answers of a bot to one question, from its repeats.
    """

    ground: Ground
    answers: Answers
    noise: Mapping[str, float] = field(default_factory=dict)

    def value(self, answer: Answer | None) -> float | None:
        """The metric; of a question that can't be answered, 1 where the bot says so and 0 where it does not."""
        if answer is None or answer.right is None:
            return None
        if self.ground.by_key[answer.question].answerable is False:
            return float(answer.right)
        return answer.value

    def worth(self, answer: Answer | None) -> float | None:
        """The value, turned so that more is better."""
        value = self.value(answer)
        lower = self.answers.metric.better == "lower"
        turned = lower and answer is not None and self.ground.by_key[answer.question].answerable is not False
        return -value if value is not None and turned else value

    def moved(self, before: Answer, after: Answer | None) -> float:
        """How much more the later answer is worth; 0 where that is no more than chance, or not known."""
        one, other = self.worth(before), self.worth(after)
        if one is None or other is None:
            return 0.0
        low, high = self.answers.metric.low, self.answers.metric.high
        least = LEAST_GAIN * (high - low) if low is not None and high is not None else 0.0
        best = high if self.answers.metric.better == "higher" else None if low is None else -low
        if best is not None:
            least = min(least, LEAST_OF_LACKING * (best - min(one, other)))
        gain = other - one
        enough = abs(gain) >= max(least, NOISE * self.noise.get(before.bot, 0.0)) - 1e-9
        return gain if enough else 0.0

    def mends(self, before: Answer, after: Answer | None) -> bool:
        """Whether a wrong answer became right, by more than chance."""
        return after is not None and bool(after.right) and not before.right and self.moved(before, after) > 0

    def breaks(self, before: Answer, after: Answer | None) -> bool:
        """Whether a right answer became wrong, by more than chance."""
        return after is not None and after.right is False and bool(before.right) and self.moved(before, after) < 0


def noise_of(table: ScoreTable, metric: str) -> float:
    """Standard error of the difference between two answers to one question, each a mean over all repeats.

    From the spread of repeats within questions, pooled over these; 0 where a bot is asked once, or always says the
    same.
    """
    values = table.values[metric]
    repeats = values.shape[1] if values.ndim == 2 else 1
    full = values[np.isfinite(values).all(axis=1)]
    if repeats < 2 or not len(full):
        return 0.0
    return math.sqrt(float(full.var(axis=1, ddof=1).mean()) * 2 / repeats)


@dataclass(frozen=True)
class Evidence:
    """All that is known of one wrong answer: its look, and the answers without some documents."""

    look: Look
    marks: Marks
    found: Mapping[Removal, Answer]

    def after(self, documents: frozenset[str]) -> Answer | None:
        """The answer without these documents; None where it could not be had."""
        return self.found.get(self.look.without(documents)) if documents else self.look.answer

    @property
    def mending(self) -> tuple[str, ...]:
        """The documents without any one of which the answer is right."""
        look = self.look
        return tuple(one for one in look.documents if self.marks.mends(look.answer, self.after(frozenset([one]))))

    @property
    def by_chance(self) -> bool:
        """Whether the answer turns right with a document removed that has nothing to do with it."""
        look = self.look
        return bool(look.control) and self.marks.mends(look.answer, self.after(frozenset([look.control])))

    @property
    def gold_only(self) -> Answer | None:
        """The answer from the gold documents alone; None where there are none, or it could not be had."""
        look = self.look
        if not look.gold:
            return None
        return self.after(look.but_gold or frozenset())

    @property
    def others(self) -> frozenset[str]:
        """The documents that may act together: those taken away, but for the gold."""
        return frozenset(self.look.documents) - self.look.gold

    @property
    def read_gold(self) -> bool:
        """Whether the bot had read what holds the answer: a place of each piece of it."""
        gold = self.marks.ground.gold.get(self.look.answer.question)
        return gold is not None and has_read(self.look.answer, gold.groups)

    @property
    def copies(self) -> frozenset[str]:
        """The documents taken away that repeat a gold document, which was not read: they stand in its place."""
        look, by_id = self.look, self.marks.ground.by_id
        if self.read_gold:
            return frozenset()
        gold = [by_id[one].text for one in look.gold]
        return frozenset(one for one in self.others if any(is_copy(by_id[one].text, text) for text in gold))

    @property
    def may_interact(self) -> bool:
        """Whether it is worth asking what becomes of it with several documents removed."""
        if self.by_chance or self.mending or len(self.others) < 2:
            return False
        only = self.gold_only
        if not self.look.gold:
            return True
        return (self.read_gold or bool(self.copies)) and only is not None and bool(only.right)

    @property
    def interacts(self) -> bool:
        """Whether the answer is right with all of those removed, and with no single one."""
        return self.may_interact and self.marks.mends(self.look.answer, self.after(self.others))


def judged(evidence: Evidence, shares: Shares | None = None) -> BlamedAnswer:
    """What caused a wrong answer."""
    look, marks = evidence.look, evidence.marks
    answer = look.answer
    cause, documents, note = _cause(evidence)
    if cause == "several" and shares is not None:
        harmful = sorted((share, place, one) for place, (one, share) in enumerate(shares.values.items()) if share < 0)
        documents = tuple(one for _, _, one in harmful if one in documents) or documents
    first = evidence.after(frozenset(documents[:1] if cause == "document" else documents)) if documents else None
    return BlamedAnswer(
        bot=answer.bot,
        question=answer.question,
        value=marks.value(answer),
        answer=answer.text,
        without={one: marks.value(evidence.after(frozenset([one]))) for one in look.documents},
        gold_only=marks.value(evidence.gold_only),
        shares={} if shares is None else dict(shares.values),
        share_errors={} if shares is None else dict(shares.errors),
        cause=cause,
        documents=documents,
        mended=first.text if first is not None and first.right else "",
        control=marks.value(evidence.after(frozenset([look.control]))) if look.control else None,
        note=note,
    )


def _cause(evidence: Evidence) -> tuple[Cause, tuple[str, ...], str]:
    """The cause, the documents that are it, and what is remarkable."""
    look = evidence.look
    if evidence.by_chance:
        return "unknown", (), CHANCE
    if mending := evidence.mending:
        return _single(evidence, mending)
    if evidence.interacts:
        # Where something stands in the place of the gold, whatever else was found only fills the places that are left.
        together = evidence.copies or evidence.others
        return "several", tuple(one for one in look.documents if one in together), ""
    if evidence.marks.ground.by_key[look.answer.question].answerable is False:
        tried = evidence.after(frozenset(look.documents))
        return ("unknown" if tried is None else "bot"), (), ""
    only = evidence.gold_only
    if only is None or only.right is None:
        gold = known.kind if (known := evidence.marks.ground.gold.get(look.answer.question)) else "none"
        return "unknown", (), GONE if gold in ("stale", "unsupported") else ""
    return ("retrieval" if only.right else "bot"), (), ""


def _single(evidence: Evidence, mending: tuple[str, ...]) -> tuple[Cause, tuple[str, ...], str]:
    """Some documents mend the answer, each alone. To blame are those that it may have been taken from.

    One from which nothing was taken only held the place of another: that is a matter of ranks. So it is where it
    doesn't matter which document goes. But one that repeats the gold and was found in its stead has stolen its place.
    """
    look, marks = evidence.look, evidence.marks
    question = marks.ground.by_key[look.answer.question]
    cannot = question.answerable is False
    all_mend = len(mending) == len(look.documents) > 1
    sources = led_to(look.answer, question)
    if sources is None and len(mending) == 1 and (evidence.read_gold or cannot):
        sources = frozenset(mending)
    held = held_words(look.answer, question)
    gains = {one: marks.moved(look.answer, evidence.after(frozenset([one]))) for one in mending}
    misled = frozenset() if all_mend else sources or frozenset()
    blamed = sorted(
        (one for one in mending if one in misled | evidence.copies),
        key=lambda one: (-held.get(one, 0.0), -gains[one], look.documents.index(one)),
    )
    if not blamed and (copied := _copied(evidence, sources or frozenset())):
        note = f"It says what {_listed(copied)} says, which repeats gold that was not found. From the gold it is right."
        return "document", copied, note
    if not blamed:
        which = "so that none misled more than another" if all_mend else "which only stood before what has the answer"
        note = f"It is right without {_listed(mending)}, {which}."
        return ("several" if cannot and all_mend else "retrieval"), (mending if cannot else ()), note
    note = ""
    if misleading := [one for one in blamed if one in look.gold]:
        note = f"{_listed(misleading)} is gold, and still the answer is right without it: does another contradict it?"
    elif evidence.gold_only is not None and not evidence.gold_only.right:
        note = "From the gold alone the answer is wrong, too: it was mended by what another document says."
    return "document", tuple(blamed), note


def _copied(evidence: Evidence, sources: frozenset[str]) -> tuple[str, ...]:
    """The copies of the gold that an answer was taken from which is right from the gold.

    Without such a copy the gold need not be found either, so that taking it away mends nothing.
    """
    only = evidence.gold_only
    if only is None or not evidence.marks.mends(evidence.look.answer, only):
        return ()
    return tuple(one for one in evidence.look.documents if one in sources & evidence.copies)


def _listed(documents: tuple[str, ...] | list[str]) -> str:
    return documents[0] if len(documents) == 1 else f"{', '.join(documents[:-1])} or {documents[-1]}"
