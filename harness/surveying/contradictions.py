"""Contradictions: sentences of the documents that can't both be true, by their words or by an entailment model."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...knowledge.documents import Document
from ...knowledge.examining.facing import Facing, facing
from ...knowledge.examining.statements import Statement, statements
from ...metrics.tools import Entailment
from .differences import Disagreement
from .disagreeing import disagree
from .same_matter import SameMatter, are_entries

CONTRADICTED: Final = 0.8  # mean of the model's probabilities of a contradiction, one way and the other
_EITHER_WAY: Final = 0.5  # that each of the two must reach
_MOST_ASKED: Final = 2_000  # pairs that are put to the model, those with most words in common
_FORM: Final = 4  # documents that say the same with figures of their own; then it is a form that each fills in
_FORM_WITHIN: Final = 3  # statements of one document, likewise


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements that can't both be true.

    Attributes:
        first: the one that comes first.
        second: the other.
        found: what they say otherwise, by their words; None where only the model says so.
        probability: the model's, mean of both directions; None where there is no model.
    """

    first: Statement
    second: Statement
    found: Disagreement | None
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Contradictions:
    """What was found.

    Attributes:
        found: in the order of the documents.
        warnings: sentences on what was not compared.
    """

    found: tuple[Contradiction, ...]
    warnings: tuple[str, ...] = ()


Paired = tuple[Facing, Contradiction]


def find_contradictions(
    documents: Sequence[Document],
    matter: SameMatter | None = None,
    entailment: Entailment | None = None,
    foreign: Collection[str] = (),
    told: Callable[[str], None] | None = None,
) -> Contradictions:
    """All contradictions; this blocks.

    Args:
        documents: all of them.
        matter: tells what they are about; left out, it knows of no versions and copies.
        entailment: a model; where there is one it decides, and what it calls no contradiction is none.
        foreign: ids of documents that are not in English, of which figures alone are compared.
        told: told a sentence before what takes long.
    """
    said = [one for document in documents for one in statements(document)]
    matter = matter or SameMatter(documents)
    faced = facing(said)
    found: list[Paired] = []
    doubtful: list[Paired] = []
    for pair in faced.pairs:
        first, second = said[pair.first], said[pair.second]
        if (first.columns is None) != (second.columns is None) or not matter.may_be_one(first, second):
            continue
        is_foreign = first.document in foreign or second.document in foreign
        disagreement = disagree(first.text, second.text, first.columns is not None)
        if disagreement is not None and is_foreign and not _is_of_figures(disagreement):
            continue  # names and denials are told by English rules
        if disagreement is not None and matter.are_one(first, second, disagreement):
            found.append((pair, Contradiction(first, second, disagreement)))
        elif entailment is not None and not is_foreign and _may_be_asked(first, second, matter):
            doubtful.append((pair, Contradiction(first, second, None)))
    found = _without_forms(found, matter)
    warnings = [_left_out(faced.left_out)] if faced.left_out else []
    if entailment is not None:
        found, unasked = _decided(found, doubtful, entailment, foreign, told)
        warnings += [_not_asked(unasked)] if unasked else []
    return Contradictions(tuple(one for _, one in sorted(found, key=lambda one: one[0][:2])), tuple(warnings))


def _decided(
    found: Sequence[Paired],
    doubtful: Sequence[Paired],
    entailment: Entailment,
    foreign: Collection[str],
    told: Callable[[str], None] | None,
) -> tuple[list[Paired], int]:
    """What stands once a model of English was asked, and about how many pairs it was not, since there are too many."""
    foreign_ids = set(foreign)
    apart = [one for one in found if {one[1].first.document, one[1].second.document} & foreign_ids]
    places = {one[0][:2] for one in apart}
    asked = sorted([one for one in found if one[0][:2] not in places] + list(doubtful), key=_doubt)
    rest = asked[_MOST_ASKED:]
    kept = _asked(asked[:_MOST_ASKED], entailment, told)
    return [*apart, *kept, *(one for one in rest if one[1].found is not None)], len(rest)


def _may_be_asked(first: Statement, second: Statement, matter: SameMatter) -> bool:
    return first.columns is None and not are_entries(first, second) and matter.are_named_alike(first, second)


def _is_of_figures(found: Disagreement) -> bool:
    return not found.loose and all(difference.sort == "number" for difference in found.differences)


def _doubt(one: Paired) -> tuple[bool, float]:
    """Those first that differ by their words, then those with most words in common."""
    return one[1].found is None, -one[0].shared


def _left_out(number: int) -> str:
    return (
        f"{number:,} pairs of sentences that share few rare words were not compared, so contradictions among them are "
        "not told: there are too many. Survey a part of the documents at a time."
    )


def _not_asked(number: int) -> str:
    return (
        f"The entailment model was asked about {_MOST_ASKED:,} pairs of sentences and not about {number:,} more; of "
        "these, what figures, names and denials tell stands as it is."
    )


def _without_forms(found: Sequence[Paired], matter: SameMatter) -> list[Paired]:
    """Without sentences that are said again and again with figures of their own, but by versions of one document."""
    root: dict[int, int] = {}

    def top(place: int) -> int:
        while root.setdefault(place, place) != place:
            place = root[place]
        return place

    apart = [(pair, one) for pair, one in found if not matter.are_versions(one.first, one.second)]
    for pair, _ in apart:
        root[top(pair.first)] = top(pair.second)
    members: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for pair, one in apart:
        members[top(pair.first)] |= {pair.first: one.first.document, pair.second: one.second.document}
    counts = {place: Counter(documents.values()) for place, documents in members.items()}
    forms = {place for place, count in counts.items() if len(count) >= _FORM or max(count.values()) >= _FORM_WITHIN}
    return [
        (pair, one) for pair, one in found if matter.are_versions(one.first, one.second) or top(pair.first) not in forms
    ]


def _asked(asked: Sequence[Paired], entailment: Entailment, told: Callable[[str], None] | None) -> list[Paired]:
    """Those that the model calls contradictions both ways."""
    if not asked:
        return []
    if told is not None:
        told(f"Asking the entailment model about {len(asked):,} pairs of sentences")
    texts = [(one.first.text, one.second.text) for _, one in asked]
    both = [*texts, *((second, first) for first, second in texts)]
    said = asyncio.run(_probabilities(entailment, both))
    kept = []
    for (pair, one), there, back in zip(asked, said[: len(texts)], said[len(texts) :], strict=True):
        mean = (there + back) / 2
        # Where figures or names differ in the same words, it is enough that the model rather says so.
        if mean >= (_EITHER_WAY if one.found else CONTRADICTED) and (one.found or min(there, back) >= _EITHER_WAY):
            kept.append((pair, Contradiction(one.first, one.second, one.found, round(mean, 4))))
    return kept


async def _probabilities(entailment: Entailment, pairs: Sequence[tuple[str, str]]) -> list[float]:
    return [float(one[2]) for one in await entailment.probabilities(pairs)]


def by_documents(found: Iterable[Contradiction]) -> Mapping[tuple[str, str], tuple[Contradiction, ...]]:
    """The contradictions of each pair of documents, in their order."""
    groups: defaultdict[tuple[str, str], list[Contradiction]] = defaultdict(list)
    for one in found:
        groups[one.first.document, one.second.document].append(one)
    return {pair: tuple(ones) for pair, ones in groups.items()}
