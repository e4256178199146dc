"""Text difference: two texts line by line, and within changed lines word by word, as a page shows them."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["same", "gone", "come"]

LONGEST: Final = 50_000  # characters of a text that are compared; more than a prompt that a model reads
AROUND: Final = 3  # lines that are shown around a change
MOST_WORDS: Final = 1_500  # of a block of lines in which words are looked for; the work grows with the square
ALIKE: Final = 0.3  # share of words in common below which lines are other lines, and not the same ones reworded
WORDS: Final = re.compile(r"\w+|\s|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line; ``changed`` where its words differ from those of the other side."""

    text: str
    changed: bool = False


Pieces = tuple[Piece, ...]  # of a line


@dataclass(frozen=True, slots=True)
class Line:
    """A line of either text, with its number there; None where the other text has none."""

    kind: Kind
    base_number: int | None
    head_number: int | None
    pieces: Pieces

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines that follow one another; ``is_far`` for unchanged ones that no change is near."""

    lines: tuple[Line, ...]
    is_far: bool = False


def stretches(base: str, head: str, around: int = AROUND) -> list[Stretch]:
    r"""The lines of both texts in stretches near and far from a change.

    >>> [(each.is_far, len(each.lines)) for each in stretches("a\nb\nc\nd\ne", "a\nb\nc\nd\nE", around=1)]
    [(True, 3), (False, 3)]
    """
    lines = line_difference(base, head)
    changed = [place for place, line in enumerate(lines) if line.kind != "same"]
    near = {place + step for place in changed for step in range(-around, around + 1)}
    marked = itertools.groupby(enumerate(lines), key=lambda each: each[0] not in near)
    return [Stretch(tuple(line for _, line in group), is_far) for is_far, group in marked]


def line_difference(base: str, head: str) -> list[Line]:
    """Every line of both texts once; what is gone stands before what came in its place."""
    old, new = base.splitlines(), head.splitlines()
    found = difflib.SequenceMatcher(None, old, new, autojunk=len(old) + len(new) > MOST_WORDS)
    lines: list[Line] = []
    for how, old_start, old_end, new_start, new_end in found.get_opcodes():
        if how == "equal":
            lines += [
                Line("same", old_start + place + 1, new_start + place + 1, (Piece(text),))
                for place, text in enumerate(old[old_start:old_end])
            ]
        else:
            gone, come = _emphasised(old[old_start:old_end], new[new_start:new_end])
            lines += [Line("gone", old_start + place + 1, None, pieces) for place, pieces in enumerate(gone)]
            lines += [Line("come", None, new_start + place + 1, pieces) for place, pieces in enumerate(come)]
    return lines


def _emphasised(old: Sequence[str], new: Sequence[str]) -> tuple[list[Pieces], list[Pieces]]:
    """The lines of a block with the words that differ; none of them where the lines have little in common.

    Of as many lines on both sides each is compared with its fellow, else the block with the block.
    """
    if len(old) == len(new) > 1:
        pairs = [_emphasised([one], [other]) for one, other in zip(old, new, strict=True)]
        return [each[0][0] for each in pairs], [each[1][0] for each in pairs]
    words = [WORDS.findall("\n".join(lines)) for lines in (old, new)]
    plain: list[list[Pieces]] = [[(Piece(line),) for line in lines] for lines in (old, new)]
    if not old or not new or max(map(len, words)) > MOST_WORDS:
        return plain[0], plain[1]
    found = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    if _common(words[0], found) < ALIKE * max(_count(words[0]), _count(words[1])):
        return plain[0], plain[1]
    kept: list[list[bool]] = [[False] * len(words[0]), [False] * len(words[1])]
    for start, other, size in found.get_matching_blocks():
        ends = (start + size, other + size) == (len(words[0]), len(words[1]))
        if ends or start == other == 0 or _count(words[0][start : start + size]):
            kept[0][start : start + size] = kept[1][other : other + size] = [True] * size  # blanks alone part nothing
    return list(_lines(words[0], kept[0])), list(_lines(words[1], kept[1]))


def _common(words: Sequence[str], found: difflib.SequenceMatcher[str]) -> int:
    """Words in common, without the blanks and stops that any two texts have in common."""
    return sum(_count(words[start : start + size]) for start, _, size in found.get_matching_blocks())


def _count(words: Sequence[str]) -> int:
    return sum(word[0].isalnum() for word in words)


def _lines(words: Sequence[str], kept: Sequence[bool]) -> Iterator[Pieces]:
    """The words of a block as its lines again, neighbours of one kind joined."""
    pieces: list[Piece] = []
    for word, is_kept in [*zip(words, kept, strict=True), ("\n", True)]:
        if word == "\n":
            yield tuple(pieces)
            pieces = []
        elif pieces and pieces[-1].changed != is_kept:
            pieces[-1] = Piece(pieces[-1].text + word, not is_kept)
        else:
            pieces.append(Piece(word, not is_kept))
