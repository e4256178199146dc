import numpy as np
import pytest
from proctor.reports.statistics.intervals import student_quantile, two_sided_p
from tables import in_one_test


@pytest.mark.parametrize(
    ("degrees", "wanted"), [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (30, 2.042), (120, 1.980), (1e9, 1.960)]
)
def test_quantiles_are_those_of_printed_tables(degrees, wanted):
    assert student_quantile(0.975, degrees) == pytest.approx(wanted, abs=5e-4)
    assert two_sided_p(np.array([wanted]), degrees) == pytest.approx([0.05], abs=5e-5)


@in_one_test(
    ("probability", "degrees"),
    [(p, n) for p in (0.5, 0.6, 0.975, 0.995) for n in (2, 2.7, 3.5, 4.4, 9, 30.3, 199.9, 200, 260.5, 1e4, 1e9)],
)
def test_quantiles_of_one_are_those_of_many(probability, degrees):
    """One is worked out here, many by scipy, which is not loaded for one."""
    many = float(student_quantile(probability, np.array([degrees]))[0])
    assert student_quantile(probability, degrees) == pytest.approx(many, rel=1e-10, abs=1e-12)
    assert student_quantile(1 - probability, degrees) == pytest.approx(-many, rel=1e-10, abs=1e-12)


def test_there_may_be_one_for_each_sample():
    assert student_quantile(0.975, np.array([1.0, 9.0])) == pytest.approx([12.7062, 2.26216], rel=1e-5)
    assert two_sided_p(np.array([-2.0, 2.0]), np.inf) == pytest.approx([0.0455, 0.0455], abs=1e-4)
