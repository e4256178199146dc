"""Manifest parts: what a manifest holds under a name, which may be of an old version or somebody else's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def mapping_in(value: object) -> Mapping[str, Any]:
    """The value where it is a mapping, else an empty one.

    >>> mapping_in({"count": 3}), mapping_in(None)
    ({'count': 3}, {})
    """
    return value if isinstance(value, Mapping) else {}
