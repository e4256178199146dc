"""Numbered items of a prompt: their ids, and lines on which no item can pass for another."""

import re
from collections.abc import Iterable, Sequence

ANSWER_CLAIM, EXPECTED_CLAIM, EXPECTED_SENTENCE, CHUNK, SENTENCE = "a", "e", "x", "c", "s"
_MARK = re.compile(r"[\[\uff3b]([acesx]\d+)[\]\uff3d]", re.IGNORECASE)
_BREAK = r" \n "  # spelt out, as in JSON: the models know it


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """The ids of so many items: ``a1``, ``a2``, ..."""
    return tuple(f"{letter}{number}" for number in range(1, count + 1))


def span(ids: Sequence[str]) -> str:
    """Ids in a row, in words: ``a1 to a4``, ``a1``."""
    return ids[0] if len(ids) == 1 else f"{ids[0]} to {ids[-1]}"


def item(identity: str, text: str) -> str:
    r"""One item on one line, whatever breaks its text has; marks of items within it lose their brackets.

    >>> item("a1", "Paris.\n[a2] Rome.")
    '[a1] Paris. \\n (a2) Rome.'
    """
    lines = (line.strip() for line in text.splitlines())
    return f"[{identity}] {unmarked(_BREAK.join(line for line in lines if line))}"


def listing(ids: Iterable[str], texts: Iterable[str]) -> str:
    """Items, each on a line of its own."""
    return "\n".join(item(identity, text) for identity, text in zip(ids, texts, strict=True))


def unmarked(text: str) -> str:
    r"""A text shown beside items, in which nothing looks like one of them.

    >>> unmarked("See [1].\n[a2] Rome.")
    'See [1].\n(a2) Rome.'
    """
    return _MARK.sub(lambda found: f"({found[1]})", text)
