"""File room: how much of a run a file of a given size holds, told by how far samples of it can be compressed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from .block_queries import QUESTIONS_A_BLOCK
from .columns import Column
from .row_calls import call_block
from .row_details import PASSAGES_A_BLOCK, detail_block, passage_block

IN_FILE: Final = 1.25  # characters for a byte that was compressed: see ``packing``
# Shares of the room that passages and judge calls take at most, if they need so much; details have the rest.
SHARES: Final = {"passages": 0.25, "calls": 0.1}
FEWEST: Final = {"details": 1_000_000, "passages": 250_000, "calls": 100_000}  # bytes, however large the index is
SLICE: Final = 100_000  # bytes of a sample of one long text

Sizes = Mapping[int, int]


def fitting(columns: Sequence[Column], sizes: Mapping[str, Sizes], room: int, indexed: int) -> dict[str, int]:
    """Bytes, as the sizes have them, of each part that a file has room for.

    Args:
        columns: of one run.
        sizes: by part (``details``, ``passages``, ``calls``) and key, in bytes before they are compressed.
        room: bytes of the file for all three.
        indexed: as of ``detail_block``.
    """
    blocks: dict[str, tuple[int, Callable[[int], bytes]]] = {
        "details": (QUESTIONS_A_BLOCK, lambda number: detail_block(columns, number, indexed=indexed)),
        "passages": (PASSAGES_A_BLOCK, lambda number: passage_block(columns, number, sizes["passages"].__contains__)),
        "calls": (QUESTIONS_A_BLOCK, lambda number: call_block(columns, number)),
    }
    rates = {part: _rate(sizes[part], *block) for part, block in blocks.items()}
    shares = {
        part: max(FEWEST[part], min(share * room, rates[part] * sum(sizes[part].values())))
        for part, share in SHARES.items()
    }
    shares["details"] = max(FEWEST["details"], room - sum(shares.values()))
    return {part: int(share / rates[part]) for part, share in shares.items()}


def in_file(data: bytes) -> int:
    """About how many bytes of a file a long block takes: by three pieces of it."""
    if len(data) <= 3 * SLICE:
        return int(len(zlib.compress(data)) * IN_FILE)
    pieces = [data[start : start + SLICE] for start in (len(data) // 5, len(data) // 2, len(data) * 4 // 5)]
    return int(sum(len(zlib.compress(piece)) for piece in pieces) * IN_FILE * len(data) / (3 * SLICE))


def _rate(sizes: Sizes, keys_a_block: int, block: Callable[[int], bytes]) -> float:
    """Bytes of the file for each byte of the sizes, by up to three blocks; 1 where there is nothing."""
    numbers = sorted({key // keys_a_block for key in sizes})
    if not numbers:
        return 1.0
    sampled = {numbers[len(numbers) * quarter // 4] for quarter in (1, 2, 3)}
    size = sum(size for key, size in sizes.items() if key // keys_a_block in sampled)
    return sum(len(zlib.compress(block(number))) for number in sampled) * IN_FILE / size
