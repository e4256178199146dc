"""Versions: documents that are an older and a newer state of the same thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ..documents import Document
from .copies import Copied
from .dates import Dated, compared_dates, dates_of, family, is_marked_old
from .statements import statements
from .tokens import words_of

_COPIED: Final = 0.5  # share of the shorter one that must stand in the other where names don't tell
_ALIKE: Final = 0.4  # share of the shorter one's statements that the other has, figures aside, where names do
_SAME_STATEMENT: Final = 0.6  # of the words of two statements
_MOST_STATEMENTS: Final = 200  # of a document that are looked at
_LARGEST_FAMILY: Final = 200  # documents of one name; more are a series, such as minutes
_LONGEST_LISTS: Final = 6  # statements that may share a word to be compared by it


@dataclass(frozen=True, slots=True)
class Versions:
    """An older document and the newer one that has come in its place.

    Attributes:
        older: id.
        newer: id.
        dates: of the older and the newer one; None where only a name says that one is old.
        alike: share of the shorter one that the other has as well, from 0 to 1.
        by_name: whether their names or titles are the same but for the date.
    """

    older: str
    newer: str
    dates: tuple[Dated, Dated] | None
    alike: float
    by_name: bool


def find_versions(documents: Sequence[Document], copied: Iterable[Copied]) -> tuple[Versions, ...]:
    """Pairs of an older and a newer state; of several states each with the next one.

    Two documents are states of one thing where their names or titles are the same but for a date, a version or a word
    such as *old*, and they have much in common; or where most of one stands in the other. In both cases something
    must say which is the older one.
    """
    by_id = {document.id: document for document in documents}
    shares = {(one.first, one.second): one.share for one in copied if one.first != one.second}
    found: dict[tuple[str, str], Versions] = {}
    for group in _families(documents):
        for first, second in pairwise(_sorted_by_age(group)):
            alike = max(shares.get((first.id, second.id), 0.0), shares.get((second.id, first.id), 0.0))
            alike = alike if alike >= _ALIKE else max(alike, _alike(first, second))
            if alike >= _ALIKE and (one := _versions(first, second, alike, by_name=True)):
                found.setdefault((one.older, one.newer), one)
    for (first_id, second_id), share in shares.items():
        known = {(first_id, second_id), (second_id, first_id)} & found.keys()
        if share < _COPIED or known or family(first_id) == family(second_id):  # states of one name are told above
            continue
        if one := _versions(by_id[first_id], by_id[second_id], share, by_name=False):
            found[one.older, one.newer] = one
    order = {document.id: place for place, document in enumerate(documents)}
    return tuple(sorted(found.values(), key=lambda one: (order[one.older], order[one.newer])))


def _families(documents: Sequence[Document]) -> Iterator[list[Document]]:
    """Documents whose names, or whose titles, are the same but for dates; each group once."""
    groups: defaultdict[str, list[Document]] = defaultdict(list)
    for document in documents:
        groups[f"name {family(document.id)}"].append(document)
        if title := family(document.title):
            groups[f"title {title}"].append(document)
    seen: set[tuple[str, ...]] = set()
    for group in groups.values():
        key = tuple(document.id for document in group)
        if 1 < len(group) <= _LARGEST_FAMILY and key not in seen:
            seen.add(key)
            yield group


def _sorted_by_age(group: Sequence[Document]) -> list[Document]:
    """Oldest first, as far as their own dates tell; those without one keep their order at the end."""
    return sorted(group, key=lambda one: (not is_marked_old(one.id), *_first_date(one)))


def _first_date(document: Document) -> tuple[bool, str, tuple[int, ...]]:
    dates = dates_of(document)
    return (False, dates[0].kind, dates[0].value) if dates else (True, "", ())


def _versions(first: Document, second: Document, alike: float, *, by_name: bool) -> Versions | None:
    """Which is the older one: by their dates, else by a word such as *old* in one name; None where nothing tells."""
    dates = compared_dates(first, second)
    if dates is not None:
        one, other = dates
        if one.value <= other.value:
            return Versions(first.id, second.id, (one, other), alike, by_name)
        return Versions(second.id, first.id, (other, one), alike, by_name)
    old = [is_marked_old(document.id) or is_marked_old(document.title) for document in (first, second)]
    if old[0] == old[1]:
        return None
    older, newer = (first, second) if old[0] else (second, first)
    return Versions(older.id, newer.id, None, alike, by_name)


def _alike(first: Document, second: Document) -> float:
    """Share of the statements of the one with fewer that the other has in much the same words, figures aside."""
    sets = [_word_sets(document) for document in (first, second)]
    fewer, more = sorted(sets, key=len)
    if not fewer:
        return 0.0
    by_word: defaultdict[str, list[frozenset[str]]] = defaultdict(list)
    for words in more:
        for word in words:
            by_word[word].append(words)
    return sum(_has(words, by_word) for words in fewer) / len(fewer)


def _has(words: frozenset[str], by_word: Mapping[str, Sequence[frozenset[str]]]) -> bool:
    lists = sorted((by_word[word] for word in words if word in by_word), key=len)[:_LONGEST_LISTS]
    return any(len(words & other) >= _SAME_STATEMENT * len(words | other) for others in lists for other in others)


def _word_sets(document: Document) -> list[frozenset[str]]:
    found = (
        frozenset(word for word in words_of(one.text) if not word[0].isdigit())
        for one in statements(Document(document.id, document.text[:100_000], document.title))[:_MOST_STATEMENTS]
    )
    return [words for words in found if words]
