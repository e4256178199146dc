"""Data blocks: the data of a page by name, all of them for a file, or one that a server is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from .columns import Column, origins
from .row_details import detail_block, detail_blocks, passage_block, passage_blocks
from .row_index import row_index

Numbers = Callable[[Sequence[Column]], list[int]]
Block = Callable[[Sequence[Column], int], bytes]

# Those of a run, by the beginning of their names; NAME-ORIGIN-NUMBER is the whole name.
_NUMBERED: Final[dict[str, tuple[Numbers, Block]]] = {
    "details": (detail_blocks, detail_block),
    "passages": (passage_blocks, passage_block),
}
_NAME: Final = re.compile(r"(\w+)-(\d{1,6})-(\d{1,12})")


def data_blocks(columns: Sequence[Column]) -> Iterator[tuple[str, bytes]]:
    """All blocks of a page with their JSON, one after the other."""
    yield "rows", row_index(columns)
    for origin in range(len(origins(columns))):
        own = _own(columns, origin)
        for name, (numbers, block) in _NUMBERED.items():
            for number in numbers(own):
                yield f"{name}-{origin}-{number}", block(own, number)


def data_block(columns: Sequence[Column], name: str) -> bytes | None:
    """One block by its name; None where there is no such block."""
    if name == "rows":
        return row_index(columns)
    found = _NAME.fullmatch(name)
    if found is None or found[1] not in _NUMBERED or not (own := _own(columns, int(found[2]))):
        return None
    return _NUMBERED[found[1]][1](own, int(found[3]))


def _own(columns: Sequence[Column], origin: int) -> list[Column]:
    return [column for column in columns if column.origin == origin]
