import pytest
from proctor.reports.compare.changes import FlipRate, flip_of_values


@pytest.mark.parametrize(
    ("source", "perturbed", "better", "direction"),
    [
        (0.3, 0.8, "higher", "fail_to_pass"),  # the examples of the specification
        (0.80, 0.76, "higher", None),
        (0.75, 0.74, "higher", "pass_to_fail"),
        (0.75, 0.76, "lower", "pass_to_fail"),
        (0.8, 0.75, "lower", "fail_to_pass"),
        (0.1, None, "higher", None),
        (None, 0.9, "higher", None),
    ],
)
def test_a_flip_is_a_change_of_outcome(source, perturbed, better, direction):
    assert flip_of_values(source, perturbed, 0.75, better) == direction


def test_no_flip_without_a_threshold():
    assert flip_of_values(0.1, 0.9, None, "higher") is None


def test_the_rate_is_over_comparable_pairs():
    assert FlipRate(flips=2, comparable=4, not_comparable=2).rate == 0.5
    assert FlipRate(flips=0, comparable=0, not_comparable=1).rate is None
