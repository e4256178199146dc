"""Texts of reports: made safe for a terminal, and parts of manifests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

# Within an interval in brackets, behind "p" and before "%".
_WITHIN_FIGURES: Final = re.compile(r"(?<=\d,) (?=[-+\d.][-+\d.,]*\\?\])|(?<=\bp) (?=[<=.\d&])|(?<=\d) (?=%)")


def printable(text: str) -> str:
    """The text without control characters, so that no answer or name can steer a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def printable_lines(text: str) -> str:
    """As ``printable``, with the ends of lines left as they are."""
    return "\n".join(printable(line) for line in text.splitlines())


def count(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there is not one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def unbroken(text: str) -> str:
    r"""The text with its intervals, p values and percentages each on one line, however narrow the page.

    >>> unbroken("36 % right [28, 44], p .41").split(" ")
    ['36\xa0%', 'right', '[28,\xa044],', 'p\xa0.41']
    """
    return _WITHIN_FIGURES.sub("\N{NO-BREAK SPACE}", text)


def mapping_in(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one.

    >>> mapping_in({"count": 3}), mapping_in(None)
    ({'count': 3}, {})
    """
    return value if isinstance(value, Mapping) else {}
