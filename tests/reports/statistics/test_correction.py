import numpy as np
import pytest
from proctor.reports.statistics.power import benjamini_hochberg, holm

MANY = list(np.random.default_rng(4).random(40) ** 3)
LISTS = [[0.04], [0.01, 0.02, 0.03, 0.04], [0.5, 0.001, 0.04, 0.04, 0.9], MANY]


def test_holm_by_hand():
    """Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06 and 0.04, which may not be less than 0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize("p_values", LISTS)
def test_holm_rejects_what_stepping_down_rejects(p_values):
    """Holm's own words: the smallest against alpha / m, the next against alpha / (m - 1), until one fails."""
    for alpha in (0.01, 0.05, 0.2):
        rejected, left = set(), len(p_values)
        for place in np.argsort(p_values, kind="stable"):
            if p_values[place] > alpha / left:
                break
            rejected.add(int(place))
            left -= 1
        assert {place for place, p_value in enumerate(holm(p_values)) if p_value <= alpha + 1e-15} == rejected


@pytest.mark.parametrize("p_values", LISTS)
def test_benjamini_hochberg_is_scipy_s(p_values):
    from scipy.stats import false_discovery_control

    assert benjamini_hochberg(p_values) == pytest.approx(false_discovery_control(p_values))


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_corrected_p_values_are_no_smaller_and_at_most_1(correct):
    for p_values in LISTS:
        assert all(given <= found <= 1 for given, found in zip(p_values, correct(p_values), strict=True))
    assert correct([]) == []
    assert correct([0.7, 0.8]) == ([1.0, 1.0] if correct is holm else [0.8, 0.8])
