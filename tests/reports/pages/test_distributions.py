"""Values fall into the bins into which a reader would sort them by hand."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from proctor.metrics.score import Score, Status
from proctor.reports.pages.boards import Bins, MetricHistograms, bins_for, histograms, round_width, score_values
from proctor.reports.store.run import RunMetric
from reported_runs import book_of, missing, reported

OPEN = RunMetric("cost", "v1", "lower", None, None, 2.0)


def bins(*values: float, low: float | None = None, high: float | None = None) -> Bins:
    return bins_for(np.array(values), low, high)


def counts(made: Bins, *values: float) -> dict[float, int]:
    """Lower edge of each bin that holds something, with what it holds."""
    found = made.counts(np.array(values))
    return {edge: number for edge, number in zip(made.edges, found, strict=False) if number}


def test_a_metric_with_two_ends_has_20_equal_bins_whatever_its_values() -> None:
    made = bins(0.31, 0.32, low=0.0, high=1.0)
    assert len(made.edges) == 21
    assert made.edges[:3] == (0.0, 0.05, 0.1)
    assert made.edges[-1] == 1.0


def test_a_value_on_an_edge_is_in_the_bin_above_and_the_greatest_in_the_last() -> None:
    made = bins(0.5, 0.31, low=0.0, high=1.0)
    assert counts(made, 0.0, 0.049, 0.05, 0.35, 0.95, 1.0) == {0.0: 2, 0.05: 1, 0.35: 1, 0.95: 2}


def test_rounding_does_not_push_a_value_under_its_edge() -> None:
    made = bins(0.5, 0.31, low=0.0, high=1.0)
    assert counts(made, 0.7 - 0.4, 0.1 * 3, 1 - 0.7) == {0.3: 3}  # 0.29999999999999993 and its like


def test_whole_numbers_that_are_few_stand_in_the_middle_of_their_bins() -> None:
    made = bins(2.0, 5.0)
    assert made.edges == (1.5, 2.5, 3.5, 4.5, 5.5)
    assert made.is_whole
    assert counts(made, 2, 2, 3, 5) == {1.5: 2, 2.5: 1, 4.5: 1}


def test_yes_or_no_has_two_bins_even_where_all_say_yes() -> None:
    assert bins(1.0, 1.0, low=0.0, high=1.0).edges == (-0.5, 0.5, 1.5)


def test_open_ends_have_bins_of_a_round_width() -> None:
    made = bins(3.1, 9.7, 6.2)
    assert made.edges[0] == 3.0
    assert made.edges[1] == 3.5
    assert made.edges[-1] == 10.0
    assert counts(made, 3.1, 3.49, 3.5, 9.7) == {3.0: 2, 3.5: 1, 9.5: 1}


def test_bins_begin_at_the_low_end_where_that_is_near() -> None:
    assert bins(3.1, 9.7, low=0.0).edges[0] == 0.0
    assert bins(903.1, 909.7, low=0.0).edges[0] > 900


def test_many_whole_numbers_are_never_parted_finer_than_by_one() -> None:
    made = bins(0.0, 25.0)
    assert made.edges[1] - made.edges[0] == 2.0
    assert all(edge == round(edge) for edge in made.edges)


def test_few_values_far_out_make_bins_of_equal_factors() -> None:
    values = [*np.linspace(1.01, 2, 99), 1000.0]
    made = bins(*values)
    assert made.is_log
    factors = [after / before for before, after in zip(made.edges, made.edges[1:], strict=False)]
    assert factors == pytest.approx([factors[0]] * 20)
    assert sum(made.counts(np.array(values))) == 100
    assert not bins(*values, -1.0).is_log


def test_one_value_has_a_bin_around_it() -> None:
    made = bins(0.25, 0.25)
    assert made.edges == (0.2375, 0.2625)
    assert made.counts(np.array([0.25, 0.25])) == (2,)


def test_values_beyond_the_ends_of_a_metric_are_shown_where_they_are() -> None:
    made = bins(-0.25, 0.5, 1.25, low=0.0, high=1.0)
    assert made.edges[0] <= -0.25
    assert made.edges[-1] >= 1.25


@pytest.mark.parametrize("seed", range(5))
def test_no_value_is_lost_and_each_is_between_its_edges(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = random.gamma(0.7, 10.0 ** random.integers(-4, 5), 400)
    made = bins_for(values, 0.0, None)
    assert sum(made.counts(values)) == 400
    assert made.edges[0] <= values.min()
    assert values.max() <= made.edges[-1] * (1 + 1e-9)
    assert made.counts(values) == tuple(np.histogram(values, made.edges)[0])


def test_round_widths() -> None:
    assert [round_width(each) for each in (0.011, 0.05, 1.0, 3.0, 600.0)] == [0.02, 0.05, 1.0, 5.0, 1000.0]


def drawn(
    path: Path, values: Mapping[str, Sequence[float | Score]], metric: RunMetric = OPEN
) -> list[MetricHistograms]:
    with contextlib.closing(book_of(path / "p.db", values, metric)) as book:
        run = reported(book)
        return histograms(run, score_values(run), list(values))


def test_a_distribution_counts_values_missing_and_those_that_miss_the_threshold(tmp_path: Path) -> None:
    lost, failed = missing("cost", "not_reported"), missing("cost", "judge_unavailable", Status.ERROR)
    values = {"a": [0.5, 2.0, 2.5, lost], "b": [7.5, lost, lost, lost], "c": [lost, failed], "d": [1.0]}
    (made,) = drawn(tmp_path, values)
    first, second, third, fourth = made.bots
    assert first.chart is not None
    found = zip(first.chart.edges, first.chart.counts, strict=False)
    assert {edge: number for edge, number in found if number} == {0.5: 1, 2.0: 1, 2.5: 1}
    assert (first.chart.series, first.chart.most, first.chart.reference) == (0, 1, 2.0)
    assert first.summary.endswith("; median 2.0; 1 of 3 miss 2.0; a value on 3 of 4 rows")
    assert (second.chart, third.chart) == (None, None)
    assert "1 of 1 miss 2.0" in second.summary
    assert third.summary == "0 values; a value on 0 of 2 rows; 1 failed"
    assert "row" not in fourth.summary and made.known == 5 / 11


def test_the_threshold_of_whole_numbers_is_between_those_that_pass_and_those_that_do_not(tmp_path: Path) -> None:
    (made,) = drawn(tmp_path, {"a": [1.0, 2.0, 4.0]}, RunMetric("cost", "v1", "higher", None, None, 2.0))
    assert made.bots[0].chart is not None and made.bots[0].chart.reference == 1.5


def test_yes_or_no_is_told_by_its_mean_alone(tmp_path: Path) -> None:
    (made,) = drawn(tmp_path, {"a": [0.0, 1.0]}, RunMetric("exact_match", "v1", "higher", 0.0, 1.0, 1.0))
    assert made.bots[0].chart is None and made.bots[0].summary.endswith("1 of 2 miss 1.00")


def test_a_metric_without_a_value_has_no_distribution(tmp_path: Path) -> None:
    assert drawn(tmp_path, {"a": [missing("cost", "not_reported")]}) == []
