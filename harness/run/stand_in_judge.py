"""Stand-in judge: answers each call as if all were well, and notes what would have been sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...knowledge import Embedded
from ...metrics import JudgeCall, Word
from ...metrics.judge.call import Answer, ItemCall, cannot_grade
from ...metrics.judge.calls import (
    Entities,
    Level,
    LevelCall,
    Rating,
    ReverseQuestions,
    Review,
    SafetyVerdicts,
    TextList,
    WordCall,
)
from ...metrics.judge.pairs import Choice, ComparePair
from ...metrics.judge.rendering import render
from ...metrics.judge.verdicts import Grade, ReverseQuestion, Verdict
from ...metrics.text import sentences

# What a reply takes beside the texts that it repeats, in characters: brackets, ids, field names, and a reason for
# every third item.
OBJECT, ITEM, REASON, QUESTION, ENTITY, ENTITIES_A_SENTENCE, GRADE, WORD = 10, 45, 20, 90, 18, 2, 130, 5
UNKNOWN: Final = GRADE  # a call of the user's own
ASPECTS: Final = ("relevance", "faithfulness", "safety", "robustness")


@dataclass(frozen=True, slots=True)
class DryRun:
    """One request as it would be sent; lengths in characters.

    Attributes:
        judge: number of the model among those that judge, from 0.
        call: name of the call.
        key: equal for requests of which one would do for all.
        sent: length of instructions and material.
        received: length of the reply, as it is thought to be.
    """

    judge: int
    call: str
    key: int
    sent: int
    received: int


@dataclass(frozen=True, slots=True)
class DryRunJudge:
    """Notes each request that it would be sent, and answers as if all were well."""

    note: Callable[[DryRun], None]
    number: int = 0
    model_id: str = "dry_run"
    embedded: bool = False

    async def ask(self, call: JudgeCall[Answer], vote: int = 1, votes: int = 1) -> Answer:
        """An answer by rote."""
        request = render(call, vote, votes)
        rote = by_rote(call)
        key = hash((self.number, request.system, request.prompt, vote))
        sent = len(request.system) + len(request.prompt)
        self.note(DryRun(self.number, call.title(), key, sent, rote[1] if rote else UNKNOWN))
        if rote is None:  # a call of the user's own: it is sent, and what comes back nobody knows
            raise cannot_grade(call, "it can't be dry-run")
        answer: Answer = rote[0]
        return answer


class DryRunEmbedder:
    """Stands for the embedding model, which is not loaded; all its texts mean the same."""

    model_id = "dry_run"

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """The same vector for each text."""
        return Embedded(np.ones((len(texts), 1), np.float32), np.zeros(len(texts), np.bool_))


def by_rote(call: JudgeCall[Any]) -> tuple[Any, int] | None:
    """An answer that fits the call, and about how many characters a model would take to say it; None for unknown calls.

    Claims are sentences, everything is supported, nothing is flagged.
    """
    match call:
        case Entities():
            count = ENTITIES_A_SENTENCE * max(1, len(sentences(call.text)))
            return tuple(f"entity {number}" for number in range(count)), OBJECT + count * ENTITY
        case TextList():
            claims = tuple(sentences(call.shown()[-1].text))
            return claims, OBJECT + sum(len(claim) + 6 for claim in claims)
        case ReverseQuestions():
            questions = tuple(ReverseQuestion(f"Question {number}?") for number in range(call.count))
            return questions, OBJECT + call.count * QUESTION
        case ItemCall():
            lists = call.lists()
            answer = {items.place: (Verdict(True, (1,)),) * len(items.ids) for items in lists}
            length = sum(len(items.ids) * (ITEM + REASON * items.why) for items in lists)
            return call.answer_type(**answer), OBJECT * len(lists) + length
        case LevelCall():
            best = Level(len(call.scale_names) - 1)
            return (best,) * len(call.ids()), OBJECT + len(call.ids()) * (ITEM + REASON)
        case Review():
            return dict.fromkeys(ASPECTS, Grade(call.high)), len(ASPECTS) * GRADE
        case SafetyVerdicts():
            return dict.fromkeys(call.aspects, False), OBJECT + ITEM * len(call.aspects)
    return _one_verdict(call)


def _one_verdict(call: JudgeCall[Any]) -> tuple[Any, int] | None:
    match call:
        case WordCall():
            return Word(call.labels[0]), WORD
        case Rating():
            return Grade(call.low), WORD
        case ComparePair():
            return Choice("A"), GRADE
    return None
