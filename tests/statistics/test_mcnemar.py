import pytest
from proctor.reports.statistics.mcnemar import mcnemar


@pytest.mark.parametrize(
    ("gained", "lost"), [(0, 1), (3, 11), (11, 3), (1, 7), (40, 41), (0, 60), (300, 371), (5_000, 5_300)]
)
def test_it_is_the_binomial_test_of_the_changed_questions(gained, lost):
    from scipy.stats import binomtest

    assert mcnemar(gained, lost) == pytest.approx(binomtest(gained, gained + lost).pvalue, rel=1e-9)


def test_the_worked_example():
    """One child got worse and seven better: 2 (1 + 8) / 256, published as 0.070 (Fagerland and others 2014)."""
    assert mcnemar(1, 7) == pytest.approx(18 / 256)


@pytest.mark.parametrize("both", [0, 1, 8])
def test_as_many_gained_as_lost_is_no_evidence(both):
    assert mcnemar(both, both) == 1.0


@pytest.mark.parametrize("fewer", [0, 34, 567])  # rounding made 0.9999999999999999 of the last two
def test_one_more_or_less_is_no_evidence_either(fewer):
    assert mcnemar(fewer, fewer + 1) == mcnemar(fewer + 1, fewer) == 1.0


def test_a_great_many_changes():
    assert mcnemar(500_000, 502_000) == pytest.approx(0.0458, abs=1e-3)
    assert 0 <= mcnemar(0, 1_000_000) < 1e-300
