"""Shapley values: they add up, exact or drawn, and keep to what may be asked for."""

import itertools
import math
import random

import pytest
from proctor.harness.analysis.attribution import ShareDesign, design_shares, shares_of
from proctor.reports.compare.attribution import subsets

DOCUMENTS = ("a", "b", "c", "d", "e", "f")


def game(seed: int, documents=DOCUMENTS) -> dict[frozenset[str], float]:
    generator = random.Random(seed)
    return {coalition: generator.random() for coalition in subsets(documents)}


def by_orders(values, documents):
    """What the definition says: the mean of what a document adds, over all orders."""
    orders = list(itertools.permutations(documents))
    added = dict.fromkeys(documents, 0.0)
    for order in orders:
        for place, document in enumerate(order):
            added[document] += values[frozenset(order[: place + 1])] - values[frozenset(order[:place])]
    return {document: total / len(orders) for document, total in added.items()}


def test_exact_shares_are_those_of_the_definition():
    values = game(1, "abcd")
    found = shares_of(ShareDesign(tuple("abcd")), values)
    assert found.values == pytest.approx(by_orders(values, "abcd"))
    assert found.errors == {}


@pytest.mark.parametrize("most", [17, 20, 40, 61])
def test_drawn_shares_add_up_and_keep_to_the_bound(most):
    values = game(2)
    known = [frozenset(DOCUMENTS), *(frozenset(DOCUMENTS) - {one} for one in DOCUMENTS)]
    design = design_shares(DOCUMENTS, known, most, seed=3)
    if most == 61:
        assert design.orders == ()
    assert len(set(design.coalitions) - set(known)) <= most
    found = shares_of(design, values)
    assert math.fsum(found.values.values()) == pytest.approx(values[frozenset(DOCUMENTS)] - values[frozenset()])


def test_drawn_shares_come_within_their_errors():
    values, documents = game(4, tuple("abcdefgh")), tuple("abcdefgh")
    design = design_shares(documents, [], 200, seed=5)
    found, exact = shares_of(design, values), shares_of(ShareDesign(documents), values)
    assert design.orders
    assert all(abs(found.values[one] - exact.values[one]) <= 4 * found.errors[one] for one in documents)
    assert all(0 < error < 0.5 for error in found.errors.values())


def test_a_document_that_changes_nothing_has_no_share():
    values = {coalition: float("b" in coalition) for coalition in subsets("abc")}
    assert shares_of(ShareDesign(tuple("abc")), values).values == {"a": 0, "b": 1, "c": 0}


@pytest.mark.parametrize("seed", range(20))
def test_an_order_is_drawn_once_so_that_its_error_is_no_less_than_it_is(seed):
    known = [frozenset("abc"), *(frozenset("abc") - {one} for one in "abc")]
    assert design_shares("abc", known, 3, seed) is None  # one order and its reverse would fit
    known = [frozenset("abcd"), *(frozenset("abcd") - {one} for one in "abcd")]
    design = design_shares("abcd", known, 9, seed)
    assert len({min(order, order[::-1]) for order in design.orders}) * 2 == len(design.orders) >= 4
    assert max(shares_of(design, game(seed, "abcd")).errors.values()) > 0


def test_without_room_for_two_orders_there_are_no_shares():
    assert design_shares(DOCUMENTS, [], 3, seed=0) is None
    assert design_shares(DOCUMENTS, [], 12, seed=0) is None
    assert design_shares(DOCUMENTS, [], 0, seed=0) is None


def test_the_seed_decides_alone():
    assert design_shares(DOCUMENTS, [], 30, seed=1) == design_shares(DOCUMENTS, [], 30, seed=1)
    assert design_shares(DOCUMENTS, [], 30, seed=1) != design_shares(DOCUMENTS, [], 30, seed=2)
