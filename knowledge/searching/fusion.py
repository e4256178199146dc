"""Fusion: several rankings of the same passages made into one."""

from collections.abc import Sequence
from typing import Final

CONSTANT: Final = 60  # of the paper: how little the first ranks stand out


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], constant: int = CONSTANT) -> list[tuple[int, float]]:
    """Items with the sum of ``1 / (constant + rank)`` over the rankings that hold them, highest first.

    Equal sums stand in the order in which the items are met, the first ranking first. Source: Cormack, Clarke and
    Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning methods, SIGIR 2009.

    Args:
        rankings: places of items, best first, each at most once.
        constant: 60 in the paper.

    >>> reciprocal_rank_fusion([[7, 8], [8]], constant=1)
    [(8, 0.8333333333333333), (7, 0.5)]
    """
    sums: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            sums[item] = sums.get(item, 0.0) + 1 / (constant + rank)
    return sorted(sums.items(), key=lambda pair: -pair[1])
