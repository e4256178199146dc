"""DocumentPlaces: which passages are left when some documents are taken out of a search."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..documents import Passage

_REMEMBERED: Final = 8  # sets of documents; a mask is a byte for each passage


class DocumentPlaces:
    """Where the passages of each document stand in a list of passages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        """Note the documents; one may have its passages in several places."""
        names: dict[str, int] = {}
        self._owners = np.fromiter((names.setdefault(each.document, len(names)) for each in passages), dtype=np.int64)
        self._names = names
        self._masks = lru_cache(_REMEMBERED)(self._mask)

    def kept(self, without: Collection[str]) -> NDArray[np.bool_] | None:
        """Shape (passages,), True for those of other documents; None where these have no passages. Not to be changed.

        >>> places = DocumentPlaces([Passage("a.md", 0, 1, "x"), Passage("b.md", 0, 1, "y")])
        >>> places.kept({"a.md"}).tolist()
        [False, True]
        """
        return self._masks(frozenset(without)) if without else None

    def _mask(self, without: frozenset[str]) -> NDArray[np.bool_] | None:
        gone = [self._names[name] for name in without if name in self._names]
        if not gone:
            return None
        is_kept = np.ones(len(self._names), dtype=np.bool_)
        is_kept[gone] = False
        mask = is_kept[self._owners]
        mask.flags.writeable = False
        return mask
