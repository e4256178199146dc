"""The sign-flip test: how often chance alone would move the mean of paired differences so far."""

from __future__ import annotations

import numpy as np

from .chance import WORD, Figures, octets, words

EXACT = 16  # clusters up to which all sign patterns are gone through
DRAWS = 20_000
TOLERANCE = 1e-9  # so that equal sums stay equal whatever the order of their additions


def sign_flip(sums: Figures, seed: int = 0, draws: int = DRAWS) -> tuple[float, str]:
    """Two-sided p value that the differences of a cluster are as likely to be the other way round, and the test's name.

    Args:
        sums: sum of the differences of every cluster; a cluster flips as a whole.
        seed: of the draws.
        draws: how many sign patterns are drawn where they are too many to go through all.

    Source: Fisher 1935; Phipson and Smyth 2010 ((1 + b) / (1 + N), never 0); Ernst 2004.
    """
    size = np.abs(sums)
    moved = sums[size > TOLERANCE * size.max(initial=0.0)]  # a sum of 0 stays 0 either way
    if len(moved) <= EXACT:
        return _share_as_far(_all_patterns(moved), moved), "permutation, exact"
    found = _drawn(moved, seed, draws)
    return (1 + _share_as_far(found, moved) * draws) / (1 + draws), f"permutation, {draws:,} draws"


def _share_as_far(totals: Figures, sums: Figures) -> float:
    reached = abs(float(sums.sum())) - TOLERANCE * float(np.abs(sums).sum())
    return int((np.abs(totals) >= reached).sum()) / len(totals)


def _all_patterns(sums: Figures) -> Figures:
    """The totals of the last axis under every pattern of signs: as many as 2 to the power of its length.

    The lowest bit of a pattern's place is the sign of the first sum, set for +.
    """
    totals = np.zeros((*sums.shape[:-1], 1))
    for place in range(sums.shape[-1]):
        one = sums[..., place : place + 1]
        totals = np.concatenate([totals - one, totals + one], axis=-1)
    return totals


def _drawn(sums: Figures, seed: int, draws: int) -> Figures:
    """The totals under drawn signs.

    Every 8 clusters have 256 patterns, whose totals are looked up by a byte of chance: an eighth of the additions, in
    an order that is the same on every machine.
    """
    totals = np.zeros(draws)
    for start, word in zip(range(0, len(sums), WORD), words(seed, draws, len(sums)), strict=True):
        part = np.zeros(WORD)  # clusters that there aren't add nothing
        part[: len(sums) - start] = sums[start : start + WORD]
        patterns = _all_patterns(part.reshape(8, 8))
        for place, octet in enumerate(octets(word).T):
            if start + 8 * place < len(sums):
                totals += patterns[place][octet]
    return totals
