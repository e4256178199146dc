"""Intervals of one mean: golden values by hand and from upstream, and the cases in which none is given."""

import math

import numpy as np
import pytest
from proctor.reports.compare.scores import clustered_mean
from proctor.reports.statistics.intervals import mean_interval, wilson


def interval(clusters, low=None, high=None, binary=False):
    sums, sizes = ([part(each) for each in clusters] for part in (sum, len))
    return mean_interval(np.array(sums, float), np.array(sizes, float), low, high, binary)


def ends(*arguments, **named):
    found = interval(*arguments, **named)
    return found.low, found.high


def test_independent_values_of_a_metric_without_ends_give_the_textbook_interval():
    from scipy.stats import t

    values = np.array([0.2, 0.4, 0.9, 0.5, 0.1, 0.6, 0.8, 0.5])  # they lean to no side
    half = t.ppf(0.975, 7) * values.std(ddof=1) / math.sqrt(8)
    assert ends([[value] for value in values]) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-9)


def test_documents_of_one_size_give_the_textbook_interval_of_their_means():
    from scipy.stats import t

    means = np.array([0.2, 0.4, 0.6, 0.8, 0.3, 0.7])
    half = t.ppf(0.975, 5) * means.std(ddof=1) / math.sqrt(6)
    assert ends([[mean] * 7 for mean in means]) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-9)


def test_documents_of_unequal_size_by_hand():
    """Three documents of 2 and four of 1: the variance of each residual sum over what the mean takes from it (CR2)."""
    clusters = [[1.0, 2.0], [4.0, 3.0], [2.0, 2.0], [5.0], [1.0], [3.0], [2.0]]
    mean = 25 / 10
    residuals = [3 - 5, 7 - 5, 4 - 5, 2.5, -1.5, 0.5, -0.5]
    shares = [0.2, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1]
    variance = sum(residual**2 / (1 - share) for residual, share in zip(residuals, shares, strict=True)) / 100
    low, high = ends(clusters)
    assert low + high == pytest.approx(2 * mean, abs=0.25)  # it may be a little longer on the side they lean to
    narrow, wide = (quantile * math.sqrt(variance) for quantile in (2.447, 2.571))  # of Student's t with 6 and 5
    assert 2 * narrow * 0.999 < high - low < 2 * wide * 1.1


def test_ten_of_ten_is_not_certain():
    """Wilson's lower end with Student's quantile for 9 degrees of freedom: 10 / (10 + 2.262^2)."""
    assert ends([[1.0]] * 10, 0, 1, True) == pytest.approx((10 / (10 + 2.2621572**2), 1.0), rel=1e-6)


def test_many_yes_no_questions_give_wilson_s_interval():
    from scipy.stats import binomtest

    exact = binomtest(1_800, 2_000).proportion_ci(method="wilson")
    assert ends([[1.0]] * 1_800 + [[0.0]] * 200, 0, 1, True) == pytest.approx((exact.low, exact.high), abs=1e-4)
    assert wilson(0.9, 2_000) == pytest.approx((exact.low, exact.high))


def test_copies_within_a_document_add_nothing():
    alone = ends([[value] for value in (0.9, 0.1, 0.6, 0.5, 0.8, 0.3)], 0, 1)
    copied = ends([[value] * 5 for value in (0.9, 0.1, 0.6, 0.5, 0.8, 0.3)], 0, 1)
    assert copied == pytest.approx(alone)


def test_a_scale_from_1_to_5_is_that_from_0_to_1_stretched():
    scores = np.array([1, 2, 5, 5, 4, 3, 5, 5]) / 4 - 0.25
    unit, scale = (ends([[value] for value in values], *edges) for values, edges in
                   ((scores, (0, 1)), (1 + 4 * scores, (1, 5))))  # fmt: skip
    assert scale == pytest.approx(tuple(1 + 4 * end for end in unit))


@pytest.mark.parametrize(
    ("clusters", "why"),
    [
        ([[0.3]], "one question only"),
        ([[0.3], [0.4], [0.5], [0.2]], "4 questions are too few: an interval takes 5"),
        ([[0.3, 0.4, 0.5]], "all 3 questions come from one document: an interval takes 5"),
        ([[0.3] * 20, [0.4] * 20], "the questions come from 2 documents only: an interval takes 5"),
        ([[0.5] * 60, *[[0.4]] * 40], "one of the 41 documents has 60 of the 100 questions"),
    ],
)
def test_where_it_cannot_be_told_there_is_a_reason_and_no_interval(clusters, why):
    found = interval(clusters, 0, 1)
    assert (found.low, found.high) == (None, None)
    assert why in found.no_interval


@pytest.mark.parametrize("sign", [1, -1])
def test_an_interval_holds_its_mean_though_a_metric_left_the_range_that_it_declared(sign):
    low, high = ends([[sign * value] for value in (2.5, 2.7, 2.6, 2.4, 2.8)], 0.0, 1.0)
    assert low <= sign * 2.6 <= high


@pytest.mark.parametrize("values", [[0.9, 1.0, 0.2, 0.95, 1.0], [1.0] * 6, [0.0] * 5, [0.5] * 7, [1, 1, 1, 1, 0.999]])
def test_the_interval_stays_in_the_range_of_the_metric_and_has_a_length(values):
    low, high = ends([[value] for value in values], 0.0, 1.0)
    assert 0.0 <= low < high <= 1.0


def test_figures_that_differ_by_rounding_alone_are_equal():
    rounded = ends([[0.1 + 0.2]] * 3 + [[0.3]] * 3, 0.0, 1.0)
    assert rounded == pytest.approx(ends([[0.3]] * 6, 0.0, 1.0))


def coverage(draw, truth, codes, samples=1_500):
    held = 0
    for values in draw(np.random.default_rng(7), samples):
        found = clustered_mean(values, codes, 0, 1)
        held += found.low <= truth <= found.high
    return 100 * held / samples


def by_document(codes, share, likeness):
    """Right answers, correlated by ``likeness`` within a document."""
    beads = 1 / likeness - 1

    def draw(chance, samples):
        level = chance.beta(share * beads, (1 - share) * beads, (samples, codes.max() + 1))[:, codes]
        return (chance.random(level.shape) < level) * 1.0

    return draw


@pytest.mark.parametrize("likeness", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("sizes", [[10] * 10, [10] * 30, [1, 2, 2, 3, 3, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11]])
def test_95_of_100_intervals_of_clustered_answers_hold_the_truth(sizes, likeness):
    """``tests/benchmarks/interval_coverage.py`` measures all layouts; the sizes are those of the sample, too."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    assert 93 - 1.7 <= coverage(by_document(codes, 0.7, likeness), 0.7, codes) <= 97 + 1.3
