"""Turned answers: which answers are right on one side alone, and which edit of a document did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..ground.listed_names import listed
from .taking_back import UNCHANGED, TakenBack

if TYPE_CHECKING:
    from ..ground.answers import Answer, Answers
    from .against_plan import AgainstPlan
    from .document_changes import DocumentChange


@dataclass(frozen=True, slots=True)
class Turned:
    """An answer that is right on one side alone."""

    now: Answer
    was: Answer
    candidates: tuple[DocumentChange, ...]

    @property
    def place(self) -> tuple[str, str]:
        """Bot and key of the question."""
        return self.now.bot, self.now.question

    @property
    def is_lost(self) -> bool:
        """Whether it was right and is wrong now."""
        return self.now.right is False


def turned_answers(bot: str, was: Answers, now: Answers, plan: AgainstPlan) -> Iterator[Turned]:
    """The bot's answers that are right on one side alone, with the edits that may have turned them."""
    now_of = {change.now.id: place for place, change in enumerate(plan.changes) if change.now is not None}
    was_of = {change.was.id: place for place, change in enumerate(plan.changes) if change.was is not None}
    for question in plan.ground.questions:
        new, old = now.by_place.get((bot, question.id)), was.by_place.get((bot, question.id))
        if new is None or old is None or new.right is None or old.right is None or new.right == old.right:
            continue
        places = _candidates((new.documents, now_of), (old.documents, was_of))
        yield Turned(new, old, tuple(plan.changes[place] for place in places))


def _candidates(*sides: tuple[Sequence[str], Mapping[str, int]]) -> Sequence[int]:
    """The edits of documents that either answer was made from, those of what was nearest to the question first.

    Each side is the documents that were read, best first, and the places of the edits by document.
    """
    ranks: dict[int, int] = {}
    for read, changes in sides:
        for rank, document in enumerate(read):
            if document in changes:
                place = changes[document]
                ranks[place] = min(rank, ranks.get(place, rank))
    return sorted(ranks, key=lambda place: (ranks[place], place))


def credited(turned: Turned, taken: TakenBack) -> tuple[DocumentChange, ...]:
    """The edits without each of which the answer turns back; none where it turns back by itself."""
    if is_chance(turned, taken):
        return ()
    found = ((change, taken.answers.get((*turned.place, change.document))) for change in turned.candidates)
    return tuple(change for change, answer in found if answer is not None and answer.right == turned.was.right)


def is_chance(turned: Turned, taken: TakenBack) -> bool:
    """Whether the bot, asked once more with nothing taken back, answers as it did over the old documents."""
    again = taken.answers.get((*turned.place, UNCHANGED))
    return again is not None and again.right == turned.was.right


def is_unmarked(turned: Turned, taken: TakenBack) -> bool:
    """Whether what some edit did can't be told, though it was to be asked for: the bot failed, or nothing marks it."""
    if turned.place in taken.left_out:
        return False
    found = [taken.answers.get((*turned.place, change.document)) for change in turned.candidates]
    return any(answer is None or answer.right is None for answer in found)


def doubts(turned: Sequence[Turned], taken: TakenBack, most_calls: int) -> Iterator[str]:
    """What there is to say of answers that turned and that no edit is credited with."""
    if apart := [one for one in turned if not one.candidates]:
        yield (
            f"{_counted(apart)} turned although no edited document was read on either side: {_questions(apart)}. The "
            "bot answers differently from time to time, or other passages rank higher since the edits."
        )
    if by_chance := [one for one in turned if is_chance(one, taken)]:
        yield (
            f"{_counted(by_chance)} turned back when the bot was asked once more with nothing changed, so no edit is "
            f"credited: {_questions(by_chance)}."
        )
    open_ones = [one for one in turned if one.candidates and not credited(one, taken)]
    if left_out := [one for one in open_ones if one.place in taken.left_out]:
        yield (
            f"{_counted(left_out)} that turned could not be asked again with every edit taken back, because at most "
            f"{most_calls:,} answers may be asked for (--most-calls): {_questions(left_out)}."
        )
    if unmarked := [one for one in open_ones if is_unmarked(one, taken)]:
        yield (
            f"{_counted(unmarked)} that turned could not be asked again or marked with every edit taken back, so no "
            f"edit is credited: {_questions(unmarked)}."
        )


def _counted(turned: Sequence[Turned]) -> str:
    return "1 answer" if len(turned) == 1 else f"{len(turned):,} answers"


def _questions(turned: Sequence[Turned]) -> str:
    return listed(list(dict.fromkeys(one.now.question for one in turned)))
