"""Chance: signs and resamples from raw bits, the same for a seed on every machine.

numpy promises that the raw bits of a PCG64 stay what they are; it doesn't promise that of what a ``Generator`` makes of
them, so signs and places are made of the bits here.

Source: numpy's policy on streams (NEP 19); Lemire 2019 (a place in a range by multiplication).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]
Words = NDArray[np.uint64]

WORD = 64  # bits of a raw number


def words(seed: int, draws: int, count: int) -> Iterator[Words]:
    """For every 64 of ``count`` units in turn, one raw number per draw; its lowest bit is the first unit's."""
    source = np.random.PCG64(seed)
    for _ in range(-(-count // WORD)):
        yield source.random_raw(draws)


def signs(seed: int, draws: int, count: int) -> NDArray[np.int8]:
    """Fair signs, -1 or +1, of shape (draws, count)."""
    columns = [_bits(word) for word in words(seed, draws, count)]
    flat = np.concatenate(columns, axis=1)[:, :count] if columns else np.zeros((draws, 0), np.uint8)
    return (flat.astype(np.int8) * 2 - 1).astype(np.int8)


def _bits(word: Words) -> NDArray[np.uint8]:
    """The 64 bits of every number, lowest first, whatever the byte order of the machine."""
    return np.unpackbits(octets(word), axis=1, bitorder="little")


def octets(word: Words) -> NDArray[np.uint8]:
    """The 8 bytes of every number, lowest first, of shape (numbers, 8)."""
    return word.astype("<u8").view(np.uint8).reshape(len(word), 8)


def resamples(seed: int, draws: int, count: int) -> NDArray[np.intp]:
    """Places 0 to count - 1 drawn with replacement, of shape (draws, count).

    Every place takes 32 bits; one is likelier than another by less than count / 2**32.
    """
    source = np.random.PCG64(seed)
    numbers = source.random_raw(-(-draws * count // 2)).astype("<u8").view("<u4")[: draws * count]
    places = (numbers.astype(np.uint64) * np.uint64(count)) >> np.uint64(32)
    return places.astype(np.intp).reshape(draws, count)


def uniforms(seed: int, draws: int, count: int) -> Figures:
    """Numbers between 0 and 1, neither of them, of shape (draws, count)."""
    raw = np.random.PCG64(seed).random_raw(draws * count) >> np.uint64(11)
    return ((raw.astype(np.float64) + 0.5) / 2.0**53).reshape(draws, count)
