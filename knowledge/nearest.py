"""Nearest: what was probably meant by a name that is not known."""

import difflib
from collections.abc import Iterable


def nearest_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """The known name that is most like this one; blank where none is.

    ``cutoff`` is how alike they must be, from 0 to 1 (``difflib.SequenceMatcher.ratio``).
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=cutoff)
    return near[0] if near else ""


def did_you_mean(name: str, known: Iterable[str], say: str = " Did you mean {!r}?", cutoff: float = 0.6) -> str:
    """The end of a sentence on an unknown name; blank where no known one is like it.

    >>> did_you_mean("ragg", ["faq", "rag"]), did_you_mean("ragg", ["faq", "rag"], "; did you mean {}?")
    (" Did you mean 'rag'?", '; did you mean rag?')
    """
    near = nearest_name(name, known, cutoff)
    return say.format(near) if near else ""
