"""Shares of several changes in one difference: they add up, and are the same for changes that did the same."""

import itertools
import math

import numpy as np
import pytest
from proctor.reports.compare.attribution import effects, shapley, subsets
from proctor.reports.summary import MetricColumn

RECALL = MetricColumn("recall", "1", "higher", 0.0, 1.0, None)


def lattice(factors: str, questions: int, seed: int) -> dict[frozenset[str], np.ndarray]:
    draws = np.random.default_rng(seed)
    return {new: draws.random(questions) for new in subsets(list(factors))}


def over_all_orders(values, factors):
    """The definition: what a factor adds when it is changed, averaged over all orders."""
    shares = dict.fromkeys(factors, 0.0)
    for order in itertools.permutations(factors):
        for place, factor in enumerate(order):
            before = frozenset(order[:place])
            shares[factor] = shares[factor] + (values[before | {factor}] - values[before]) / math.factorial(
                len(factors)
            )
    return shares


@pytest.mark.parametrize("factors", ["a", "ab", "abc", "abcd"])
def test_shares_are_the_mean_over_all_orders(factors):
    values = lattice(factors, 20, 3)
    expected = over_all_orders(values, factors)
    shares = shapley(values, factors)
    for factor in factors:
        np.testing.assert_allclose(shares[factor], expected[factor], atol=1e-12)


def test_the_glove_game():
    """One left glove (a) and two right ones (b, c); a pair is worth 1: the known values are 4/6, 1/6 and 1/6."""
    values = {new: np.array([float("a" in new and len(new) > 1)]) for new in subsets("abc")}
    shares = shapley(values, "abc")
    assert [float(shares[name][0]) for name in "abc"] == pytest.approx([4 / 6, 1 / 6, 1 / 6])


def test_shares_of_every_question_add_up_to_its_difference():
    values = lattice("abcd", 50, 1)
    total = sum(shapley(values, "abcd").values())
    np.testing.assert_allclose(total, values[frozenset("abcd")] - values[frozenset()], atol=1e-12)


def test_a_change_that_does_nothing_has_no_share():
    known = lattice("ab", 10, 2)
    values = {new: known[new - {"c"}] for new in subsets("abc")}
    assert np.abs(shapley(values, "abc")["c"]).max() < 1e-12


def test_effects_have_intervals_over_clusters_and_add_up():
    draws = np.random.default_rng(0)
    baseline = draws.random(120)
    harm = np.where(draws.random(120) < 0.4, 0.3, 0.0)
    between = {
        frozenset(): baseline,
        frozenset({"prompt"}): baseline,
        frozenset({"retrieval"}): baseline - harm,
        frozenset({"prompt", "retrieval"}): baseline - harm,
    }
    found = effects(RECALL, baseline, between, ["prompt", "retrieval"], np.arange(120) // 4)
    assert found is not None
    prompt, retrieval = found.effects
    assert found.whole.mean == pytest.approx(-harm.mean())
    assert prompt.difference.mean + retrieval.difference.mean == pytest.approx(found.whole.mean)
    assert (prompt.factor, retrieval.factor) == ("prompt", "retrieval")
    assert retrieval.difference.low < -harm.mean() < retrieval.difference.high < 0
    assert prompt.difference.low < 0 < prompt.difference.high
    assert (found.questions, found.dropped, retrieval.difference.clusters) == (120, 0, 30)


def test_a_step_that_can_not_be_taken_back_comes_first_and_counts_as_well():
    baseline = np.array([1.0, 1.0, 1.0, 0.5])
    between = {frozenset(): baseline - 0.25, frozenset({"prompt"}): baseline - 0.5}
    found = effects(RECALL, baseline, between, ["prompt"], np.arange(4), "surroundings")
    assert found is not None
    assert {each.factor: each.difference.mean for each in found.effects} == {"surroundings": -0.25, "prompt": -0.25}
    alone = effects(RECALL, baseline, {frozenset(): baseline - 0.25}, [], np.arange(4), "surroundings")
    assert alone is not None
    assert [each.difference.mean for each in alone.effects] == [-0.25]


def test_a_question_without_a_value_in_one_configuration_is_left_out_of_all():
    baseline, candidate = np.array([1.0, 1.0, 1.0]), np.array([0.0, 1.0, np.nan])
    nan = np.nan
    between = {
        frozenset(): baseline,
        frozenset("a"): np.array([1.0, nan, 1.0]),
        frozenset("b"): baseline,
        frozenset("ab"): candidate,
    }
    found = effects(RECALL, baseline, between, ["a", "b"], np.arange(3))
    assert found is not None
    assert (found.questions, found.dropped, found.whole.mean) == (1, 1, -1.0)
    assert effects(RECALL, np.full(3, nan), between, ["a", "b"], np.arange(3)) is None
