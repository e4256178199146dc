import math

import numpy as np
import pytest
from proctor.reports.statistics.variance import majority_variance


def test_equal_votes_don_t_vary_and_single_ones_don_t_tell():
    assert majority_variance([(3, 3), (0, 3), (3, 3)]) == 0.0
    assert majority_variance([(1, 1), (0, 1)]) is None
    assert majority_variance([]) is None


def test_coins_vary_as_coins():
    """Votes as mixed as those of fair coins: any majority of them is a fair coin, too."""
    assert majority_variance([(3, 3), (2, 3), (2, 3), (2, 3), (1, 3), (1, 3), (1, 3), (0, 3)]) == pytest.approx(
        0.25, rel=1e-5
    )


@pytest.mark.parametrize(("yes", "no", "votes"), [(0.3, 0.1, 3), (2, 1, 3), (5, 0.5, 5), (0.5, 0.5, 2)])
def test_the_variance_of_fresh_majorities_is_found(yes, no, votes):
    chance = np.random.default_rng(3)
    p = chance.beta(yes, no, 6000)
    cast = votes if votes % 2 else votes + 1
    majority = sum(math.comb(cast, k) * p**k * (1 - p) ** (cast - k) for k in range(cast // 2 + 1, cast + 1))
    found = majority_variance([(int(k), votes) for k in chance.binomial(votes, p)])
    assert found == pytest.approx(float((majority * (1 - majority)).mean()), rel=0.1)


def test_it_does_not_matter_which_word_is_yes():
    ballots = [(3, 3), (2, 3), (0, 3), (1, 5)]
    assert majority_variance(ballots) == pytest.approx(majority_variance([(of - yes, of) for yes, of in ballots]))
