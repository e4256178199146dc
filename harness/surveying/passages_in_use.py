"""Passages in use: which passages of a document no answer was made from, and which are the only ones of an answer."""

from __future__ import annotations

import bisect
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ...knowledge.evidence import Span
from ...knowledge.searching.splitting import Splitting
from ...reports.surveys.finding import Excerpt

if TYPE_CHECKING:
    from ...knowledge.documents import Document, Passage
    from ...knowledge.questions import Evidence
    from ..ground.ground import Ground, QuestionGold

Passages = Mapping[str, Sequence["Passage"]]
_SHOWN: Final = 300  # characters of an excerpt; its span tells the rest


def cut_all(ground: Ground) -> Passages:
    """By document its passages as the first retrieving bot cuts it, or as one would by default."""
    present = ground.present
    splitting = Splitting(present.splitter, present.chunk_size, present.chunk_overlap)
    return {document.id: splitting.cut(document) for document in ground.documents}


def unused_passages(
    document: Document, passages: Sequence[Passage], read: Collection[Span], overlap: int
) -> tuple[Excerpt, ...]:
    """The passages of a document that nobody read, neighbours as one, in their order.

    Args:
        document: the document.
        passages: how it is cut.
        read: what of it answers were made from.
        overlap: characters that two passages may share: whoever read one has not read its neighbour for that.
    """
    ordered = sorted(read)
    longest = max((span.end - span.start for span in ordered), default=0)

    def was_read(passage: Passage) -> bool:
        first = bisect.bisect_left(ordered, passage.start - longest, key=lambda span: span.start)
        last = bisect.bisect_left(ordered, passage.end, key=lambda span: span.start)
        return any(_reads(span, passage, overlap) for span in ordered[first:last])

    return tuple(
        excerpt(document, together[0].start, max(each.end for each in together))
        for is_read, group in groupby(passages, key=was_read)
        if not is_read and (together := list(group))
    )


def _reads(span: Span, passage: Passage, overlap: int) -> bool:
    """Whether who read the span has read the passage, or enough of it."""
    shared = min(span.end, passage.end) - max(span.start, passage.start)
    return shared > 0 and (
        shared > overlap or shared == span.end - span.start or 2 * shared >= passage.end - passage.start
    )


def single_passages(golds: Iterable[QuestionGold], passages: Passages) -> frozenset[tuple[str, int, int]]:
    """Document, start and end of each passage without which some question can't be answered."""
    groups = (group for gold in golds for group in gold.groups)
    return frozenset(place for group in groups for place in _only_holders(group, passages))


def _only_holders(group: Sequence[Evidence], passages: Passages) -> Iterator[tuple[str, int, int]]:
    """The one passage that holds a member of the group, where no other holds any; of a member cut apart, each part.

    Any passage of a document holds a member of which only the document is known.
    """
    whole: set[tuple[str, int, int]] = set()
    parts: set[tuple[str, int, int]] = set()
    for member in group:
        start, end = member.start, member.end
        for each in passages.get(member.document, ()):
            if start is None or end is None or (each.start <= start and end <= each.end):
                whole.add((member.document, each.start, each.end))
            elif max(start, each.start) < min(end, each.end):
                parts.add((member.document, each.start, each.end))
    if len(whole) == 1:
        yield from whole
    elif not whole and len(group) == 1:
        yield from parts


def excerpt(document: Document, start: int, end: int) -> Excerpt:
    """A piece of a document, of which the beginning is shown."""
    text = document.text[start:end]
    return Excerpt(document.id, start, end, text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1].rstrip()}…")
