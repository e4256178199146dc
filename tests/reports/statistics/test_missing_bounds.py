import itertools

import numpy as np
import pytest
from proctor.reports.statistics.intervals import missing_bounds

NAN = float("nan")


def test_the_bounds_are_the_least_and_greatest_of_all_ways_to_fill():
    baseline, candidate = np.array([0.2, NAN, 0.9, NAN]), np.array([NAN, 0.4, 0.5, NAN])
    means = []
    for fill in itertools.product([0.0, 0.3, 1.0], repeat=4):
        filled = [baseline.copy(), candidate.copy()]
        for (operand, place), value in zip([(0, 1), (0, 3), (1, 0), (1, 3)], fill, strict=True):
            filled[operand][place] = value
        means.append((filled[1] - filled[0]).mean())
    assert missing_bounds(baseline, candidate, 0.0, 1.0) == pytest.approx((min(means), max(means)))


def test_without_missing_values_both_are_the_mean():
    baseline, candidate = np.array([0.1, 0.5]), np.array([0.3, 0.2])
    assert missing_bounds(baseline, candidate, 0, 1) == pytest.approx((-0.05, -0.05))
    assert missing_bounds(baseline, candidate, None, None) == pytest.approx((-0.05, -0.05))


def test_an_unbounded_metric_has_no_bounds():
    assert missing_bounds(np.array([1.0, NAN]), np.array([1.0, 2.0]), 0.0, None) is None


def test_no_questions_no_bounds():
    assert missing_bounds(np.array([]), np.array([]), 0.0, 1.0) is None


def test_another_range():
    assert missing_bounds(np.array([2.0]), np.array([NAN]), 1.0, 5.0) == (-1.0, 3.0)
