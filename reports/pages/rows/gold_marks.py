"""GoldMarks: where the gold evidence of a question lies in the passages that a bot had before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ....knowledge.questions import Evidence

COVERAGE: Final = 0.5  # the share of a place that a passage must hold to hold it, as for the metrics of retrieval

Groups = tuple[tuple[Evidence, ...], ...]
Mark = tuple[int, int, int]  # start and end in the passage's text as JavaScript counts, and place of the group


class PassagePlace(NamedTuple):
    """A passage: the document that it is said to be from, perhaps its span there, and its text."""

    document: str
    start: int | None
    end: int | None
    text: str


@dataclass(frozen=True, slots=True)
class GoldMarks:
    """What a passage holds of the gold evidence.

    Attributes:
        marks: where it lies in the text, sorted and apart; where groups overlap, the first keeps the characters.
        groups: places of the groups of which it holds a member, at least half of it.
    """

    marks: tuple[Mark, ...]
    groups: frozenset[int]


def gold_marks(evidence: Groups, passage: PassagePlace, longest: int) -> GoldMarks:
    """Find the gold evidence in a passage: by its span, else by its quote.

    The span that a passage is said to have counts when the quote does stand there; a quote is found letter for letter,
    else with any run of white space as one blank. Evidence without either is held by any passage of its document.

    Args:
        evidence: groups of places; any member of a group will do.
        passage: as the bot had it.
        longest: characters of the text that are shown; there are no marks beyond.
    """
    spans: list[tuple[int, int, int]] = []
    held: set[int] = set()
    for group, members in enumerate(evidence):
        for member in members:
            found = _found(member, passage)
            if found is not None:
                spans.append((*found, group))
                if _is_enough(member, passage, *found):
                    held.add(group)
            elif _is_document(member) and _same_document(member.document, passage.document):
                held.add(group)
    return GoldMarks(tuple(_as_javascript_counts(passage.text, _apart(spans), longest)), frozenset(held))


def gold_ranks(groups: int, contexts: Sequence[GoldMarks]) -> list[int | None]:
    """For each group of evidence the rank, from 1, of the first context that holds it; None where none does."""
    return [
        next((rank for rank, context in enumerate(contexts, 1) if group in context.groups), None)
        for group in range(groups)
    ]


def _is_document(member: Evidence) -> bool:
    return not member.quote.strip() and (member.start is None or member.end is None)


def _found(member: Evidence, passage: PassagePlace) -> tuple[int, int] | None:
    """Where a member lies in the text of a passage, or the part of it that does."""
    if passage.document and not _same_document(member.document, passage.document):
        return None
    if None in (member.start, member.end, passage.start, passage.end):
        return _by_quote(member.quote, passage.text)
    return _by_span(member, passage) or _by_quote(member.quote, passage.text)


def _by_span(member: Evidence, passage: PassagePlace) -> tuple[int, int] | None:
    start, end = member.start or 0, member.end or 0
    begin, text = passage.start or 0, passage.text
    if (passage.end or 0) - begin != len(text):
        return None  # it is not the text that stands there
    first, last = max(start - begin, 0), min(end - begin, len(text))
    if first >= last:
        return None
    wanted = member.quote[first + begin - start : last + begin - start] if len(member.quote) == end - start else ""
    return None if wanted and wanted != text[first:last] and not _alike(wanted, text[first:last]) else (first, last)


def _alike(one: str, other: str) -> bool:
    return one.split() == other.split()


def _by_quote(quote: str, text: str) -> tuple[int, int] | None:
    if not quote.strip():
        return None
    place = text.find(quote)
    if place >= 0:
        return place, place + len(quote)
    found = _pattern(quote).search(text)
    return found.span() if found else None


@lru_cache(4_096)
def _pattern(quote: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, quote.split())))


def _is_enough(member: Evidence, passage: PassagePlace, first: int, last: int) -> bool:
    whole = (member.end or 0) - (member.start or 0) if member.start is not None else len(member.quote)
    return last - first >= COVERAGE * whole or _alike(passage.text[first:last], member.quote)


@lru_cache(4_096)
def _same_document(one: str, other: str) -> bool:
    """Whether two names mean one document: a loader notes the path as it saw it, and people the end of it."""
    one, other = (name.replace("\\", "/").removeprefix("./") for name in (one, other))
    return one == other or (bool(one and other) and (one.endswith(f"/{other}") or other.endswith(f"/{one}")))


def _apart(spans: list[tuple[int, int, int]]) -> list[Mark]:
    apart: list[Mark] = []
    for start, end, group in sorted(spans):
        start = max(start, apart[-1][1]) if apart else start
        if start >= end:
            continue
        if apart and apart[-1][1:] == (start, group):
            apart[-1] = (apart[-1][0], end, group)
        else:
            apart.append((start, end, group))
    return apart


def _as_javascript_counts(text: str, spans: list[Mark], longest: int) -> list[Mark]:
    """JavaScript counts characters beyond the first 65,536 of Unicode as two."""
    shown = [(start, min(end, longest), group) for start, end, group in spans if start < longest]
    if not shown or text.isascii():
        return shown
    return [(_units(text, start), _units(text, end), group) for start, end, group in shown]


def _units(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le", "surrogatepass")) // 2
