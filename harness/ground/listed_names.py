"""Listed names: documents, bots or questions as a sentence names them, of many the first few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_NAMED: Final = 5


def listed(names: Sequence[str]) -> str:
    """Names in a sentence, of many the first few."""
    if len(names) > _NAMED:
        return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
