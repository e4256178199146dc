"""Stopper: whoever may end an exam before every question was asked, and what it is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...metrics import Score
from ...reports.ledger import KeptScore, Ledger, OpenRun
from ...reports.run import Row
from .lanes import Item, Lane, kept_items

STRETCH = 16  # questions that every lane is asked before the next ones, where they are asked one at a time
JUDGED_STRETCH = 64  # the same where a language model grades: towards the end of a stretch its calls in flight grow few
ROUNDS = 4  # questions of a stretch for each that is in flight, so that few wait for the last


@dataclass(frozen=True, slots=True)
class KeptScores:
    """An answer of an earlier pass with the scores that it has; those by name of their metric."""

    item: Item
    scores: Mapping[str, KeptScore]


class Stopper(Protocol):
    """Looks at scores as they come, and says when enough was asked."""

    @property
    def certain(self) -> bool:
        """Whether no further question is needed; those in flight are still waited for."""
        ...

    def begin(self, lanes: Sequence[Lane], kept: Callable[[Lane], Iterable[KeptScores]]) -> None:
        """Before the first question: who is asked, and what is known of each from earlier passes."""
        ...

    def heard(self, row: Row, scores: Sequence[Score]) -> None:
        """A row was scored, wholly or in what was missing."""
        ...

    def end(self) -> Mapping[str, object] | None:
        """All has been asked that will be; gives what the run's manifest says of what was left out, None if nothing."""
        ...


def kept_scores(lane: Lane, ledger: Ledger, run: OpenRun, own_only: bool) -> Iterable[KeptScores]:
    """What an earlier pass left of a lane's work, in the order of the lane; nothing is changed by looking."""
    names = {number: name for name, number in run.metric_ids.items()}
    for chunk in kept_items(lane, ledger, run, own_only):
        found = ledger.score_values([reply_id for _, reply_id, _ in chunk])
        for item, reply_id, question_id in chunk:
            of_row = {} if question_id is None else found.get((reply_id, question_id), {})
            yield KeptScores(item, {names[number]: score for number, score in of_row.items() if number in names})


def stretch(lanes: Sequence[Lane], is_judged: bool) -> int:
    """How many questions every lane is asked before any lane is asked more.

    Of several bots the same questions are so answered at about the same time; a single bot that is asked side by side
    waits for nobody.
    """
    beside = [lane for lane in lanes if not lane.serial]
    if len(lanes) == 1 and beside:
        return max(1, beside[0].total)
    least = JUDGED_STRETCH if is_judged else STRETCH
    return max(least, *(ROUNDS * lane.concurrency for lane in beside), 1)
