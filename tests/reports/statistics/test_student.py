import numpy as np
import pytest
from proctor.reports.statistics.intervals import student_quantile, two_sided_p


@pytest.mark.parametrize(
    ("degrees", "wanted"), [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (30, 2.042), (120, 1.980), (1e9, 1.960)]
)
def test_quantiles_are_those_of_printed_tables(degrees, wanted):
    assert student_quantile(0.975, degrees) == pytest.approx(wanted, abs=5e-4)
    assert two_sided_p(np.array([wanted]), degrees) == pytest.approx([0.05], abs=5e-5)


def test_there_may_be_one_for_each_sample():
    assert student_quantile(0.975, np.array([1.0, 9.0])) == pytest.approx([12.7062, 2.26216], rel=1e-5)
    assert two_sided_p(np.array([-2.0, 2.0]), np.inf) == pytest.approx([0.0455, 0.0455], abs=1e-4)
