import itertools

import numpy as np
import pytest
from proctor.reports.statistics.intervals import signs
from proctor.reports.statistics.paired import sign_flip

SEED = 20261121
CHANCE = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def _the_same_draws_in_whatever_order() -> None:
    CHANCE.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


@pytest.mark.parametrize("count", [2, 3, 5, 11])
def test_the_exact_test_is_scipy_s(count):
    from scipy.stats import permutation_test

    sums = CHANCE.normal(0.6, 1, count)
    found, name = sign_flip(sums)
    wanted = permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert found == pytest.approx(wanted.pvalue - 2**-count)  # no two patterns of such sums tie but for the sign
    assert name == "permutation, exact mid-p"


def test_the_drawn_test_is_near_scipy_s():
    from scipy.stats import permutation_test

    sums = CHANCE.normal(0.2, 1, 70)
    found, name = sign_flip(sums)
    wanted = permutation_test(
        (sums,), lambda drawn, axis: drawn.sum(axis=axis), permutation_type="samples", n_resamples=50_000,
        vectorized=True, rng=np.random.default_rng(1), batch=5_000,
    )  # fmt: skip
    error = np.sqrt(wanted.pvalue * (1 - wanted.pvalue) * (1 / 20_000 + 1 / 50_000))
    assert found == pytest.approx(wanted.pvalue, abs=4 * error)
    assert name == "permutation, mid-p of 20,000 draws"


@pytest.mark.parametrize("count", [17, 63, 64, 65, 71, 200])
def test_looking_up_eight_clusters_at_once_adds_up_what_the_signs_say(count):
    sums = CHANCE.normal(0.1, 1, count)
    totals = signs(5, 2_000, count) @ sums
    far = int((np.abs(totals) >= abs(sums.sum()) - 1e-9).sum())
    assert sign_flip(sums, seed=5, draws=2_000)[0] == (0.5 + far) / 2_001


def test_every_pattern_is_counted_once_and_ties_count_half():
    sums = np.array([1.0, 1.0, 2.0, -1.0])
    totals = [abs(np.dot(pattern, sums)) for pattern in itertools.product([-1, 1], repeat=4)]
    assert sign_flip(sums)[0] == sum((total > 3) + (total == 3) / 2 for total in totals) / 16


def test_ties_do_not_hang_on_the_order_of_additions():
    """0.1 + 0.2 + 0.3 isn't 0.3 + 0.2 + 0.1, to the computer."""
    sums = np.array([0.1, 0.2, 0.3, -0.6, 0.7, 0.1])
    found = {sign_flip(np.array(order))[0] for order in itertools.permutations(sums)}
    assert len(found) == 1


def test_clusters_without_change_alter_nothing():
    sums = CHANCE.normal(0.5, 1, 12)
    assert sign_flip(np.concatenate([sums, np.zeros(500)])) == sign_flip(sums)


def test_scale_and_direction_alter_nothing():
    sums = CHANCE.normal(0.2, 1, 40)
    assert sign_flip(sums * 1e-9) == sign_flip(sums) == sign_flip(-sums)


def test_no_change_is_no_evidence():
    assert sign_flip(np.zeros(30)) == (1.0, "permutation, exact mid-p")


def test_drawn_p_values_are_never_0():
    assert sign_flip(np.ones(100))[0] == 0.5 / 20_001


def test_the_same_seed_gives_the_same_p_value_for_ever():
    sums = np.array([(-1) ** place * (place % 7) + 0.5 for place in range(100)])
    assert sign_flip(sums, seed=3) == (3_480 / 20_001, "permutation, mid-p of 20,000 draws")


def test_p_values_are_fair_where_nothing_changed_on_the_whole():
    """At most 5 of 100 are at most 0.05, for clusters of any size whose differences lean to no side."""
    found = [sign_flip(row * np.arange(1, 13), seed=1)[0] for row in CHANCE.standard_t(3, (3_000, 12))]
    assert np.mean(np.array(found) <= 0.05) == pytest.approx(0.05, abs=0.016)
