"""Dates: of when a document says that it is, by its name, its title and its first lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..documents import Document

_HEAD: Final = 800  # characters at the beginning in which a document says of when it is
_MONTHS: Final = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6,
    "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sep": 9, "sept": 9, "october": 10,
    "oct": 10, "november": 11, "nov": 11, "december": 12, "dec": 12, "januar": 1, "februar": 2, "märz": 3, "mai": 5,
    "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTHS, key=lambda name: (-len(name), name)))
_YEAR: Final = r"(?:19|20)\d\d"
_DATE: Final = re.compile(
    rf"(?<!\d)(?:(?P<iso_year>{_YEAR})[-_./](?P<iso_month>0?[1-9]|1[0-2])(?:[-_./](?P<iso_day>0?[1-9]|[12]\d|3[01]))?(?!\d)"
    rf"|(?P<dot_day>0?[1-9]|[12]\d|3[01])\.\s?(?P<dot_month>0?[1-9]|1[0-2])\.\s?(?P<dot_year>{_YEAR})"
    rf"|(?P<slash_one>0?[1-9]|[12]\d|3[01])/(?P<slash_two>0?[1-9]|[12]\d|3[01])/(?P<slash_year>{_YEAR})"
    rf"|(?P<packed_year>{_YEAR})(?P<packed_month>0[1-9]|1[0-2])(?P<packed_day>0[1-9]|[12]\d|3[01])(?!\d)"
    rf"|(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+(?P<year>{_YEAR})"
    rf"|\b(?P<us_month>{_MONTH})\.?\s+(?:(?P<us_day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?,?\s+)?(?P<us_year>{_YEAR})"
    rf"|(?P<bare>{_YEAR})(?!\d))(?!\d)",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(
    r"(?:(?<![^\W_])v|(?<![^\W\d_])(?:version|rev|revision|release|edition|ausgabe)[ ._-]?)"
    r"(?P<number>\d{1,4}(?:[._]\d{1,4}){0,3})(?![^\W_])",
    re.IGNORECASE,
)
_CUE: Final = re.compile(
    r"\b(?:valid (?:from|as of|since)|applie[sd] (?:from|since)|on or after|in force (?:from|since)|as of|as at"
    r"|effective(?: (?:from|date|as of))?|(?:updated|modified|revised|changed|reviewed)(?: on| at)?"
    r"|published(?: on)?|issued(?: on)?|date|version"
    r"|stand|gültig (?:ab|seit)|zuletzt (?:geändert|aktualisiert)(?: am)?)\b",
    re.IGNORECASE,
)
_CUE_REACH: Final = 24  # characters between the cue and its date
_STALE_MARKS: Final = re.compile(
    r"\b(?:old|older|archived?|outdated|obsolete|superseded|deprecated|legacy|backup|alt|veraltet)\b"
)
_SEPARATORS: Final = re.compile(r"[\W_]+")
Where = Literal["name", "title", "text"]


@dataclass(frozen=True, slots=True)
class Dated:
    """Of when a document says that it is.

    Attributes:
        kind: a date or the number of a version; only two of one kind can be compared.
        value: year, month and day, zeros where they are not said, or the parts of the version.
        said: how it was written.
        where: in the name, the title or the first lines.
        start: where in the text; None in a name or title.
        end: its end.
    """

    kind: Literal["date", "version"]
    value: tuple[int, ...]
    said: str
    where: Where
    start: int | None = None
    end: int | None = None


def dates_of(document: Document) -> tuple[Dated, ...]:
    """All that a document says of its date or version, the surest first: name, title, first lines.

    In the first lines a date counts only behind words such as *valid from*, *as of* and *last updated*.
    """
    found: list[Dated] = []
    stem = document.id.rsplit("/", maxsplit=1)[-1].rpartition(".")[0] or document.id
    for where, text in (("name", stem.replace("_", " ")), ("name", document.id), ("title", document.title)):
        found += _said(text, "name" if where == "name" else "title")
    found += _behind_cues(document.text[:_HEAD])
    return tuple({(one.kind, one.where): one for one in reversed(found)}.values())[::-1]


def compared_dates(first: Document, second: Document) -> tuple[Dated, Dated] | None:
    """What tells which of two documents is the older one: of the first and of the second; None where nothing does."""
    ours, theirs = dates_of(first), dates_of(second)
    for one in ours:
        for other in theirs:
            if one.kind == other.kind and one.where == other.where and _differ(one.value, other.value):
                return one, other
    for one in ours:
        for other in theirs:
            if one.kind == other.kind == "date" and _differ(one.value, other.value):
                return one, other
    return None


def _differ(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Whether one is before the other; a year alone says nothing of a day in it."""
    for one, other in zip(first, second, strict=False):
        if one == 0 or other == 0:
            return False
        if one != other:
            return True
    return len(first) != len(second)


def family(name: str) -> str:
    """A name or title without dates, versions and marks of age, to tell versions of one thing.

    >>> family("prices/repair-prices-2024.md") == family("prices/repair-prices-2026_v2.md")
    True
    """
    bare = _VERSION.sub(" ", _DATE.sub(" ", name.casefold().replace("_", " ")))
    bare = _SEPARATORS.sub(" ", _STALE_MARKS.sub(" ", bare))
    return " ".join(bare.split())


def is_marked_old(name: str) -> bool:
    """Whether a name says that it is of something old: archive, backup, copy."""
    return _STALE_MARKS.search(name.casefold().replace("_", " ")) is not None


def _said(text: str, where: Where) -> Iterator[Dated]:
    for found in _DATE.finditer(text):
        yield Dated("date", _value(found), found[0], where)
    for found in _VERSION.finditer(text):
        yield Dated("version", tuple(int(part) for part in re.split(r"[._]", found["number"])), found[0], where)


def _behind_cues(head: str) -> Iterator[Dated]:
    for cue in _CUE.finditer(head):
        near = head[cue.end() : cue.end() + _CUE_REACH + 20]
        found = _DATE.search(near)
        if found and found.start() <= _CUE_REACH and "\n" not in near[: found.start()]:
            start = cue.end() + found.start()
            yield Dated("date", _value(found), found[0], "text", start, start + len(found[0]))
    for found in _VERSION.finditer(head[: _HEAD // 4]):
        value = tuple(int(part) for part in re.split(r"[._]", found["number"]))
        yield Dated("version", value, found[0], "text", found.start(), found.end())


def _value(found: re.Match[str]) -> tuple[int, int, int]:
    part = {name: text for name, text in found.groupdict().items() if text}
    if "slash_year" in part:
        one, two = int(part["slash_one"]), int(part["slash_two"])
        if one > 12:  # day first, as in Britain
            return int(part["slash_year"]), two, one
        # Month first where only that makes sense; where both do, the two may be either, and only the year is sure.
        return (int(part["slash_year"]), one, two) if two > 12 else (int(part["slash_year"]), 0, 0)
    year = next(int(part[name]) for name in part if name.endswith("year") or name == "bare")
    month = next((part[name] for name in part if name.endswith("month")), "")
    day = next((int(part[name]) for name in part if name.endswith("day")), 0)
    number = int(month) if month.isdecimal() else _MONTHS.get(month.casefold(), 0)
    return year, number, day
