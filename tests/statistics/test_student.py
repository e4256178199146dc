import pytest
from proctor.reports.statistics.student import student_quantile, upper_tail


@pytest.mark.parametrize("degrees", [0.4, 1, 1.37, 2, 2.9, 4.6, 9, 29, 299, 1e4, 1e9])
@pytest.mark.parametrize("probability", [0.001, 0.3, 0.6, 0.9, 0.975, 0.995, 0.99999])
def test_quantiles_are_scipy_s(degrees, probability):
    from scipy.stats import t

    assert student_quantile(probability, degrees) == pytest.approx(t.ppf(probability, degrees), rel=1e-8)


@pytest.mark.parametrize("degrees", [0.4, 1, 2.9, 29, 1e4])
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 1.96, 7.0, 60.0])
def test_tails_are_scipy_s(degrees, value):
    from scipy.stats import t

    assert upper_tail(value, degrees) == pytest.approx(t.sf(value, degrees), rel=1e-8, abs=1e-15)


def test_the_middle_is_0():
    assert student_quantile(0.5, 3.3) == 0
