"""Concerned: which questions and answers rest on a place in a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ...knowledge.evidence import EvidenceFinder
from ..ground.answers import Answer, Answers
from ..ground.ground import Ground

_WHOLE: Final = 0.8  # share of all documents; an answer that is made from so many tells nothing of any
_FEW_DOCUMENTS: Final = 5


@dataclass(frozen=True, slots=True)
class Hit:
    """What rests on some places.

    Attributes:
        gold: keys of the questions whose gold evidence stands there, in the order of the questions.
        read: keys of the questions for which a bot was handed it.
        answers: how many answers were made from it.
        wrong: how many of these are known to be wrong.
    """

    gold: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    answers: int = 0
    wrong: int = 0

    @property
    def questions(self) -> tuple[str, ...]:
        """Those of the gold, then those for which it was read."""
        return tuple(dict.fromkeys((*self.gold, *self.read)))


class Concerned:
    """Looks up what rests on places; built once for all findings."""

    def __init__(self, ground: Ground, answers: Answers | None) -> None:
        self._order = {question.id: place for place, question in enumerate(ground.questions)}
        self._gold: defaultdict[str, list[tuple[int, int, str]]] = defaultdict(list)
        self._read: defaultdict[str, list[tuple[int, int, Answer]]] = defaultdict(list)
        sizes = {document.id: len(document.text) for document in ground.documents}
        for key, gold in ground.gold.items():
            for member in (member for group in gold.groups for member in group):
                start, end = member.start, member.end
                whole = (0, sizes.get(member.document, 0))
                self._gold[member.document].append((*(whole if start is None or end is None else (start, end)), key))
        finder = EvidenceFinder(ground.documents)
        for answer in answers.rows if answers else ():
            if not tells(answer, len(ground.documents)):
                continue
            for context in answer.contexts or ():
                named, span = finder.place(context.document, context.text, context.start, context.end)
                if named in sizes and span is not None:
                    self._read[named].append((span.start, span.end, answer))

    def by(self, places: Iterable[tuple[str, int, int]]) -> Hit:
        """What rests on any of these places: document, start and end."""
        gold: set[str] = set()
        read: dict[tuple[str, str], Answer] = {}
        for document, start, end in places:
            gold |= {key for first, last, key in self._gold.get(document, ()) if first < end and start < last}
            for first, last, answer in self._read.get(document, ()):
                if first < end and start < last:
                    read[answer.bot, answer.question] = answer
        return Hit(
            self._sorted(gold),
            self._sorted({question for _, question in read}),
            len(read),
            sum(answer.right is False for answer in read.values()),
        )

    def _sorted(self, keys: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(keys, key=lambda key: (self._order.get(key, len(self._order)), key)))


def tells(answer: Answer, documents: int) -> bool:
    """Whether an answer was made from some of the documents and not from nearly all."""
    return documents <= _FEW_DOCUMENTS or len(answer.documents) < _WHOLE * documents
