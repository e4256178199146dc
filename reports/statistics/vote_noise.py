"""Vote noise: how much the majority of several votes would vary if they were cast again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

CERTAIN = 1e6  # strength of a spread at which all items have one and the same chance of a yes


def majority_variance(ballots: Sequence[tuple[int, int]]) -> float | None:
    """Mean variance of the majority's word (0 or 1) on an item, were all its votes cast anew.

    Chances of a yes differ from item to item by a beta distribution whose two moments are those of the votes: the share
    of yes, and the mean of p(1 - p), of which yes * no / (n * (n - 1)) of one item is an unbiased estimate. The
    majority's word is yes with the chance P(p), and its variance the mean of P(p) * (1 - P(p)). A tie is broken by one
    more vote.

    Args:
        ballots: for each item the votes that say yes, and all readable votes.

    Returns:
        None with fewer than two votes on every item.

    Source: Skellam 1948 (beta-binomial; here by unbiased moments).
    """
    several = [(yes, votes) for yes, votes in ballots if votes > 1]
    if not several:
        return None
    share = fmean(yes / votes for yes, votes in several)
    single = fmean(yes * (votes - yes) / (votes * (votes - 1)) for yes, votes in several)
    if single <= 0:
        return 0.0
    most = share * (1 - share)
    strength = min(single / (most - single), CERTAIN) if most > single else CERTAIN
    votes = round(fmean(votes for _, votes in several))
    return _expected_variance(share * strength, (1 - share) * strength, votes)


def _expected_variance(yes: float, no: float, votes: int) -> float:
    """Mean of P * (1 - P) over a beta distribution: that of two panels the first says yes and the second no."""
    cast = votes if votes % 2 else votes + 1  # one more vote in a tie makes the chance that of an odd number
    winning = range(cast // 2 + 1, cast + 1)
    return sum(
        math.comb(cast, first) * math.comb(cast, second)
        * math.exp(_log_beta(yes + first + cast - second, no + cast - first + second) - _log_beta(yes, no))
        for first in winning
        for second in winning
    )  # fmt: skip


def _log_beta(first: float, second: float) -> float:
    return math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)
