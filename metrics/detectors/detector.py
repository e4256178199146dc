"""Detector: what one kind of personal data or secret looks like."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Detector:
    """One kind of thing to be found; several detectors may share an id.

    Attributes:
        id: of the kind, as it stands in the details of a score.
        pattern: in RE2's syntax, which has neither look-around nor back-references, and so is searched in linear time.
            It sees UTF-8 bytes. Where it has a group, the group is what was found.
        valid: what the text that was found must pass beside, such as a checksum.
        parts: for a pattern that takes a whole run of characters: where in it things may be.
        near: words of which one must stand shortly before or after, for what could be any number; an ASCII word of up
            to four letters must stand alone, a longer one may go on ("passports").
        digits: the fewest digits in anything that the pattern finds; a text with fewer is not searched.
        overlapping: whether matches may overlap, because one that is not valid may hide the beginning of one that is;
            only for patterns that match short texts, as this keeps the search linear.
        alone: whether it must not be a part of a longer number, like 123-45-6789 in 99-123-45-6789.
    """

    id: str
    pattern: str
    valid: Callable[[str], bool] | None = None
    parts: Callable[[str], Iterable[Span]] | None = None
    near: tuple[str, ...] = ()
    digits: int = 0
    overlapping: bool = False
    alone: bool = False
