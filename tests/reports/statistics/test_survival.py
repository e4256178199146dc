import numpy as np
import pytest
from proctor.reports.statistics.latency import quantile, quantiles

# Remission of 21 patients under 6-MP, in weeks (Freireich et al. 1963; the textbook example of the method).
WEEKS = np.array([6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 34, 35, 32], float)
RELAPSED = np.arange(21) < 9


def sample(seed, count=40, share=0.3, digits=1):
    chance = np.random.default_rng(seed)
    return np.round(chance.lognormal(1, 1, count), digits), chance.random(count) > share


def test_the_published_median():
    assert quantile(WEEKS, RELAPSED, 0.5) == 23


@pytest.mark.parametrize("seed", range(5))
def test_a_quantile_is_the_mean_over_a_stretch_of_scipys_curve(seed):
    """The stretch is as long as the mass of one duration, as it is in numpy's linear percentile."""
    from scipy.stats import CensoredData, ecdf

    times, observed = sample(seed, 60)
    theirs = ecdf(CensoredData(uncensored=times[observed], right=times[~observed])).sf
    ends = 1 - theirs.probabilities
    starts = np.append(0.0, ends[:-1])
    for q in (0, 0.1, 0.5, 0.75, 0.9, 1):
        start = q * (1 - 1 / 60)
        shares = np.clip(np.minimum(ends, start + 1 / 60) - np.maximum(starts, start), 0, None) * 60
        known = shares.sum() > 1 - 1e-6
        assert quantile(times, observed, q) == (pytest.approx(shares @ theirs.quantiles) if known else None)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 57])
def test_complete_durations_have_numpys_percentiles(count):
    times, observed = sample(count, count, share=0)
    for q in (0, 0.05, 0.25, 0.5, 0.95, 1):
        assert quantile(times, observed, q) == np.percentile(times, 100 * q)
        assert quantiles(times, observed, (q,))[0] == pytest.approx(np.percentile(times, 100 * q))


def test_durations_that_were_cut_off_at_the_end_count_as_longer_than_all():
    times = np.array([1.0, 2, 3, 4, 5, 5, 5])
    observed = np.array([True, True, True, True, False, False, False])
    assert quantile(times, observed, 0.5) == 4  # the middle of seven
    assert quantile(times, observed, 0.25) == pytest.approx(np.percentile([1, 2, 3, 4, 9, 9, 9], 25))
    assert quantile(times, observed, 0.55) is None


def test_nothing_is_known_where_nothing_ended():
    assert quantile(np.array([3.0, 4.0]), np.array([False, False]), 0.0) is None
    assert quantile(np.zeros(0), np.zeros(0, bool), 0.5) is None


def test_a_censored_duration_hands_its_mass_to_all_that_lasted_longer():
    """Of four the second is cut off: the other two bear 3/8 each, and a quantile is the mean over a stretch of 1/4."""
    times, observed = np.array([1.0, 2, 3, 4]), np.array([True, False, True, True])
    assert quantile(times, observed, 0.4) == pytest.approx(3.0)  # from 0.3 to 0.55
    assert quantile(times, observed, 0.2) == pytest.approx(0.4 * 1 + 0.6 * 3)  # from 0.15 to 0.4
    assert quantile(times, observed, 0.7) == pytest.approx(0.4 * 3 + 0.6 * 4)  # from 0.525 to 0.775


def test_of_equal_durations_the_complete_ones_ended_first():
    """The one that was cut off at 2 lasted longer than 2, so its mass goes to the one of 3."""
    times, observed = np.array([2.0, 1, 3, 2]), np.array([False, True, True, True])
    assert quantile(times, observed, 0.3) == pytest.approx(0.1 * 1 + 0.9 * 2)  # from 0.225 to 0.475
    assert quantile(times, observed, 0.75) == pytest.approx(3.0)  # from 0.5625 to 0.8125


def test_a_median_is_not_below_what_most_durations_surpassed():
    """Three of five lasted 5 or longer, whatever the two would have come to."""
    times, observed = np.array([1.0, 2, 5, 5, 9]), np.array([True, True, False, False, True])
    assert quantile(times, observed, 0.5) == 9
    assert quantile(times, observed, 0.25) == pytest.approx(2.0)
