"""The end of a message about an unknown name: what may have been meant."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], separator: str = "; ") -> str:
    """The end of a sentence about an unknown name: what it may have been meant to be."""
    names = {each.lower(): each for each in sorted(known)}
    close = [names[each] for each in difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)]
    return f"{separator}did you mean '{close[0]}'?" if close else "."
