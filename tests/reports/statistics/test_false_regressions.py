"""How often the gate's rule says that something regressed where nothing did: simulations, with seeds."""

import numpy as np
import pytest
from gate_rule import _p_value, verdicts
from paired_samples import (
    Source,
    alone,
    equal,
    few_great_gains,
    gains_tail,
    gains_tail_by_cluster,
    mostly_none,
    normal,
    unequal,
    yes_no,
)
from proctor.reports.statistics.intervals import Clusters
from proctor.reports.statistics.paired import cautious_p_values, difference, paired_intervals, sign_flip
from proctor.reports.statistics.power import holm


def limit(samples):
    """Of 100: 5, and what chance adds to it once in a thousand times."""
    from scipy.stats import binom

    return 100 * binom.ppf(0.999, samples, 0.05) / samples


def alone_sources():
    for count in (30, 60, 100, 200, 500):
        codes = alone(count)
        yield Source(f"normal {count}", codes, 0, normal(codes, 0))
        yield Source(f"gains tail {count}", codes, 0, gains_tail(codes))
        yield Source(f"most unchanged {count}", codes, 0, mostly_none(codes, 0.1, 0.5))
        yield Source(f"yes/no 5 {count}", codes, 0, yes_no(codes, 0.05, 0.05), True)
        yield Source(f"yes/no 20 {count}", codes, 0, yes_no(codes, 0.2, 0.2), True)
    for count in (100, 200, 500):
        codes = alone(count)
        yield Source(f"few great gains {count}", codes, 0, few_great_gains(codes, 0.1, 0.4))


def clustered_sources():
    layouts = {"30 of 10": equal(30, 10), "50 of 4": equal(50, 4), "30 unequal": unequal(30), "50 unequal": unequal(50)}
    for name, codes in layouts.items():
        yield Source(f"{name}, alike", codes, 0, normal(codes, 0.22))
        yield Source(f"{name}, gains tail", codes, 0, gains_tail_by_cluster(codes))
        yield Source(f"{name}, yes/no", codes, 0, yes_no(codes, 0.1, 0.1, 0.2), True)


@pytest.mark.parametrize("source", [*alone_sources(), *clustered_sources()], ids=lambda source: source.name)
def test_one_metric_regresses_falsely_at_most_5_times_of_100(source):
    assert verdicts([source], 2_500).regressed <= limit(2_500)


def five(codes):
    """Five metrics, of which three lean to where false alarms come from."""
    make = gains_tail if len(codes) == codes.max() + 1 else gains_tail_by_cluster
    leaning = [Source("gains tail", codes, 0, make(codes))] * 3
    others = {"normal": normal(codes, 0.2), "most unchanged": mostly_none(codes, 0.2, 0.5)}
    return [*leaning, *(Source(name, codes, 0, draw) for name, draw in others.items())]


LAYOUTS = {
    "30": alone(30), "100": alone(100), "500": alone(500), "30 of 10": equal(30, 10),
    "50 unequal": unequal(50),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_of_five_metrics_regresses_falsely_at_most_5_times_of_100(layout):
    samples = 400 if layout == "500" else 1_000
    assert verdicts(five(LAYOUTS[layout]), samples).regressed <= limit(samples)


def test_without_the_cautious_p_value_five_leaning_metrics_would_regress_too_often():
    """What it is for: sign flips alone take the differences to lean to no side."""
    codes = alone(30)
    clusters, metric = Clusters.of(codes), Source("gains tail", codes, 0, gains_tail(codes))
    drawn = [metric.samples(1_000, seed) for seed in range(1, 6)]
    high = [paired_intervals(values, clusters, 1.0).high for values in drawn]
    falsely = 0
    for place in np.flatnonzero(np.any([one < 0 for one in high], axis=0)):
        adjusted = holm([sign_flip(values[place])[0] for values in drawn])
        falsely += any(one[place] < 0 and p <= 0.05 for one, p in zip(high, adjusted, strict=True))
    assert 100 * falsely / 1_000 > limit(1_000)
    assert verdicts([metric] * 5, 1_000).regressed <= limit(1_000)


def test_one_metric_that_truly_regressed_is_found_among_five():
    codes = alone(200)
    others = five(codes)[1:]
    assert verdicts([Source("worse", codes, -0.08, normal(codes, 0, -0.08)), *others], 100).regressed > 95


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("codes", [alone(60), equal(15, 4)])
def test_the_rule_here_goes_by_the_p_value_of_the_product(codes, binary):
    draw = yes_no(codes, 0.1, 0.3) if binary else gains_tail(codes)
    source = Source("any", codes, 0, draw, binary)
    for values in source.samples(10):
        baseline, candidate = np.where(values < 0, -values, 0.0), np.where(values > 0, values, 0.0)
        assert difference(baseline, candidate, codes, 0, 1, binary).cautious_p_value == pytest.approx(
            _p_value(values, source, Clusters.of(codes))
        )


@pytest.mark.parametrize("codes", [alone(60), equal(15, 4), unequal(20)])
@pytest.mark.parametrize("draw", [normal, gains_tail, mostly_none, yes_no])
def test_the_cautious_p_value_is_never_less_than_that_at_which_the_interval_touches_0(codes, draw):
    settings = {normal: (0.2, -0.05), gains_tail: (), mostly_none: (0.2, 0.8), yes_no: (0.1, 0.3)}[draw]
    clusters, binary = Clusters.of(codes), draw is yes_no
    values = draw(codes, *settings)(np.random.default_rng(1), 20)
    for row, p_value in zip(values, cautious_p_values(values, clusters, 1.0, binary), strict=True):
        found = paired_intervals(row[None], clusters, 1.0, binary, level=1 - p_value)
        assert found.low[0] > -1e-9 or found.high[0] < 1e-9


@pytest.mark.parametrize("codes", [alone(60), equal(30, 2)])
def test_where_differences_lean_to_no_side_both_are_the_t_test(codes):
    from scipy.stats import ttest_1samp

    half = np.random.default_rng(1).normal(0, 0.2, 30)
    values = np.concatenate([half, -half]) - 0.04
    clusters = Clusters.of(codes)
    means = clusters.sums(values[None])[0] / clusters.sizes
    lean = abs(((means - means.mean()) ** 3).sum())
    found = float(cautious_p_values(values[None], clusters, 1.0)[0])
    assert found == pytest.approx(ttest_1samp(means, 0).pvalue, rel=1e-6 if lean < 1e-9 else 0.2)
