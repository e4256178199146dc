"""Known words: words of English, so that a slip of a finger makes none of them by chance."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from ..onnx_encoder import packaged_folder
from .antonym import opposites
from .rewording import Change, changed
from .word_lists import synonyms

_LONGEST: Final = 8  # letters: a slip hardly makes another word of a longer one
_SHORT: Final = "ad ah am an as at be by do go he hi if in is it me my no of oh ok on or ox so to up us we"
_RUN: Final = re.compile(r"[^\W\d_]+")


@cache
def known_words() -> frozenset[str]:
    """The words in the vocabulary of the embedded model, and all that our lists of synonyms and antonyms know.

    Of two letters only those that are words: the vocabulary has nearly every pair.

    Raises:
        InputError: the embedded model is not installed.
    """
    vocabulary = (packaged_folder() / "vocab.txt").read_text("utf-8").split()
    words = {word for word in vocabulary if word.isascii() and word.isalpha() and 2 < len(word) <= _LONGEST}
    return frozenset(words | set(_SHORT.split()) | synonyms().keys() | opposites().keys())


class Runs:
    """The runs of letters in a text, and what changes make of them.

    No run takes more than twice the share of changes, or a reader could not tell what it was.

    Attributes:
        count: of the changes that were taken.
    """

    def __init__(self, text: str, share: float = 1.0) -> None:
        self._text = text
        self._share = share
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
        if len(made) >= max(1, int(2 * self._share * (end - start))):
            return False
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
