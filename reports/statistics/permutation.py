"""The sign-flip test: how often chance alone would move the mean of paired differences so far."""

from __future__ import annotations

import numpy as np

from .chance import WORD, Figures, octets, words

EXACT = 16  # clusters up to which all sign patterns are gone through
DRAWS = 20_000
TOLERANCE = 1e-9  # so that equal sums stay equal whatever the order of their additions


def sign_flip(sums: Figures, seed: int = 0, draws: int = DRAWS) -> tuple[float, str]:
    """Two-sided mid-p value that the differences of a cluster are as likely to be the other way round, and the test.

    Sign patterns that reach exactly as far as what was seen count half. With few clusters, or yes/no results, the plain
    p value has few steps and finds 5 to 15 points fewer losses than a test that uses all of its 5 of 100; on its own
    the mid-p value would find a difference where there is none up to 6 of 100 times with six clusters, for which
    ``difference`` takes no less than ``cautious_p_values``.

    Args:
        sums: sum of the differences of every cluster; a cluster flips as a whole.
        seed: of the draws.
        draws: how many sign patterns are drawn where they are too many to go through all.

    Source: Fisher 1935; Lancaster 1961 (mid-p); Phipson and Smyth 2010 (what was seen is one of the draws); Ernst 2004.
    """
    size = np.abs(sums)
    moved = sums[size > TOLERANCE * size.max(initial=0.0)]  # a sum of 0 stays 0 either way
    if len(moved) <= EXACT:
        return _as_far(_all_patterns(moved), moved) / 2 ** len(moved) if len(moved) else 1.0, "permutation, exact mid-p"
    found = _drawn(moved, seed, draws)
    return (0.5 + _as_far(found, moved)) / (1 + draws), f"permutation, mid-p of {draws:,} draws"


def _as_far(totals: Figures, sums: Figures) -> float:
    """How many totals are farther from 0 than that of the sums, and half of those that are as far."""
    rounding = TOLERANCE * float(np.abs(sums).sum())
    beyond = np.abs(totals) - abs(float(sums.sum()))
    return float((beyond > rounding).sum() + (np.abs(beyond) <= rounding).sum() / 2)


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
