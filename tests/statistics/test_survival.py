import numpy as np
import pytest
from proctor.reports.statistics.survival import kaplan_meier, quantile, quantiles

# Remission of 21 patients under 6-MP, in weeks (Freireich et al. 1963; the textbook example of the method).
WEEKS = np.array([6, 6, 6, 7, 10, 13, 16, 22, 23, 6, 9, 10, 11, 17, 19, 20, 25, 32, 34, 35, 32], float)
RELAPSED = np.arange(21) < 9
PUBLISHED = {6: 0.857, 7: 0.807, 10: 0.753, 13: 0.690, 16: 0.627, 22: 0.538, 23: 0.448}


def sample(seed, count=40, share=0.3, digits=1):
    chance = np.random.default_rng(seed)
    return np.round(chance.lognormal(1, 1, count), digits), chance.random(count) > share


def test_the_published_curve():
    times, survival = kaplan_meier(WEEKS, RELAPSED)
    found = dict(zip(times, survival, strict=True))
    assert {week: round(found[week], 3) for week in PUBLISHED} == PUBLISHED


@pytest.mark.parametrize("seed", range(5))
def test_the_curve_agrees_with_scipy(seed):
    from scipy.stats import CensoredData, ecdf

    times, observed = sample(seed)
    theirs = ecdf(CensoredData(uncensored=times[observed], right=times[~observed])).sf
    ours = dict(zip(*kaplan_meier(times, observed), strict=True))
    assert [ours[time] for time in theirs.quantiles] == pytest.approx(list(theirs.probabilities))


@pytest.mark.parametrize("seed", range(5))
def test_a_quantile_lies_between_neighbouring_steps_of_scipys_curve(seed):
    """No further off than one duration's mass."""
    from scipy.stats import CensoredData, ecdf

    times, observed = sample(seed, 60)
    theirs = ecdf(CensoredData(uncensored=times[observed], right=times[~observed])).sf
    mass = -np.diff(theirs.probabilities, prepend=1.0).min()
    for q in (0.1, 0.5, 0.75):
        below = theirs.quantiles[theirs.probabilities <= 1 - q + mass]
        above = theirs.quantiles[theirs.probabilities <= 1 - q - mass]
        assert below[0] <= quantile(times, observed, q) <= above[0]


@pytest.mark.parametrize("count", [1, 2, 3, 10, 57])
def test_complete_durations_have_numpys_percentiles(count):
    times, observed = sample(count, count, share=0)
    for q in (0, 0.05, 0.25, 0.5, 0.95, 1):
        assert quantile(times, observed, q) == np.percentile(times, 100 * q)
        assert quantiles(times, observed, (q,))[0, 0] == pytest.approx(np.percentile(times, 100 * q))


def test_durations_that_were_cut_off_at_the_end_count_as_longer_than_all():
    times = np.array([1.0, 2, 3, 4, 5, 5, 5])
    observed = np.array([True, True, True, True, False, False, False])
    assert quantile(times, observed, 0.5) == 4  # the middle of seven
    assert quantile(times, observed, 0.25) == pytest.approx(np.percentile([1, 2, 3, 4, 9, 9, 9], 25))
    assert quantile(times, observed, 0.55) is None


def test_nothing_is_known_where_nothing_ended():
    assert quantile(np.array([3.0, 4.0]), np.array([False, False]), 0.0) is None
    assert quantile(np.zeros(0), np.zeros(0, bool), 0.5) is None


def test_a_weighted_quantile_is_that_of_the_repeated_durations():
    shares = (0, 0.3, 0.5, 0.9, 1)
    for seed in range(4):
        times, observed = sample(seed, 30, share=0.4)
        counts = np.random.default_rng(seed).integers(0, 3, (20, 30))
        found = quantiles(times, observed, shares, counts)
        for line, count in zip(found, counts, strict=True):
            alone = quantiles(np.repeat(times, count), np.repeat(observed, count), shares)[0]
            np.testing.assert_allclose(line, alone)


def test_a_draw_of_nothing_has_no_quantile():
    found = quantiles(np.array([1.0, 2.0]), np.array([True, True]), (0.5,), np.array([[0, 0], [0, 3]]))
    assert np.isnan(found[0, 0])
    assert found[1, 0] == 2.0
    assert np.isnan(quantiles(np.array([1.0, 2.0]), np.array([True, False]), (0.5,), np.array([[0, 2]]))).all()


def test_a_censored_duration_hands_its_mass_to_all_that_lasted_longer():
    """Of four the second is cut off: the other two bear 3/8 each, and stand at 0, (1/4)/(5/8) and 1."""
    times, observed = np.array([1.0, 2, 3, 4]), np.array([True, False, True, True])
    assert quantile(times, observed, 0.4) == pytest.approx(3.0)
    assert quantile(times, observed, 0.2) == pytest.approx(2.0)
    assert quantile(times, observed, 0.7) == pytest.approx(3.5)


def test_of_equal_durations_the_complete_ones_ended_first():
    """The one that was cut off at 2 lasted longer than 2, so its mass goes to the one of 3: at 0, (1/4)/(1/2), 1."""
    times, observed = np.array([2.0, 1, 3, 2]), np.array([False, True, True, True])
    assert quantile(times, observed, 0.5) == pytest.approx(2.0)
    assert quantile(times, observed, 0.75) == pytest.approx(2.5)
