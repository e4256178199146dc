"""Shares: Shapley values of the documents of one answer, exact or over drawn orders, from what may be asked for."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...reports.comparing.attribution import subsets

Coalition = frozenset[str]


@dataclass(frozen=True, slots=True)
class Shares:
    """What each document adds to the value of an answer; ``errors`` are empty where the shares are exact."""

    values: Mapping[str, float]
    errors: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ShareDesign:
    """Of which coalitions of documents the value is needed.

    Attributes:
        documents: the players.
        orders: the orders in which they are added; empty where every coalition is needed.
    """

    documents: tuple[str, ...]
    orders: tuple[tuple[str, ...], ...] = ()

    @property
    def coalitions(self) -> tuple[Coalition, ...]:
        """All that are needed, each once: the documents that are present."""
        if not self.orders:
            return tuple(subsets(self.documents))
        return tuple(dict.fromkeys(each for order in self.orders for each in _steps(order)))


def design_shares(documents: Sequence[str], known: Sequence[Coalition], most: int, seed: int) -> ShareDesign | None:
    """Which coalitions to ask for, at most so many beside those whose value is known.

    Exact where all fit; else whole orders are drawn, each with its reverse (which takes out what the place in an
    order does), as long as what they need fits. None is drawn twice: it would be counted as one more, and tell nothing.

    Returns:
        The design; None where not two orders and their reverses fit, as one says nothing of its error.
    """
    given = set(known)
    if len(documents) < most.bit_length() + len(given) and 2 ** len(documents) - len(given) <= most:
        return ShareDesign(tuple(documents))
    generator = random.Random(seed)  # noqa: S311 - a sample, no secret
    needed: set[Coalition] = set()
    orders: list[tuple[str, ...]] = []
    for _ in range(most):
        order = tuple(generator.sample(list(documents), len(documents)))
        pair = (order, order[::-1])
        if order in orders:
            continue
        more = {each for one in pair for each in _steps(one)} - given - needed
        if len(needed) + len(more) > most:
            break
        needed |= more
        orders += pair
    return ShareDesign(tuple(documents), tuple(orders)) if len(orders) > 2 else None


def shares_of(design: ShareDesign, values: Mapping[Coalition, float]) -> Shares:
    """Shapley values from the values of all coalitions of a design.

    They add up to the value of all documents less that of none. Over drawn orders, of which a design has at least two
    with their reverses, the error is the standard error of the mean over these pairs.

    Source: Shapley 1953; sampled by permutations after Castro, Gómez and Tejada 2009, antithetic after Mitchell et
    al. 2022.

    >>> values = {frozenset(): 0.0, frozenset("a"): 1.0, frozenset("b"): 2.0, frozenset("ab"): 4.0}
    >>> dict(shares_of(ShareDesign(("a", "b")), values).values)
    {'a': 1.5, 'b': 2.5}
    """
    documents = design.documents
    orders = design.orders or ()
    if not orders:
        return Shares({each: _exact(each, documents, values) for each in documents}, {})
    added = [dict(_added(order, values)) for order in orders]
    pairs = {
        each: [(a[each] + b[each]) / 2 for a, b in zip(added[::2], added[1::2], strict=True)] for each in documents
    }
    means = {each: math.fsum(found) / len(found) for each, found in pairs.items()}
    count = len(orders) // 2
    errors = {
        each: math.sqrt(math.fsum((one - means[each]) ** 2 for one in found) / (count - 1) / count)
        for each, found in pairs.items()
    }
    return Shares(means, errors)


def _exact(document: str, documents: Sequence[str], values: Mapping[Coalition, float]) -> float:
    others = [each for each in documents if each != document]
    count = len(documents)
    return math.fsum(
        (values[before | {document}] - values[before]) / (count * math.comb(count - 1, len(before)))
        for size in range(count)
        for before in map(frozenset, itertools.combinations(others, size))
    )


def _steps(order: Sequence[str]) -> Iterator[Coalition]:
    """The coalitions that grow along an order, from none to all."""
    return (frozenset(order[:size]) for size in range(len(order) + 1))


def _added(order: Sequence[str], values: Mapping[Coalition, float]) -> Iterator[tuple[str, float]]:
    for (before, after), document in zip(itertools.pairwise(_steps(order)), order, strict=True):
        yield document, values[after] - values[before]
