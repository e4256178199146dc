"""Risk by coverage: by hand, ties, and an order that tells nothing."""

import numpy as np
import pytest
from proctor.reports.ranking.abstention import risk_coverage


def curve(wrong, confidence, questions=None):
    made = np.array(wrong, dtype=bool)
    return risk_coverage(made, np.array(confidence, dtype=float), questions or len(made))


def test_by_hand():
    """Most confident first: right, wrong, right, wrong. Risks 0, 1/2, 1/3, 1/2."""
    found = curve([1, 0, 0, 1], [0.2, 0.9, 0.5, 0.7])
    assert found.risk.tolist() == pytest.approx([0, 1 / 2, 1 / 3, 1 / 2])
    assert found.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert found.thresholds.tolist() == [0.9, 0.7, 0.5, 0.2]
    assert found.aurc == pytest.approx((0 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert found.best_aurc == pytest.approx((0 + 0 + 1 / 3 + 2 / 4) / 4)
    assert found.random_aurc == 0.5


def test_the_best_order_reaches_the_least_area():
    found = curve([0, 0, 1, 1, 1], [5, 4, 3, 2, 1])
    assert found.aurc == found.best_aurc
    assert curve([0, 0, 1, 1, 1], [1, 2, 3, 4, 5]).aurc > found.aurc


def test_the_least_area_comes_near_its_known_limit():
    """With error rate r it goes to r + (1 - r) ln(1 - r): Geifman, Uziel and El-Yaniv 2019, equation 2."""
    wrong = np.arange(10_000) < 2_000
    found = curve(wrong, np.zeros(10_000))
    assert found.best_aurc == pytest.approx(0.2 + 0.8 * np.log(0.8), abs=1e-4)


def test_equal_confidences_count_as_the_mean_over_their_orders():
    found = curve([1, 0], [0.5, 0.5])
    assert found.risk.tolist() == [0.5, 0.5]
    assert curve([0, 1], [0.5, 0.5]).risk.tolist() == found.risk.tolist()
    mixed = curve([0, 1, 0, 0], [0.9, 0.5, 0.5, 0.5])
    assert mixed.risk.tolist() == pytest.approx([0, 1 / 6, 2 / 9, 1 / 4])


def test_a_confidence_that_tells_nothing_has_the_area_of_random_order():
    source = np.random.default_rng(0)
    found = curve(source.random(20_000) < 0.3, source.random(20_000))
    assert found.aurc == pytest.approx(found.random_aurc, abs=0.02)
    flat = curve(source.random(100) < 0.3, np.ones(100))
    assert flat.aurc == pytest.approx(flat.random_aurc)


def test_what_was_declined_ends_the_curve():
    found = curve([0, 1], [0.9, 0.8], questions=10)
    assert found.coverage.tolist() == [0.1, 0.2]
    assert (found.at(0.1), found.at(0.2), found.at(0.3), found.at(0.01)) == (0.0, 0.5, None, None)
    assert curve([], []) is None
