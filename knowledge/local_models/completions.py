"""Completions: what a language model is asked to score, and the prefix before it, cut to what the window leaves."""

from collections.abc import Callable
from typing import NamedTuple

from .running import Item


class Completion(NamedTuple):
    """A text that is scored after a prefix of three parts; see ``Continued`` for what they mean.

    It is an item of a batch, so all of it is text; ``stride`` is a number or blank.
    """

    text: str
    before: str = ""
    source: str = ""
    after: str = ""
    stride: str = ""

    @classmethod
    def of(cls, item: Item) -> "Completion":
        """What an item of a batch stands for."""
        return cls(*item)

    @property
    def prefix(self) -> str:
        """All that stands before the text."""
        return self.before + self.source + self.after


def shortened(completion: Completion, room: int, count: Callable[[str], int]) -> str | None:
    """The prefix with as much of the source's beginning as has room; None where it has none without any source.

    The cut is between characters, and the prefix is tokenized anew as one text. Found by halving: a longer source is
    taken to have at least as many tokens.

    Args:
        completion: whose prefix is too long.
        room: how many tokens the prefix may have.
        count: how many tokens a text has.

    >>> shortened(Completion("", "Say: ", "a b c d e", " Now:"), 5, lambda text: len(text.split()))
    'Say: a b c Now:'
    """
    before, source, after = completion.before, completion.source, completion.after
    if count(before + after) > room:
        return None
    fits, too_long = 0, len(source) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if count(before + source[:middle] + after) <= room:
            fits = middle
        else:
            too_long = middle
    return before + source[:fits] + after
