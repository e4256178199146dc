"""Known words: common words of English, so that a slip of a finger makes none of them by chance."""

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from .rewording import Change, changed
from .word_lists import antonyms, synonyms

_WORDS: Final = Path(__file__).parent / "words.json"  # counted in encyclopaedic texts, up to eight letters
_RUN: Final = re.compile(r"[^\W\d_]+")


@cache
def known_words() -> frozenset[str]:
    """Common words of English of two letters and more, and all that our lists of synonyms and antonyms know."""
    lines: list[str] = json.loads(_WORDS.read_text("utf-8"))
    return frozenset({word for line in lines for word in line.split()} | synonyms().keys() | antonyms().keys())


class Runs:
    """The runs of letters in a text, and what changes make of them.

    Attributes:
        count: of the changes that were taken.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._of = {place: match.span() for match in _RUN.finditer(text) for place in range(*match.span())}
        self._made: dict[int, list[Change]] = {}
        self._lengths: dict[int, int] = {}
        self.count = 0

    @property
    def changes(self) -> list[Change]:
        """All that were taken."""
        return [change for changes in self._made.values() for change in changes]

    def fits(self, place: int, options: Sequence[Change]) -> bool:
        """Whether any of the changes at a place makes no word when it is made alone."""
        start, end = self._of[place]
        return any(not self._is_word(start, end, end - start + _longer(option), [option]) for option in options)

    def take(self, place: int, change: Change) -> bool:
        """Take a change unless it and those before it make another word; whether it was taken."""
        start, end = self._of[place]
        made = self._made.setdefault(start, [])
        length = self._lengths.get(start, end - start) + _longer(change)
        made.append(change)
        if self._is_word(start, end, length, made):
            made.pop()
            return False
        self._lengths[start] = length
        self.count += 1
        return True

    def _is_word(self, start: int, end: int, length: int, changes: Sequence[Change]) -> bool:
        if length > _longest():
            return False
        inside = [Change(change.start - start, change.end - start, change.new) for change in changes]
        return changed(self._text[start:end], inside).lower() in known_words()


def _longer(change: Change) -> int:
    return len(change.new) - (change.end - change.start)


@cache
def _longest() -> int:
    return max(map(len, known_words()))
