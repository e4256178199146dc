"""Document changes: what became of each document between two states of a set of documents."""

from __future__ import annotations

import heapq
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ...knowledge.documents import Document
from ...reports.surveys.against import Change

NEAR_SAME: Final = 0.9  # of the shingles of two texts: the same text with a few words changed
_SHINGLE: Final = 8  # characters: about a word and a half, and no language needs blanks for it
_SKETCH: Final = 32  # shingles of a text by which others like it are looked up
_LOOKED_AT: Final = 8  # texts that share most of them
_COMMON: Final = 200  # documents in which a shingle may stand and still tell something


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """A document that is not as it was; ``was`` is None where it was added, ``now`` where it was removed."""

    change: Change
    was: Document | None
    now: Document | None

    @property
    def document(self) -> str:
        """Its id now; its old one where it was removed."""
        found = self.now or self.was
        return "" if found is None else found.id

    @property
    def taken_back(self) -> str:
        """In words, what a bot knows for which this change alone was not made."""
        match self.change:
            case "edited":
                return f"with {self.document} as it was"
            case "added":
                return f"without {self.document}"
            case "removed":
                return f"with {self.document} put back"
            case "renamed":
                return f"with {self.document} as {'' if self.was is None else self.was.id}"


def changes_between(old: Sequence[Document], new: Sequence[Document]) -> tuple[DocumentChange, ...]:
    """What was edited, renamed, added and removed, in the order of the new documents, then of the old ones.

    The same id with another text or title is an edit. A new id whose text is at least near the same as that of an id
    that is gone is a new name; each old document has one at most, the nearest first.
    """
    before, after = {each.id: each for each in old}, {each.id: each for each in new}
    gone = [each for each in old if each.id not in after]
    renamed = _renamed(gone, [each for each in new if each.id not in before])
    found: list[DocumentChange] = []
    for document in new:
        was = before.get(document.id) or renamed.get(document.id)
        if was is None:
            found.append(DocumentChange("added", None, document))
        elif was.id != document.id:
            found.append(DocumentChange("renamed", was, document))
        elif (was.text, was.title) != (document.text, document.title):
            found.append(DocumentChange("edited", was, document))
    moved = {each.id for each in renamed.values()}
    return (*found, *(DocumentChange("removed", each, None) for each in gone if each.id not in moved))


def without_change(documents: Sequence[Document], change: DocumentChange, old: Sequence[Document]) -> list[Document]:
    """Today's documents with one change taken back; what was removed comes back to where it stood among the others."""
    was, now = change.was, change.now
    if now is not None:
        swapped = [] if was is None else [was]
        return [each for document in documents for each in (swapped if document.id == now.id else [document])]
    if was is None:
        return list(documents)
    before = {each.id for each in old[: next(place for place, each in enumerate(old) if each.id == was.id)]}
    places = [place for place, each in enumerate(documents, 1) if each.id in before]
    at = max(places, default=0)
    return [*documents[:at], was, *documents[at:]]


def likeness(one: str, other: str) -> float:
    """Share of the pieces of eight characters that two texts have in common (Dice), blanks as one."""
    pieces, others = Counter(_shingles(one)), Counter(_shingles(other))
    whole = pieces.total() + others.total()
    return 2 * (pieces & others).total() / whole if whole else 1.0


def _shingles(text: str) -> Iterator[str]:
    plain = " ".join(text.split())
    for start in range(max(1, len(plain) - _SHINGLE + 1) if plain else 0):
        yield plain[start : start + _SHINGLE]


def _renamed(gone: Sequence[Document], come: Sequence[Document]) -> dict[str, Document]:
    """By new id the old document whose text it has."""
    found: dict[str, Document] = {}
    same: dict[str, list[Document]] = {}
    for document in gone:
        same.setdefault(document.text, []).append(document)
    for document in come:
        if same.get(document.text):
            found[document.id] = same[document.text].pop(0)
    left = [each for of_text in same.values() for each in of_text]
    _add_near(found, left, [each for each in come if each.id not in found])
    return found


def _add_near(found: dict[str, Document], gone: Sequence[Document], come: Sequence[Document]) -> None:
    """Add the pairs that are near the same, the nearest first."""
    taken: set[int] = set()
    for _, new, old in sorted(_near_pairs(gone, come)):
        if come[new].id not in found and old not in taken:
            found[come[new].id] = gone[old]
            taken.add(old)


def _near_pairs(gone: Sequence[Document], come: Sequence[Document]) -> Iterator[tuple[float, int, int]]:
    """Unlikeness, place of the new and place of the old document, of those that are near the same."""
    holding: dict[int, list[int]] = {}
    for place, document in enumerate(gone if come else ()):
        for mark in _sketch(document.text):
            holding.setdefault(mark, []).append(place)
    telling = {mark: places for mark, places in holding.items() if len(places) <= _COMMON}
    for new, document in enumerate(come if gone else ()):
        shared = Counter(place for mark in _sketch(document.text) for place in telling.get(mark, ()))
        for old, _ in sorted(shared.items(), key=lambda each: (-each[1], each[0]))[:_LOOKED_AT]:
            if (alike := likeness(gone[old].text, document.text)) >= NEAR_SAME:
                yield -alike, new, old


def _sketch(text: str) -> list[int]:
    """The least hashes of its shingles: two texts that are near the same share most of them (Broder 1997)."""
    return heapq.nsmallest(_SKETCH, {zlib.crc32(each.encode("utf-8", "surrogatepass")) for each in _shingles(text)})
