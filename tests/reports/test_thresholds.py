"""Thresholds: in words, and figures that never seem to be on their other side."""

import pytest
from proctor.reports.reported_run import bound, figure_apart
from proctor.reports.summary import MetricColumn
from tables import in_one_test


def column(better="higher", threshold=0.75, high=1.0):
    return MetricColumn("metric", "v1", better, 0.0, high, threshold)


@pytest.mark.parametrize(
    ("better", "threshold", "words"),
    [("higher", 0.75, "at least 0.75"), ("lower", 0.2, "at most 0.2"), ("neither", 0.5, ""), ("higher", None, "")],
)
def test_a_threshold_in_words(better, threshold, words):
    assert bound(column(better, threshold)) == words


def test_another_threshold_than_that_of_the_metric():
    assert bound(column(), 0.9) == "at least 0.9"


@in_one_test(
    ("better", "threshold", "value", "text"),
    [
        ("higher", 0.75, 0.748, "0.748"),
        ("higher", 0.75, 0.74996, "0.74996"),
        ("higher", 0.75, 0.75, "0.75"),
        ("higher", 0.75, 0.7504, "0.75"),
        ("higher", 0.7502, 0.7504, "0.7504"),  # it is met, and 0.75 would not meet it
        ("higher", 0.748, 0.7462, "0.746"),  # it would read 0.75, as the threshold does where it is rounded
        ("lower", 0.2, 0.2004, "0.2004"),
        ("lower", 0.2, 0.196, "0.20"),
        ("neither", 0.75, 0.748, "0.75"),
        ("higher", None, 0.748, "0.75"),
    ],
)
def test_digits_tell_on_which_side_of_the_threshold_it_is(better, threshold, value, text):
    assert figure_apart(value, column(better, threshold)) == text


def test_large_values():
    assert figure_apart(1499.8, column("higher", 1500.0, None)) == "1499.800"
    assert figure_apart(1200.0, column("higher", 1500.0, None)) == "1200"
