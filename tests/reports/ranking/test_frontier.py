"""Who is worth time and money: dominated bots, censored times, costs that are not known."""

import numpy as np
import pytest
from proctor.reports.ranking.routing import Offer, frontier, mean_cost, median_latency
from ranked_tables import table


def beaten(*offers):
    return {each.bot: each.dominated_by for each in frontier([Offer(*offer) for offer in offers])}


def test_a_bot_is_dominated_by_whoever_is_better_in_something_and_worse_in_nothing():
    found = beaten(("faq", 0.4, 1.0, 0.0), ("rag", 0.7, 10.0, 0.1), ("slow", 0.7, 20.0, 0.1), ("bad", 0.3, 5.0, 0.2))
    assert found == {"faq": (), "rag": (), "slow": ("rag",), "bad": ("faq",)}


def test_equals_do_not_dominate_each_other():
    assert beaten(("a", 0.5, 1.0, 0.1), ("b", 0.5, 1.0, 0.1)) == {"a": (), "b": ()}


def test_what_is_not_known_of_all_plays_no_part():
    assert beaten(("a", 0.5, 1.0, None), ("b", 0.4, 2.0, 0.0)) == {"a": (), "b": ("a",)}
    assert beaten(("a", 0.5, None, 0.2), ("b", 0.4, 2.0, 0.1)) == {"a": (), "b": ()}
    assert beaten(("a", None, None, None), ("b", 0.4, 2.0, 0.1)) == {"a": (), "b": ()}


def test_the_median_time_counts_those_that_timed_out_as_longer_and_leaves_out_those_that_failed():
    said = [True, True, True, False, False]
    late = [False, False, False, True, True]
    assert median_latency(table("a", [1, 1, 1, 1, 1], latency=[1, 2, 3, 4, 5])) == 3
    given_up = table("a", [1, 1, 1, 1, 1], latency=[1, 2, 3, 60, 60], answered=said, timed_out=late)
    assert median_latency(given_up) == pytest.approx(3)
    for until in (0.1, 60):  # whenever it failed
        raised = table("a", [1, 1, 1, 1, 1], latency=[1, 2, 3, until, until], answered=said)
        assert median_latency(raised) == pytest.approx(2)
    never = [False] * 3
    assert median_latency(table("a", [1, 1, 1], latency=[5, 5, 5], answered=never, timed_out=[True] * 3)) is None
    assert median_latency(table("a", [1, 1, 1], latency=[5, 5, 5], answered=never)) is None
    assert median_latency(table("a", [1, 1], latency=[np.nan, np.nan])) is None


def test_the_cost_is_known_only_where_every_answer_tells_it():
    assert mean_cost(table("a", [1, 1], cost=[0.1, 0.3])) == pytest.approx(0.2)
    assert mean_cost(table("a", [1, 1], cost=[0.1, np.nan])) is None
    assert mean_cost(table("a", [1, 1], cost=[0.1, np.nan], answered=[True, False])) == pytest.approx(0.1)
    assert mean_cost(table("a", [1, 1], cost=[0.1, np.nan]), 0.5) == 0.5
