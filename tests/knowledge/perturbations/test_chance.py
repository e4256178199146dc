"""Chance: the same draws on any machine, fair ones, and none that depend on what was drawn elsewhere."""

from collections import Counter

import pytest
from proctor.knowledge.perturbations.edits import Chance


def test_draws_are_the_same_on_any_machine() -> None:
    chance = Chance(7, "q1", "comma", 0.1)
    assert [chance.below(1000) for _ in range(10)] == [601, 321, 283, 949, 91, 361, 665, 859, 102, 412]


@pytest.mark.parametrize("other", [(8, "q1"), (7, "q2"), (7, "q1", 0), ("7", "q1")])
def test_other_parts_draw_otherwise(other: tuple[object, ...]) -> None:
    drawn = [[chance.below(2**32) for _ in range(4)] for chance in (Chance(7, "q1"), Chance(*other))]
    assert drawn[0] != drawn[1]


def test_every_number_is_as_likely_as_any_other() -> None:
    chance = Chance("fair")
    counts = Counter(chance.below(6) for _ in range(60_000))
    assert sorted(counts) == list(range(6))
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts.values()) < 20.5  # chi squared, 5 degrees, p = 0.001


def test_shuffling_keeps_every_item_and_reaches_every_order() -> None:
    chance = Chance("order")
    orders = Counter(tuple(chance.shuffled("abc")) for _ in range(6_000))
    assert len(orders) == 6
    assert min(orders.values()) > 850


def test_the_first_of_a_shuffle_are_as_many_as_wanted() -> None:
    drawn = Chance("some").shuffled(range(100), 7)
    assert len(set(drawn)) == 7
    assert set(drawn) <= set(range(100))
    assert Chance("some").shuffled([1, 2], 5) in ([1, 2], [2, 1])


def test_texts_that_no_file_can_hold_are_parts_like_any_other() -> None:
    assert Chance("\ud800").below(10**9) == Chance("\ud800").below(10**9)
