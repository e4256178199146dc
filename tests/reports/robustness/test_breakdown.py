"""The breakdown intensity: rising fits, resampled clusters, and honesty at both ends of what was tested."""

import numpy as np
import pytest
from proctor.reports.robustness.robustness import breakdown, isotonic
from tables import in_one_test

TESTED = (0.05, 0.1, 0.3)


def found(above, clusters=None, level=0.1):
    above = np.asarray(above, float)
    codes = np.arange(len(above)) if clusters is None else np.asarray(clusters)
    return breakdown(above, codes, TESTED, level)


@in_one_test("seed", range(20))
def test_the_rising_fit_is_that_of_scikit_learn(seed):
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, 6).astype(float)
    values = rng.normal(size=6)
    ours = isotonic((values * weights)[np.newaxis], weights[np.newaxis])[0]
    theirs = IsotonicRegression().fit_transform(np.arange(6), values, sample_weight=weights)
    assert ours == pytest.approx(theirs)


def test_an_intensity_without_any_value_takes_part_in_nothing():
    middle = isotonic(np.array([[3.0, 0.0, 2.0]]), np.array([[1.0, 0.0, 1.0]]))[0]
    assert middle == pytest.approx([2.5, -np.inf, 2.5])
    assert isotonic(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]]))[0] == pytest.approx([-np.inf, 1.0])


def test_never_reached_is_not_the_highest_tested():
    made = found(np.zeros((30, 3)))
    assert (made.at, made.interval, made.reached) == (None, (None, None), 0.0)
    assert made.sentence == "does not break down within the tested 0.05-0.3"


def test_reached_at_the_lowest_says_so():
    made = found(np.ones((30, 3)))
    assert (made.at, made.interval) == (0.05, (0.05, 0.05))
    assert made.sentence == "breaks down already at the lowest, 0.05"


def test_standing_on_the_level_is_not_above_it():
    flips = np.zeros((10, 3))
    flips[0] = 1.0
    assert found(flips).at is None
    assert found(flips, level=0.09).at == 0.05


def test_clusters_are_resampled_whole_whatever_their_codes():
    rng = np.random.default_rng(5)
    flips = (rng.random((40, 3)) < 0.15).astype(float)
    codes = np.repeat(np.arange(8), 5)
    assert found(flips, codes) == found(flips, codes * 7 + 3)  # codes of clusters that have no question here
    assert found(flips, codes).interval != found(flips).interval


def test_an_uncertain_one_reaches_out_of_what_was_tested():
    flips = np.zeros((30, 3))
    flips[:4, 2] = 1.0  # 13 %, which resamples leave often
    made = found(flips)
    assert made.at == 0.3
    assert made.interval == (0.3, None)
    assert 0.5 < made.reached < 0.95
    assert made.sentence == "breaks down at 0.3 (from 0.3 on, or not at all)"


def test_one_cluster_has_no_interval_and_no_value_no_breakdown():
    assert found(np.ones((5, 3)), [0] * 5).interval is None
    assert found(np.full((5, 3), np.nan)) is None


def test_the_interval_covers_the_true_intensity():
    """Flip rates 2, 5 and 40 % against a level of 20 %: it breaks down at 0.3, and the interval says so."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(100):
        made = found(rng.random((60, 3)) < np.array([0.02, 0.05, 0.4]), level=0.2)
        low, high = made.interval
        covered += (low or 9) <= 0.3 <= (high or 9)
    assert covered >= 95
