"""Choosing the best bot for each question: by hand, and how far noise flatters it."""

import numpy as np
import pytest
from proctor.reports.ranking.routing import best_per_question


def bound(values, clusters=None, **changes):
    """``values`` have the shape (questions, bots) or (questions, bots, repeats)."""
    made = np.asarray(values, np.float64)
    made = made[:, :, None] if made.ndim == 2 else made
    codes = np.arange(len(made)) if clusters is None else np.asarray(clusters)
    bots = tuple("abcdefghij"[: made.shape[1]])
    return best_per_question(bots, made, codes, changes.get("low", 0.0), changes.get("high", 1.0))


def test_by_hand():
    found = bound([[1, 0], [0, 1], [1, 1], [1, 0], [1, 0]])
    assert (found.single, found.single_mean, found.bound) == ("a", 0.8, 1.0)
    assert (found.gain.mean, found.gain.wins, found.gain.losses) == (0.2, 1, 0)
    assert found.chosen == {"a": (1 + 0 + 0.5 + 1 + 1) / 5, "b": (0 + 1 + 0.5 + 0 + 0) / 5}
    assert found.honest is None
    assert found.gain.high > 0.2 > found.gain.low
    between = bound([[0.5, 0], [0, 0.5], [0.5, 0.5], [0.5, 0], [0.5, 0]]).gain
    assert bound([[1, 0], [0, 1], [1, 1], [1, 0], [1, 0]], high=2.0).gain.test == between.test
    assert (found.gain.test, between.test) == ("McNemar, mid-p", "Student's t, CR2")


def test_the_interval_rests_on_clusters():
    values = np.repeat([[1, 0], [0, 1], [1, 1], [1, 0], [1, 0], [1, 0]], 10, axis=0)
    alone, clustered = bound(values), bound(values, np.repeat(np.arange(6), 10))
    assert clustered.gain.high - clustered.gain.low > 1.5 * (alone.gain.high - alone.gain.low)


def test_with_repeats_the_bot_is_chosen_on_the_others():
    # Question 1: by repeat 1 and by repeat 2 alike b is better. Question 2: each repeat chooses the wrong bot.
    found = bound([[[0.2, 0.2], [0.8, 0.6]], [[1.0, 0.0], [0.0, 0.9]]])
    assert found.bound == pytest.approx((0.7 + 0.5) / 2)
    assert found.honest == pytest.approx(((0.6 + 0.8) / 2 + (0.0 + 0.0) / 2) / 2)
    assert found.honest_gain.mean == pytest.approx(found.honest - found.single_mean)


def test_choices_that_tie_share():
    found = bound([[[0.5, 0.5], [0.5, 0.1]]])
    assert found.honest == pytest.approx((0.5 + (0.5 + 0.1) / 2) / 2)  # repeat 1 by repeat 2: a; repeat 2 by 1: a tie


def test_a_bot_with_a_single_value_of_a_question_is_not_chosen_there():
    found = bound([[[0.9, np.nan], [0.8, 0.7]], [[0.0, 0.0], [1.0, 1.0]]])
    assert found.honest == pytest.approx(((0.8 + 0.7) / 2 + 1.0) / 2)


def test_where_there_is_nothing_to_choose_by_it_is_the_single_bot():
    found = bound([[[0.9, np.nan], [np.nan, 0.8]], [[0.0, 0.0], [1.0, 1.0]]])
    assert found.single == "b"
    assert found.honest == pytest.approx((0.8 + 1.0) / 2)


def test_a_bot_that_mostly_fails_takes_nothing_from_the_others():
    values = np.random.default_rng(0).integers(0, 2, (300, 2, 1)).repeat(3, axis=2).astype(float)
    failing = np.full((300, 1, 3), np.nan)
    failing[:, :, 0] = 0.0
    assert bound(np.concatenate([values, failing], axis=1)).honest == bound(values).honest == bound(values).bound


def test_noise_flatters_the_bound_and_not_the_honest_figure():
    """Five bots, all right half of the time: nothing can be gained, whatever the bound says."""
    values = np.random.default_rng(0).integers(0, 2, (2000, 5, 3)).astype(float)
    found = bound(values)
    assert found.bound > 0.75
    assert found.honest == pytest.approx(0.5, abs=0.03)
    assert found.honest_gain.low < 0 < found.honest_gain.high or abs(found.honest_gain.mean) < 0.03


def test_what_can_be_gained_is_found():
    """Of two bots each is right where the other is wrong, without noise."""
    right = np.random.default_rng(1).integers(0, 2, 500)
    values = np.stack([np.column_stack([right, 1 - right])] * 2, axis=2)
    found = bound(values)
    assert found.bound == found.honest == 1.0
    assert found.honest_gain.low > 0.4


def test_lower_is_better_comes_turned():
    found = bound([[-3.0, -1.0], [-2.0, -4.0]], low=None, high=0.0)
    assert (found.single, found.single_mean, found.bound) == ("a", -2.5, -1.5)
