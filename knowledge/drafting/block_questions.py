"""Block questions: what headings, tables and lists of a document answer."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .blocks import Block, Sentence, plain, sentences_of
from .draft import Asked
from .phrases import FIRST_PERSON, asked_by_reader

_ASKS: Final = re.compile(
    r"(?:how|what|which|when|where|why|who|whom|whose|can|could|do|does|did|is|are|was|were|will|would|should|may|must)\b",
    re.IGNORECASE,
)
# These ask the reader, who then is told what to do.
_OF_READER: Final = re.compile(r"(?:are|is|were|have|has|do|did|would|could|will) (?:you|your)\b", re.IGNORECASE)
_MOST_ANSWERED: Final = 300  # characters of an answer that is a paragraph
_COLUMNS: Final = re.compile(
    r"(?:price|cost|fee|weight|height|length|width|size|age|range|capacity|duration|date|year|population|area|capital"
    r"|speed|term|warranty|deposit|rate|interest|discount|number|address|phone|email|code|limit|deadline|colou?r|power"
    r"|distance|temperature|version|currency|language|symbol)s?",
    re.IGNORECASE,
)
_LISTED: Final = re.compile(
    r"(?P<person>We|You)\s(?P<modal>(?:can|must|may|should|will)?)\s?(?P<verb>[a-z]+(?:\s(?:in|to|for|with|from|on))?)\s"
    r"(?:these|the following|(?:one|any|all) of (?:these|the following))\s(?P<what>[a-z][\w\s-]{2,50}):"
)
Placed = tuple[Asked, int, int]


def asked_in_text(text: str, blocks: Sequence[Block]) -> Iterator[Placed]:
    """Questions that the text asks itself, in a heading or at the beginning of a paragraph, with what follows them."""
    for place, block in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        heading = plain(text[block.start : block.end])
        if block.kind == "heading" and heading.endswith("?") and following is not None and following.kind == "text":
            yield from _answered(heading, [*sentences_of(text, following)])
        elif block.kind in ("text", "item"):
            sentences = [*sentences_of(text, block)]
            if len(sentences) > 1 and sentences[0].text.endswith("?"):
                yield from _answered(sentences[0].text, sentences[1:])
            elif len(sentences) == 1 and heading.endswith("?") and following is not None and following.kind == "text":
                yield from _answered(heading, [*sentences_of(text, following)])


def _answered(question: str, sentences: Sequence[Sentence]) -> Iterator[Placed]:
    bare = re.sub(r"^(?:Q(?:uestion)?\s*\d*\s*[:.)]|\d+[.)])\s*", "", question)
    if not _ASKS.match(bare) or _OF_READER.match(bare) or len(bare.split()) < 4 or not sentences:
        return
    said = re.sub(r"^A(?:nswer)?\s*\d*\s*[:.)]\s*", "", " ".join(sentence.text for sentence in sentences))
    if len(said) <= _MOST_ANSWERED and "?" not in said:
        yield (
            Asked(bare[:1].upper() + bare[1:], said, "question in the text", ""),
            sentences[0].start,
            sentences[-1].end,
        )


def asked_of_table(text: str, block: Block) -> Iterator[Placed]:
    """What the columns of a table say of that which its first column names."""
    rows = list(_rows(text, block))
    if len(rows) < 3 or not set("".join(cell for cell, _, _ in rows[1])) <= set(":- "):
        return
    names = [cell for cell, _, _ in rows[0]]
    if not names or not names[0]:
        return
    for row in rows[2:]:
        label = row[0][0]
        for name, (cell, _, _) in zip(names[1:], row[1:], strict=False):
            if not (label and cell and _COLUMNS.fullmatch(name.split()[-1] if name else "")):
                continue
            whose = _labelled(label, block.heading, names[0])
            if whose:
                start, end = row[0][1], row[-1][2]
                asked = f"What is the {name[:1].lower()}{name[1:]} {whose}?"
                yield Asked(asked, cell, "table", whose), start, end


def _labelled(label: str, heading: str, called: str) -> str:
    """What a row of a table is about, in words; blank where nobody could tell."""
    if len(label) > 60 or re.search(r"[.!?:;]", label):
        return ""
    inner = f"{label[:1].lower()}{label[1:]}" if label.split()[0][1:].islower() or len(label.split()[0]) == 1 else label
    if re.match(r"[\d,.]+(?:\s\S+)?$", label):
        return f"for {called.lower()} {label} ({heading})" if heading else ""
    return f"for “{inner}” ({heading})" if heading and len(label.split()) < 3 else f"for “{inner}”"


def _rows(text: str, block: Block) -> Iterator[list[tuple[str, int, int]]]:
    place = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        cells, at = [], place
        for piece in re.split(r"((?<!\\)\|)", line):
            if piece != "|":
                bare = piece.strip()
                begin = at + piece.find(bare) if bare else at
                cells.append((plain(bare), begin, begin + len(bare)))
            at += len(piece)
        if cells and not cells[0][0]:
            cells = cells[1:]
        if cells and not cells[-1][0]:
            cells = cells[:-1]
        yield cells
        place += len(line)


def asked_of_list(text: str, blocks: Sequence[Block]) -> Iterator[Placed]:
    """What a list holds that a sentence before it announces."""
    for place, block in enumerate(blocks):
        found = _LISTED.fullmatch(plain(text[block.start : block.end])) if block.kind == "text" else None
        if found is None:
            continue
        items = []
        for following in blocks[place + 1 :]:
            if following.kind != "item":
                break
            items.append(following)
        if 2 <= len(items) <= 8:
            asked = f"which {found['what']} {found['modal'] or 'do'} {found['person'].lower()} {found['verb']}?"
            answer = "; ".join(plain(text[item.start : item.end]).rstrip(".;,") for item in items)
            asked = asked_by_reader(asked) if FIRST_PERSON.search(asked) else asked
            if len(answer) <= _MOST_ANSWERED * 2:
                yield Asked(asked[:1].upper() + asked[1:], answer, "list", ""), block.start, items[-1].end
