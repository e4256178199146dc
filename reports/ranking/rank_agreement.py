"""Rank agreement: how far several rankings of the same bots, by metrics or by judges, say the same."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..comparing.score_table import Figures
from .ranking import Ranking

FIRM: Final = 0.95  # share of draws from which on the order of two bots is more than chance


@dataclass(frozen=True, slots=True)
class Against:
    """A ranking that has two bots the other way round than most rankings have them."""

    ranking: str
    above: str
    below: str
    others: int  # rankings that have them the other way round
    alike: int  # rankings that have them as this one has, itself among them
    sureness: float  # share of this ranking's draws with this order

    @property
    def firm(self) -> bool:
        """Whether this ranking is sure of the order, so that it is more than noise."""
        return self.sureness >= FIRM


@dataclass(frozen=True)
class RankAgreement:
    """How far rankings agree.

    Attributes:
        names: what the rankings are by.
        taus: of shape (rankings, rankings), Kendall's tau-b over the bots that both rank; NaN where one has no order.
        concordance: Kendall's W over the rankings that rank all the bots, corrected for ties; None with fewer than two.
        complete: places of those rankings.
        against: where one differs from the majority of the others.
    """

    names: tuple[str, ...]
    taus: Figures
    concordance: float | None
    complete: tuple[int, ...]
    against: tuple[Against, ...]

    @property
    def mean_tau(self) -> float | None:
        """Mean tau over all pairs of rankings that rank all the bots; None without any."""
        taus = self.taus[np.ix_(self.complete, self.complete)]
        upper = taus[np.triu_indices(len(taus), 1)]
        known = upper[np.isfinite(upper)]
        return float(known.mean()) if len(known) else None


def agreement(rankings: Mapping[str, Ranking]) -> RankAgreement:
    """Compare rankings with one another, pair by pair and all together."""
    names = tuple(rankings)
    bots = list(dict.fromkeys(bot for ranking in rankings.values() for bot in ranking.bots))
    ranks = np.full((len(names), len(bots)), np.nan)
    for line, ranking in enumerate(rankings.values()):
        ranks[line, [bots.index(bot) for bot in ranking.bots]] = ranking.ranks
    taus = np.array([[kendall_tau(one, other) for other in ranks] for one in ranks]).reshape(len(names), len(names))
    complete = np.flatnonzero(np.isfinite(ranks).all(axis=1))
    against = tuple(_against(rankings, bots, ranks))
    return RankAgreement(names, taus, concordance(ranks[complete]), tuple(complete.tolist()), against)


def kendall_tau(one: Figures, other: Figures) -> float:
    """Kendall's tau-b of two rankings over what both rank; NaN where either has all in one place.

    Source: Kendall 1945 (the treatment of ties).

    >>> kendall_tau(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))  # two of three pairs in the same order
    0.3333333333333333
    """
    both = np.isfinite(one) & np.isfinite(other)
    upper = np.triu_indices(int(both.sum()), 1)
    first, second = (np.sign(ranks[both][:, None] - ranks[both])[upper] for ranks in (one, other))
    pairs = float(np.sqrt(np.count_nonzero(first) * np.count_nonzero(second)))
    return float((first * second).sum() / pairs) if pairs else float("nan")


def concordance(ranks: Figures) -> float | None:
    """Kendall's W of rankings, a line each: 1 when all are the same, 0 when they cancel out; corrected for ties.

    None with fewer than two rankings or bots, or where all tie in all of them.

    Source: Kendall and Babington Smith 1939; Kendall 1962, chapter 6 (ties).

    >>> concordance(np.array([[1.0, 2, 3], [1, 2, 3], [1, 2, 3]]))
    1.0
    """
    judges, items = ranks.shape
    if judges < 2 or items < 2:
        return None
    sums = ranks.sum(axis=0)
    spread = float(((sums - sums.mean()) ** 2).sum())
    ties = 0.0
    for line in ranks:
        _, sizes = np.unique(line, return_counts=True)
        ties += float((sizes.astype(np.float64) ** 3 - sizes).sum())
    most = judges**2 * (items**3 - items) - judges * ties
    return 12 * spread / most if most else None


def _against(rankings: Mapping[str, Ranking], bots: Sequence[str], ranks: Figures) -> list[Against]:
    """For each two bots, the rankings that have them another way than more of the rankings have."""
    found = []
    names = list(rankings)
    for one, other in itertools.combinations(range(len(bots)), 2):
        signs = np.nan_to_num(np.sign(ranks[:, other] - ranks[:, one]))  # 1 where ``one`` is above
        for_one, for_other = int((signs > 0).sum()), int((signs < 0).sum())
        if for_one == for_other or not min(for_one, for_other):
            continue
        minority = 1 if for_one < for_other else -1
        above, below = (bots[one], bots[other]) if minority == 1 else (bots[other], bots[one])
        for line in np.flatnonzero(signs == minority):
            ranking = rankings[names[line]]
            sureness = float(ranking.above[ranking.bots.index(above), ranking.bots.index(below)])
            few, many = sorted((for_one, for_other))
            found.append(Against(names[line], above, below, many, few, sureness))
    return found
