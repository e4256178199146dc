"""Asked twice: questions that ask the same, and whether the same answer is expected of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ...knowledge.questions import PERTURBS, Question
from ...reports.surveys.finding import Finding
from ..ground.listed_names import listed
from .asked_alike import Alike, asked, find_alike
from .same_answers import AnswerPair, Relation, relate

if TYPE_CHECKING:
    from ...knowledge.batching import BatchingEmbedder

_SHOWN: Final = 160  # characters of a question in a sentence
_ACCEPTED: Final = 5  # accepted answers that are compared with each other; a set may have many aliases
_SURE: Final = 0.92  # cosine from which two questions of near wording are held to be one even where the answers differ


async def find_duplicates(
    questions: Sequence[Question], alike: Sequence[Alike], embedder: BatchingEmbedder
) -> tuple[Finding, ...]:
    """What there is to say of questions that ask the same; those that were reworded on purpose are left out.

    Args:
        questions: all of them.
        alike: the pairs that ask the same, from ``alike_questions``.
        embedder: for the comparison of expected answers.
    """
    pairs = [one for one in alike if not _reworded(questions[one.first], questions[one.second])]
    relations = await _relations(questions, pairs, embedder)
    conflicts, doubles = [], []
    for pair, relation in zip(pairs, relations, strict=True):
        if relation == "conflict":
            conflicts.append(_conflict(questions[pair.first], questions[pair.second], pair))
        elif relation == "same":
            doubles.append(pair)
    return (*conflicts, *(_double(questions, group) for group in _groups(doubles)))


def alike_questions(questions: Sequence[Question], embedder: BatchingEmbedder) -> list[Alike]:
    """The pairs of questions that ask the same; blocks while it embeds."""
    return find_alike([question.text for question in questions], embedder)


async def _relations(questions: Sequence[Question], pairs: Sequence[Alike], embedder: BatchingEmbedder) -> list[str]:
    """For each pair ``same``, ``conflict``, or blank: near wording and another answer are two questions as a rule."""
    asked_for = [
        AnswerPair(questions[pair.first].text, one, other)
        for pair in pairs
        for one in questions[pair.first].expected[:_ACCEPTED]
        for other in questions[pair.second].expected[:_ACCEPTED]
        if not _share_answer(questions[pair.first], questions[pair.second])
    ]
    told = dict(zip(asked_for, await relate(asked_for, embedder), strict=True))
    return [_relation(questions[pair.first], questions[pair.second], pair, told) for pair in pairs]


def _relation(one: Question, other: Question, pair: Alike, told: Mapping[AnswerPair, Relation]) -> str:
    if one.answerable is not other.answerable and None not in (one.answerable, other.answerable):
        return "conflict" if pair.equal or (pair.exact and pair.cosine >= _SURE) else ""
    if not one.expected or not other.expected or _share_answer(one, other):
        return "same"
    found = {
        told[AnswerPair(one.text, first, second)]
        for first in one.expected[:_ACCEPTED] for second in other.expected[:_ACCEPTED]
    }  # fmt: skip
    if "same" in found:
        return "same"
    if pair.equal:
        return "conflict"
    if pair.exact and pair.cosine >= _SURE:
        return "conflict" if found == {"contradicts"} else "same"
    return ""


def _share_answer(one: Question, other: Question) -> bool:
    """Whether an answer is accepted for both, word for word."""
    return not {asked(text) for text in one.expected}.isdisjoint(asked(text) for text in other.expected)


def _reworded(one: Question, other: Question) -> bool:
    """Whether one of them was made from the other, or both from a third."""
    made = [question.extra.get(PERTURBS) for question in (one, other)]
    return any(made)


def _groups(pairs: Sequence[Alike]) -> list[list[Alike]]:
    """Pairs that hang together, in the order of their first question."""
    root: dict[int, int] = {}

    def top(place: int) -> int:
        while root.setdefault(place, place) != place:
            root[place] = root[root[place]]
            place = root[place]
        return place

    for pair in pairs:
        first, second = sorted((top(pair.first), top(pair.second)))
        root[second] = first
    found: dict[int, list[Alike]] = {}
    for pair in pairs:
        found.setdefault(top(pair.first), []).append(pair)
    return list(found.values())


def _conflict(one: Question, other: Question, pair: Alike) -> Finding:
    how = "the same in the same words" if pair.equal else "the same"
    wanted = [_wanted(question) for question in (one, other)]
    return Finding(
        kind="conflicting_gold",
        severity="high",
        what=(
            f"Questions {one.id} and {other.id} ask {how}, and different answers are expected: {wanted[0]}; and "
            f"{wanted[1]}. No bot can be right on both."
        ),
        action=f"Decide which answer is right, and correct or remove {one.id} or {other.id}.",
        questions=(one.id, other.id),
        score=None if pair.equal else pair.cosine,
        details={"cosine": pair.cosine, "equal": pair.equal, "texts": [one.text, other.text], "expected": wanted},
    )


def _wanted(question: Question) -> str:
    if question.expected:
        return f'"{shortened(question.expected[0])}"'
    return "that it can't be answered" if question.answerable is False else "none"


def _double(questions: Sequence[Question], group: Sequence[Alike]) -> Finding:
    places = sorted({place for pair in group for place in (pair.first, pair.second)})
    members = [questions[place] for place in places]
    keys = tuple(member.id for member in members)
    sources = {member.source_document or member.id for member in members}
    equal = len({asked(member.text) for member in members}) == 1
    together = (
        "They are of one source document, so intervals allow for it."
        if len(sources) == 1
        else "They are of different clusters, so intervals are taken for narrower than they are."
    )
    return Finding(
        kind="duplicate_question",
        severity="low",
        what=(
            f"Questions {listed(keys)} ask the same{' in the same words' if equal else ''}, so what they ask for "
            f'counts {len(keys)} times in every mean: "{shortened(members[0].text)}"'
            f'{"" if equal else f"; {chr(34)}{shortened(members[1].text)}{chr(34)}"}. {together}'
        ),
        action=(
            f"Keep one of them{'' if len(sources) == 1 else ', or give them the same source_document'}; leave them as "
            "they are where other words for the same are on purpose."
        ),
        questions=keys,
        score=None if equal else min(pair.cosine for pair in group),
        details={
            "pairs": [
                {"questions": [questions[pair.first].id, questions[pair.second].id], "cosine": pair.cosine,
                 "equal": pair.equal}
                for pair in group
            ],
            "texts": [member.text for member in members],
            "same_cluster": len(sources) == 1,
        },
    )  # fmt: skip


def shortened(text: str) -> str:
    """A text in one line, cut where it is too long for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1].rstrip() + "…"
