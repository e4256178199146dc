"""Texts of reports: made safe for a terminal, and parts of manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def printable(text: str) -> str:
    """The text without control characters, so that no answer or name can steer a terminal."""
    return "".join(character if character.isprintable() else "�" for character in text)


def printable_lines(text: str) -> str:
    """As ``printable``, with the ends of lines left as they are."""
    return "\n".join(printable(line) for line in text.splitlines())


def mapping_in(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one.

    >>> mapping_in({"count": 3}), mapping_in(None)
    ({'count': 3}, {})
    """
    return value if isinstance(value, Mapping) else {}
