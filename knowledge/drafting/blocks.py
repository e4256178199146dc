"""Blocks: headings, paragraphs, list items and tables of a text, with their places."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ..documents import Document
from ..searching.sentence_cutting import sentence_spans

Kind = Literal["heading", "text", "item", "table"]

_HEADING: Final = re.compile(r"#{1,6}\s+(?P<text>.*?)\s*#*\s*$")
_ITEM: Final = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?=\S)")
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_MARKS: Final = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
# Corpora that were taken apart into words have blanks before their punctuation.
_APART_BEFORE: Final = re.compile(r" (?=[,;:.!?%)\]]|['’]s\b|n['’]t\b)")  # noqa: RUF001
_TOKENISED: Final = re.compile(r"\w [,.](?: |$)")
_APART_DASH: Final = re.compile(r"(?<=\w) - (?=\w)")
_APART_AFTER: Final = re.compile(r"(?<=[(\[$€£]) ")


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document: ``start`` and ``end`` are its characters, marks of lists and headings left out.

    Attributes:
        kind: what it is; a table is all its lines.
        start: where it begins.
        end: where it ends.
        heading: the last heading before it; blank where there is none.
    """

    kind: Kind
    start: int
    end: int
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it reads, without marks of emphasis, and where it stands."""

    text: str
    start: int
    end: int


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a text of Markdown, or of any other; code is left out."""
    heading, fenced = "", False
    open_block: Block | None = None
    place = 0
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        end = start + len(line.rstrip())
        if _FENCE.match(line):
            fenced = not fenced
        kind, inner = _kind_of(line)
        goes_on = open_block is not None and not fenced and inner < len(line.rstrip()) and (
            (kind == "table" and open_block.kind == "table")
            or (kind == "text" and open_block.kind in ("text", "item"))
        )  # fmt: skip
        if goes_on and open_block is not None:
            open_block = Block(open_block.kind, open_block.start, end, heading)
            continue
        if open_block is not None:
            yield open_block
            open_block = None
        if fenced or _FENCE.match(line) or not line.strip():
            continue
        if kind == "heading":
            found = _HEADING.match(line)
            heading = plain(found["text"]) if found else ""
            yield Block("heading", start + inner, end, heading)
        else:
            open_block = Block(kind, start + inner, end, heading)
    if open_block is not None:
        yield open_block


def _kind_of(line: str) -> tuple[Kind, int]:
    """What a line is, and where its text begins in it."""
    if found := _HEADING.match(line):
        return "heading", found.start("text")
    if line.lstrip().startswith("|"):
        return "table", len(line) - len(line.lstrip())
    if found := _ITEM.match(line):
        return "item", found.end()
    return "text", len(line) - len(line.lstrip())


def sentences_of(text: str, block: Block) -> Iterator[Sentence]:
    """The sentences of a block; line ends within it are blanks."""
    inner = text[block.start : block.end]
    for start, end in sentence_spans("".join(" " if letter.isspace() else letter for letter in inner)):
        yield Sentence(plain(inner[start:end]), block.start + start, block.start + end)


def plain(text: str) -> str:
    """A text without marks of emphasis, blanks that a corpus added, and line ends."""
    bare = " ".join(_MARKS.sub("", text).split()).replace("`` ", '"').replace(" ''", '"')
    if _TOKENISED.search(bare):
        bare = _APART_DASH.sub("-", bare)
    return _APART_AFTER.sub("", _APART_BEFORE.sub("", bare))


def title_of(document: Document) -> str:
    """What a document calls itself: its title, or its first heading."""
    if document.title:
        return plain(document.title)
    first = next((block for block in blocks_of(document.text) if block.kind == "heading"), None)
    return first.heading if first else ""
