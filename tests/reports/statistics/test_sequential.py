import itertools

import numpy as np
import pytest
from proctor.reports.statistics.sequential import BETS, EValueTest, SequentialInterval

UNITS = 500


def nulls(mean, seed, rounds):
    """Units from -1 to 1 of this mean: skewed, mostly 0, coarse, narrow."""
    chance = np.random.default_rng(seed)
    shape = (rounds, UNITS)
    flips = chance.random(shape)
    yield "skewed", np.clip(mean - 0.08 + chance.exponential(0.08, shape), -1, 1)
    yield "skewed down", np.clip(mean + 0.08 - chance.exponential(0.08, shape), -1, 1)
    yield "binary", (flips < 0.2 + mean / 2) * 1.0 - (flips > 0.8 + mean / 2)
    yield "mostly ties", (flips < 0.04 + mean / 2) * 1.0 - (flips > 0.96 + mean / 2)
    yield "narrow", mean + chance.uniform(-0.1, 0.1, shape)


def capitals(values, mean, low, weights=1.0):
    """The e-value against "the mean is so much or less" after every unit, a course of units a line."""
    stakes = np.sin(np.pi / 2 * (np.arange(BETS) + 0.5) / BETS) ** 2 / (mean - low)
    with np.errstate(over="ignore"):
        held = [(1 + stake * weights * (values - mean)).cumprod(axis=1) for stake in stakes]
        return np.mean(held, axis=0)


def share_ever(values, harm, low, alpha):
    """How often the test of "the mean is harm or less" rejects at some time of the 500."""
    return float((capitals(values, harm, low).max(axis=1) >= 1 / alpha).mean())


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_who_looks_after_every_unit_errs_no_more_often_than_promised(alpha):
    for name, values in nulls(0.0, 1, 1500):
        assert share_ever(-values, 0.0, -1.0, alpha) <= alpha, name
    for name, values in nulls(-0.03, 2, 1500):
        assert share_ever(values, -0.03, -1.0, alpha) <= alpha, name


def test_the_gate_bets_are_those_capitals():
    for values in np.random.default_rng(3).uniform(-1, 0.8, (6, 80)):
        test, alpha = EValueTest(0.05, alpha=0.1, steps=40), 0.1
        up, down = capitals(values[None], -0.05, -1.0)[0], capitals(-values[None], 0.0, -1.0)[0]
        for place, value in enumerate(values):
            test.add(float(value))
            assert test.not_worse == bool((up[: place + 1] >= 1 / alpha).any())
            assert test.regressed == bool((down[: place + 1] >= 1 / alpha).any())
            assert test.decided == (test.not_worse or test.regressed)


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_no_bet_is_expected_to_win_while_the_hypothesis_holds(chance):
    """Exactly: the mean capital over all courses of eight units from a law of two values whose mean is the null."""
    low, null = -1.0, -0.2
    below = -0.7
    above = (null - (1 - chance) * below) / chance
    courses = np.array(list(itertools.product([below, above], repeat=8)))
    likely = np.where(courses == above, chance, 1 - chance).prod(axis=1)
    assert float(likely @ capitals(courses, null, low)[:, -1]) == pytest.approx(1.0)
    halves = np.full(courses.shape, 0.5)
    assert float(likely @ capitals(courses, null, low, halves)[:, -1]) == pytest.approx(1.0)


def test_large_units_that_are_harmed_outweigh_small_ones_that_are_not():
    """The mean over units is above the null, that over questions is not: weighted test aren't expected to win."""
    units = np.array([[0.4, -0.4]])  # three of four are small and better
    sizes = np.array([[0.1, 1.0]])
    mean = float((0.75 * 0.1 * 0.4 - 0.25 * 0.4) / (0.75 * 0.1 + 0.25))
    chance = np.random.default_rng(4)
    drawn = (chance.random((600, UNITS)) > 0.75).astype(int)
    values, weights = units[0][drawn], sizes[0][drawn]
    assert float((capitals(values, mean, -1.0, weights).max(axis=1) >= 20).mean()) <= 0.05
    assert float((capitals(values, mean, -1.0).max(axis=1) >= 20).mean()) > 0.9


@pytest.mark.parametrize(
    ("mean", "deviation", "most"), [(0.0, 0.1, 180), (-0.1, 0.1, 60), (-0.2, 0.1, 30), (-0.1, 0.3, 90), (-0.2, 0.3, 40)]
)
def test_a_clear_effect_is_told_early(mean, deviation, most):
    values = np.clip(np.random.default_rng(5).normal(mean, deviation, (300, UNITS)), -1, 1)
    won = capitals(values, -0.03, -1.0) if mean > -0.03 else capitals(-values, 0.0, -1.0)
    stops = np.where((won >= 20).any(axis=1), (won >= 20).argmax(axis=1) + 1, UNITS + 1)
    assert np.median(stops) <= most


def test_the_interval_holds_the_mean_at_every_time():
    missed = rounds = 0
    for _, values in nulls(0.03, 6, 24):
        for line in values:
            interval = SequentialInterval(alpha=0.2, steps=60)
            outside = False
            for value in line[:200]:
                interval.add(float(value))
                low, high = interval.bounds
                outside |= not low <= 0.03 <= high
            missed += outside
            rounds += 1
    assert missed / rounds <= 0.2


def test_the_interval_closes_in_and_never_opens():
    interval, last = SequentialInterval(0.0, 1.0), (0.0, 1.0)
    for value in np.random.default_rng(7).beta(8, 2, 1200):
        interval.add(float(value))
        low, high = interval.bounds
        assert last[0] <= low <= high <= last[1]
        last = low, high
    assert last[0] < 0.8 < last[1]
    assert last[1] - last[0] < 0.12
    assert interval.count == 1200


def test_a_finer_grid_only_narrows_the_interval():
    coarse, fine = SequentialInterval(steps=10), SequentialInterval(steps=1000)
    for value in np.random.default_rng(8).normal(0.3, 0.1, 100).clip(-1, 1):
        coarse.add(float(value))
        fine.add(float(value))
    assert coarse.bounds[0] <= fine.bounds[0] <= 0.3 <= fine.bounds[1] <= coarse.bounds[1]


def test_the_gates_interval_and_its_words_agree():
    test = EValueTest(0.03)
    for value in np.random.default_rng(9).normal(0.1, 0.1, 150).clip(-1, 1):
        test.add(float(value))
        low, high = test.interval.bounds
        assert test.not_worse or low <= -0.03
        assert test.regressed or high >= 0
    assert test.not_worse
    assert not test.regressed
    assert test.count == 150


@pytest.mark.parametrize("margin", [0.0, -0.1, 1.0, 2.0])
def test_a_margin_out_of_range_is_refused(margin):
    with pytest.raises(ValueError, match="margin"):
        EValueTest(margin)


@pytest.mark.parametrize("alpha", [0.0, 0.5, -1.0])
def test_a_chance_out_of_range_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha"):
        EValueTest(0.03, alpha=alpha)


@pytest.mark.parametrize(("value", "weight"), [(1.5, 1.0), (float("nan"), 1.0), (0.5, 0.0), (0.5, 1.1)])
def test_a_unit_out_of_range_is_refused(value, weight):
    test = EValueTest(0.03)
    with pytest.raises(ValueError, match="unit"):
        test.add(value, weight)
    assert test.count == 0
