import pytest
from proctor.reports.statistics.paired import mcnemar


@pytest.mark.parametrize(("gained", "lost"), [(0, 1), (3, 11), (11, 3), (1, 7), (0, 60), (300, 371), (5_000, 5_300)])
def test_it_is_the_binomial_test_of_the_changed_questions_less_half_of_what_was_seen(gained, lost):
    from scipy.stats import binom, binomtest

    both = binomtest(gained, gained + lost).pvalue
    assert mcnemar(gained, lost) == pytest.approx(both - binom.pmf(gained, gained + lost, 0.5), rel=1e-9)


def test_the_worked_example():
    """One child got worse and seven better: 2 (1 + 8 / 2) / 256, published as 0.039 (Fagerland and others 2013)."""
    assert mcnemar(1, 7) == pytest.approx(10 / 256)


@pytest.mark.parametrize("both", [1, 8])
def test_as_many_gained_as_lost_is_no_evidence(both):
    assert mcnemar(both, both) == pytest.approx(1.0)


def test_no_change_is_no_evidence():
    assert mcnemar(0, 0) == 1.0


def test_a_great_many_changes():
    assert mcnemar(500_000, 502_000) == pytest.approx(0.0458, abs=1e-3)
    assert 0 <= mcnemar(0, 1_000_000) < 1e-300
