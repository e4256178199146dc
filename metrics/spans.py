"""SpanSet: characters of documents as a set."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .facts import Place

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SpanSet:
    """Characters by document, as spans that are sorted and apart."""

    spans: Mapping[str, Spans]

    @classmethod
    def of(cls, places: Iterable[Place]) -> "SpanSet":
        """The characters of some places; a place without characters has none.

        >>> SpanSet.of([Place("a", 5, 9), Place("a", 0, 6), Place("b", 1, 2)])
        SpanSet(spans={'a': ((0, 9),), 'b': ((1, 2),)})
        """
        given: dict[str, list[tuple[int, int]]] = {}
        for place in places:
            if place.start is not None and place.end is not None and place.start < place.end:
                given.setdefault(place.document, []).append((place.start, place.end))
        return cls({document: _merged(spans) for document, spans in given.items()})

    @property
    def size(self) -> int:
        """How many characters there are."""
        return sum(end - start for spans in self.spans.values() for start, end in spans)

    def shared(self, other: "SpanSet") -> int:
        """How many characters are in both."""
        return sum(
            max(0, min(end, other_end) - max(start, other_start))
            for document, spans in self.spans.items()
            for start, end in spans
            for other_start, other_end in other.spans.get(document, ())
        )

    def __sub__(self, other: "SpanSet") -> "SpanSet":
        """The characters that are not in the other."""
        return SpanSet({name: _without(spans, other.spans.get(name, ())) for name, spans in self.spans.items()})


def _merged(spans: list[tuple[int, int]]) -> Spans:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _without(spans: Spans, removed: Spans) -> Spans:
    left: list[tuple[int, int]] = []
    for start, end in spans:
        for from_, to in removed:
            if to <= start or from_ >= end:
                continue
            if from_ > start:
                left.append((start, from_))
            start = max(start, to)
        if start < end:
            left.append((start, end))
    return tuple(left)
