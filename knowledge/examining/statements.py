"""Statements: the sentences and table rows of documents, each with its place and what it stands under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..documents import Document
from ..searching.sentence_cutting import sentence_spans
from .tokens import UNSPACED

_HEADING: Final = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$")
_BULLET: Final = re.compile(r"(?:[-*+•◦▪]|\d{1,3}[.)])\s+")
_RULE: Final = re.compile(r"[\s|:=_*+~-]+")
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_LONGEST: Final = 600  # characters; what is longer is no sentence that could be compared
_LEAST_WORDS: Final = 3
_ENDED: Final = re.compile(r"[.!;:。।؟][\"'”’)\]*_]*$")  # noqa: RUF001 - quotes that texts have
_NOT_ENDED: Final = re.compile(r"(?:\b[ap]\.m|\bNo|\b[A-Z])\.$")
_RIGHTS: Final = re.compile(r"[©®]|\(c\)|all rights reserved", re.IGNORECASE)
_SMALL: Final = re.compile(r"(?<![^\W_])[^\W\d_A-Z]{2,}(?![^\W_])")
_LEAST_SMALL: Final = 3  # words in small letters


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, or a row of a table.

    Attributes:
        document: id.
        start: in characters; ``document.text[start:end]`` is what it says.
        end: likewise.
        text: what it says.
        heading: the heading that it stands under; blank where there is none.
        columns: of a table's row, the head of its table; None for a sentence.
        is_sentence: whether it is a whole sentence, as far as its words and its end tell; a list's entry may be none.
    """

    document: str
    start: int
    end: int
    text: str
    heading: str = ""
    columns: str | None = None
    is_sentence: bool = True


def statements(document: Document) -> list[Statement]:
    """The statements of a document in its order; questions, headings and very long or short ones are none."""
    return list(_statements(document))


def _statements(document: Document) -> Iterator[Statement]:
    heading, columns = "", None
    start = 0
    for line in document.text.split("\n"):
        bare = line.strip()
        found = _HEADING.match(line) if bare.startswith("#") else None
        if found:
            heading, columns = found[1], None
        elif bare.startswith("|") or (columns is not None and "|" in bare):
            if columns is None:
                columns = bare
            elif not _RULE.fullmatch(bare):
                begin = start + line.index(bare)
                yield from _told(document, begin, begin + len(bare), heading, columns)
        elif bare:
            columns = None
            for first, last in sentence_spans(line):
                yield from _told(document, start + first, start + last, heading, None)
        else:
            columns = None
        start += len(line) + 1


def _told(document: Document, start: int, end: int, heading: str, columns: str | None) -> Iterator[Statement]:
    bullet = _BULLET.match(document.text, start, end)
    start = bullet.end() if bullet else start
    text = document.text[start:end]
    words = len(text.split()) - (text.count("|") if columns is not None else 0)
    least = 2 if columns is not None else _LEAST_WORDS
    if least <= words and end - start <= _LONGEST and not text.endswith("?") and not _RIGHTS.search(text):
        is_sentence = columns is None and _is_sentence(text)
        yield Statement(document.id, start, end, text, heading, columns, is_sentence)


def _is_sentence(text: str) -> bool:
    if _UNSPACED.search(text):
        return _ENDED.search(text) is not None
    ended = _ENDED.search(text) is not None and not _NOT_ENDED.search(text)
    return ended and len(_SMALL.findall(text)) >= _LEAST_SMALL
