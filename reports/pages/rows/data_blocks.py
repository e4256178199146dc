"""Data blocks: the data of a page by name, all of them for a file, or one that a server is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from .block_queries import Wanted, all_of_them, block_numbers
from .carried import Carried, Limits, carried
from .columns import Column, origins
from .file_room import in_file
from .row_calls import call_block, prompt_block
from .row_details import PASSAGES_A_BLOCK, detail_block, passage_block, passage_ids
from .row_index import row_index

Block = Callable[[Sequence[Column], int, Wanted], bytes]

# Those of a run, by the beginning of their names; NAME-ORIGIN-NUMBER is the whole name.
_NUMBERED: Final[dict[str, Block]] = {
    "details": detail_block,
    "passages": passage_block,
    "calls": call_block,
    "prompts": prompt_block,
}
_NAME: Final = re.compile(r"([a-z]+)-(0|[1-9][0-9]{0,3})-(0|[1-9][0-9]{0,11})")
PARTS: Final = ("details", "passages", "calls")  # of which a file may hold less than there is
NO_CALLS: Final = b'{"requests":[],"questions":{}}'
EMPTY: Final = (b"{}", NO_CALLS)


def data_blocks(columns: Sequence[Column], limits: Limits = Limits()) -> Iterator[tuple[str, bytes]]:  # noqa: B008 - frozen
    """All blocks of a page with their JSON, one after the other; what would make the file too large is left out."""
    index = row_index(columns, limits.texts)
    runs = [_own(columns, origin) for origin in origins(columns)]
    room = None
    if limits.file is not None and runs:
        room = limits.file - in_file(index.written({part: [] for part in PARTS})) // len(runs)
    kept = [
        carried(own, index.worst_first(place), limits, room, index.longest) for place, own in enumerate(runs)
    ]  # fmt: skip
    yield "rows", index.written({part: [getattr(each, part).left_out for each in kept] for part in PARTS})
    longest = index.longest
    del index  # as large as the run
    for own, part in zip(runs, kept, strict=True):
        yield from _blocks_of(own, part, longest)


def _blocks_of(own: Sequence[Column], kept: Carried, longest: int) -> Iterator[tuple[str, bytes]]:
    origin = own[0].origin
    for number in block_numbers(own):
        yield f"details-{origin}-{number}", detail_block(own, number, kept.details.wanted, longest)
        calls = call_block(own, number, kept.calls.wanted)
        if calls != NO_CALLS:
            yield f"calls-{origin}-{number}", calls
    prompts = prompt_block(own)
    if prompts != b"{}":
        yield f"prompts-{origin}-0", prompts
    needed = {passage for passage in passage_ids(own) if kept.passages.wanted(passage)}
    for number in sorted({passage // PASSAGES_A_BLOCK for passage in needed}):
        yield f"passages-{origin}-{number}", passage_block(own, number, needed.__contains__)


def data_block(columns: Sequence[Column], name: str) -> bytes | None:
    """One block by its name, whole however large the run is; None where there is no such block."""
    if name == "rows":
        return row_index(columns).written({part: [0] * len(origins(columns)) for part in PARTS})
    found = _NAME.fullmatch(name)
    if found is None or found[1] not in _NUMBERED or not (own := _own(columns, int(found[2]))):
        return None
    made = _NUMBERED[found[1]](own, int(found[3]), all_of_them)
    return None if made in EMPTY else made


def _own(columns: Sequence[Column], origin: int) -> list[Column]:
    return [column for column in columns if column.origin == origin]
