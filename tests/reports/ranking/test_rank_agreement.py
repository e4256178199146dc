"""Whether rankings agree: Kendall's figures against a published example and scipy, and who is in the minority."""

import numpy as np
import pytest
from proctor.reports.ranking.ranking import Goodness, agreement, concordance, kendall_tau, rank


def ranking(values, bots="abc"):
    made = np.asarray(values, np.float64)
    return rank(Goodness(tuple(bots[: made.shape[1]]), made, np.arange(len(made))), draws=500)


def sure(*means, bots="abc"):
    """A ranking with these means and no noise."""
    return ranking([means, means, means], bots)


def test_kendalls_w_of_a_published_example():
    """Three executives rank six applicants: Siegel 1956, table 9.6, W = .16."""
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]], np.float64)
    assert concordance(ranks) == pytest.approx(25.5 / 157.5)
    assert round(concordance(ranks), 2) == 0.16


def test_kendalls_w_with_ties_is_friedmans_statistic_over_its_greatest():
    from scipy.stats import friedmanchisquare, rankdata

    source = np.random.default_rng(0)
    for _ in range(20):
        scores = source.integers(0, 4, (5, 6)).astype(float)
        ranks = np.array([rankdata(line) for line in scores])
        statistic = friedmanchisquare(*scores.T).statistic
        assert concordance(ranks) == pytest.approx(statistic / (5 * (6 - 1)))


@pytest.mark.parametrize("ranks", [[[1.0, 2.0]], [[1.0], [1.0]], [[1.5, 1.5], [1.5, 1.5]]])
def test_kendalls_w_where_there_is_nothing_to_agree_on(ranks):
    assert concordance(np.array(ranks)) is None


def test_kendalls_tau_is_that_of_scipy():
    from scipy.stats import kendalltau

    source = np.random.default_rng(1)
    for _ in range(30):
        one, other = source.integers(0, 5, (2, 7)).astype(float)
        assert kendall_tau(one, other) == pytest.approx(kendalltau(one, other).statistic, nan_ok=True)


def test_a_metric_on_which_all_tie_ranks_nobody():
    found = agreement({"f1": sure(3, 2, 1), "match": sure(3, 2, 1), "level": sure(1, 1, 1)})
    assert (found.complete, found.concordance) == ((0, 1), pytest.approx(1.0))


def test_kendalls_tau_is_over_what_both_rank():
    one, other = np.array([1.0, 2, 3, np.nan]), np.array([2.0, 1, np.nan, 3])
    assert kendall_tau(one, other) == -1
    assert np.isnan(kendall_tau(np.array([1.5, 1.5]), np.array([1.0, 2.0])))


def test_who_is_against_the_majority_and_how_surely():
    found = agreement({"f1": sure(3, 2, 1), "match": sure(3, 2, 1), "style": sure(3, 1, 2)})
    (against,) = found.against
    assert (against.ranking, against.above, against.below) == ("style", "c", "b")
    assert (against.others, against.alike, against.sureness, against.firm) == (2, 1, 1.0, True)
    assert found.taus[0].tolist() == pytest.approx([1, 1, 1 / 3])
    assert found.mean_tau == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)
    # ranks 1 2 3, 1 2 3, 1 3 2: sums 3, 7, 8; squares from their mean 9 + 1 + 4; 12 * 14 / (9 * 24)
    assert found.concordance == pytest.approx(14 * 12 / 216)


def test_a_minority_that_may_be_chance_is_not_firm():
    noisy = ranking([[0.0, 1.0, 0.0], [0.0, 0.0, 0.9], [0.0, 0.0, 0.2]])
    found = agreement({"f1": sure(3, 2, 1), "match": sure(3, 2, 1), "noisy": noisy})
    by_pair = {(each.above, each.below): each for each in found.against}
    against = by_pair["c", "b"]
    assert not against.firm
    assert against.sureness == pytest.approx(noisy.above[2, 1])
    assert 0.3 < against.sureness < 0.8


def test_nobody_is_against_where_opinions_are_even_or_one():
    assert agreement({"f1": sure(2, 1), "match": sure(1, 2)}).against == ()
    assert agreement({"f1": sure(2, 1), "match": sure(2, 1)}).against == ()
    assert agreement({}).mean_tau is None


def test_a_ranking_of_some_bots_counts_only_where_it_speaks():
    found = agreement({"f1": sure(3, 2, 1), "match": sure(3, 2, 1), "hits": sure(1, 2, bots="ab")})
    assert [(each.ranking, each.above, each.below) for each in found.against] == [("hits", "b", "a")]
    assert found.complete == (0, 1)
    assert found.concordance == 1.0
    assert found.mean_tau == 1.0
