"""Overlaps: documents that are windows of longer texts, of which one begins with what another ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ...knowledge.examining.copies import Copied

_AT_END: Final = 60  # characters from an end within which a shared stretch reaches it
MANY: Final = 3  # pairs, from which they are told in one finding


def overlapping(copied: Iterable[Copied], texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Pairs of which the second begins with the end of the first, and neither stands in the other."""
    found = []
    for one in copied:
        if one.first == one.second or one.same:
            continue
        longest = one.stretches[0]
        ours, theirs = len(texts[one.first].rstrip()), len(texts[one.second].rstrip())
        if _follows(longest.start, ours - longest.end, longest.other_start, theirs - longest.other_end):
            found.append((one.first, one.second))
        elif _follows(longest.other_start, theirs - longest.other_end, longest.start, ours - longest.end):
            found.append((one.second, one.first))
    return tuple(found)


def _follows(before: int, behind: int, other_before: int, other_behind: int) -> bool:
    """Whether a stretch ends one text and begins another, by the characters before and behind it in both."""
    return behind <= _AT_END < before and other_before <= _AT_END < other_behind
