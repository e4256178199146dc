"""Sentences of a passage as they can be said: without Markdown marks, lists kept with what introduces them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..metrics.text import sentences

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"^\s{0,3}(?:=+|-{2,})\s*$")
_RULE = re.compile(r"^\s*(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$")
_ITEM = re.compile(r"^\s*(?:[-*+•‣\u2013]|\(?\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_ROW = re.compile(r"^\s*\|(.*)\|\s*$")
_ROW_RULE = re.compile(r"^[\s|:-]+$")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
# Bounded repeats: a text full of unmatched marks must not take quadratic time.
_MARKS = (
    (re.compile(r"!\[([^\[\]]{0,500})\]\([^()]{0,2000}\)"), r"\1"),
    (re.compile(r"\[([^\[\]]{1,500})\]\((?:[^()\s]|\([^()]{0,500}\)){0,2000}(?:\s+\"[^\"]{0,500}\")?\)"), r"\1"),
    (re.compile(r"\[([^\[\]]{1,500})\]\[[^\[\]]{0,500}\]"), r"\1"),
    (re.compile(r"<(https?://[^<>\s]{1,2000})>"), r"\1"),
    (re.compile(r"<!--.{0,500}?-->|</?[A-Za-z][^<>]{0,2000}>"), " "),
    (re.compile(r"`{1,3}([^`]{1,500})`{1,3}"), r"\1"),
    (re.compile(r"(\*{1,3})(?=\S)(.{1,500}?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,500}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"~~(.{1,500}?)~~"), r"\1"),
)
_PRIVATE = 0xE000  # where escaped marks hide, in the private use area, until the others are taken off
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")
_HIDDEN = re.compile(f"[{chr(_PRIVATE + 0x21)}-{chr(_PRIVATE + 0x7E)}]")
_ENDS = tuple(".!?…。\uff01\uff1f।")
LONGEST_TITLE = 80  # characters of a line of its own that counts as a heading, as in plain text files
LONGEST_LIST = 800  # characters of a list that are said together with its introduction


@dataclass(frozen=True, slots=True)
class Sayable:
    """A sentence, or a list with its introduction, that can stand in an answer.

    Attributes:
        text: what is said.
        topic: the heading or the question in the text under which it stands; not part of what is said.
        whole: False when it has no proper end or beginning, as at the edge of a passage.
    """

    text: str
    topic: str = ""
    whole: bool = True


@dataclass(slots=True)
class _Block:
    kind: str  # "text", "item", "row", "head" (of a table), "heading"
    text: str


def sayable_sentences(text: str) -> list[Sayable]:
    r"""Split a passage into what can be said of it.

    Headings, and sentences that end with a question mark, are not answers: they become the topic of what
    follows. A sentence that ends with a colon is joined with the list after it, or else with the next sentence.

    >>> [each.text for each in sayable_sentences("# Ways to pay\nWe take:\n- Visa\n- **PayPal**")]
    ['We take: Visa; PayPal.']
    """
    collector = _Collector()
    for block in _blocks(text):
        collector.add(block)
    collector.end_list()
    return collector.found


@dataclass(slots=True)
class _Collector:
    """What was found so far, and what is still open: the topic, an introduction, the items of a list."""

    found: list[Sayable] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    topic: str = ""
    lead: str = ""
    items: list[str] = field(default_factory=list)

    def add(self, block: _Block) -> None:
        if block.kind == "item":
            self.items.append(block.text)
            return
        if self.items or block.kind != "text":
            self.end_list()
        if block.kind in ("row", "head"):
            self._add_row(block)
            return
        self.columns = []
        if block.kind == "heading":
            self.topic = block.text
            return
        for sentence in sentences(block.text):
            if any(map(str.isalnum, sentence)):
                self._add_sentence(sentence)

    def _add_row(self, block: _Block) -> None:
        """A row is said as ``first cell: column and cell, column and cell``; the head gives the columns."""
        cells = [cell.strip() for cell in block.text.split("|")]
        if block.kind == "head":
            self.columns = cells
            return
        named = zip(cells[1:], (self.columns or cells)[1:], strict=False)
        rest = ", ".join(" ".join(filter(None, [column if self.columns else "", cell])) for cell, column in named)
        if said := ": ".join(filter(None, [cells[0], rest])):
            self.found.append(Sayable(_ended(said), self.topic))

    def _add_sentence(self, sentence: str) -> None:
        if sentence.endswith("?"):
            self.end_list()
            self.topic = sentence
        elif self.lead:
            self.found.append(Sayable(f"{self.lead} {sentence}", self.topic))
            self.lead = ""
        elif sentence.endswith(":"):
            self.lead = sentence
        else:
            self.found.append(Sayable(sentence, self.topic, _is_whole(sentence)))

    def end_list(self) -> None:
        """Say the list that is open, if there is one."""
        if self.lead or self.items:
            self.found.extend(_listed(self.lead, self.items, self.topic))
        self.lead, self.items = "", []


def without_marks(text: str) -> str:
    """A line of Markdown as it reads: links by their text, no emphasis, no tags."""
    text, escaped = _ESCAPED.subn(lambda found: chr(_PRIVATE + ord(found[1])), text)
    for pattern, replacement in _MARKS:
        text = pattern.sub(replacement, text)
    if escaped:
        text = _HIDDEN.sub(lambda found: chr(ord(found[0]) - _PRIVATE), text)
    return " ".join(text.split())


def _listed(lead: str, items: list[str], topic: str) -> Iterator[Sayable]:
    """A list after its introduction is said in one go; a long one, or one without introduction, item by item."""
    if not lead:
        yield from (Sayable(_ended(item), topic) for item in items)
    elif not items:
        yield Sayable(lead, topic)
    elif len(lead) + sum(map(len, items)) <= LONGEST_LIST:
        said = "; ".join(item.rstrip(" .;,") for item in items)
        yield Sayable(f"{lead} {said}.", topic)
    else:
        yield from (Sayable(f"{lead} {_ended(item)}", topic) for item in items)


def _is_whole(sentence: str) -> bool:
    """Whether it ends like a sentence and does not begin in the middle of one."""
    return sentence.rstrip("\"'”\u2019)]»")[-1:] in _ENDS and not sentence[0].islower()


def _ended(item: str) -> str:
    return item if item[-1:] in _ENDS else item.rstrip(" ;,") + "."


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs (wrapped lines joined), list items, table rows and headings, in their order, without marks."""
    open_block: _Block | None = None
    for line in [*text.splitlines(), None]:
        kind, said = _read_line(line) if line is not None else ("end", "")
        if open_block and open_block.kind == "text" and (kind == "underline" or _is_title(open_block, kind)):
            open_block.kind = "heading"
        if open_block and open_block.kind == "row" and kind == "row rule":
            open_block.kind = "head"
        continues = kind == "text" and open_block is not None and open_block.kind in ("text", "item")
        if continues and open_block is not None:
            open_block.text += f" {said}"
            continue
        if open_block and (shown := without_marks(open_block.text)):
            yield _Block(open_block.kind, shown)
        open_block = _Block(kind, said) if said and kind in ("text", "item", "row", "heading") else None


def _is_title(block: _Block, next_line: str) -> bool:
    """A short line without an end, followed by a blank line and more; at the end it would be a cut sentence."""
    closed = block.text[-1] in (*_ENDS, ":") or re.search(r"[.!?]\s", block.text)
    return next_line == "blank" and len(block.text) <= LONGEST_TITLE and not closed


def _read_line(line: str) -> tuple[str, str]:
    """What a line is, and its text without the mark that says so."""
    line = _QUOTE.sub("", line)
    if not line.strip() or _FENCE.match(line):
        return "blank", ""
    if heading := _HEADING.match(line):
        return "heading", heading[1]
    if _UNDERLINE.match(line):
        return "underline", ""
    if _ROW_RULE.match(line) and "|" in line and "-" in line:
        return "row rule", ""
    if _RULE.match(line):
        return "blank", ""
    if item := _ITEM.match(line):
        return "item", item[1]
    if row := _ROW.match(line):
        return "row", row[1]
    return "text", line.strip()
