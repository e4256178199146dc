"""How sure it is which bot is best: against enumeration, the normal approximation, and the rules of ties."""

import itertools
from statistics import NormalDist

import numpy as np
import pytest
from proctor.reports.ranking.ranking import Goodness, names_in_order, rank, rank_all


def goodness(values, clusters=None, bots="abc"):
    made = np.asarray(values, np.float64)
    codes = np.arange(len(made)) if clusters is None else np.asarray(clusters, np.intp)
    return Goodness(tuple(bots[: made.shape[1]]), made, codes)


def enumerated(values):
    """Every resample of the questions, each as likely: ranks of the bots in it, ties sharing."""
    made = np.asarray(values, np.float64)
    for places in itertools.product(range(len(made)), repeat=len(made)):
        means = made[list(places)].mean(axis=0)
        above = (means[None, :] > means[:, None] + 1e-9).sum(axis=1)
        level = (np.abs(means[None, :] - means[:, None]) <= 1e-9).sum(axis=1)
        yield above + (level + 1) / 2, above, level


SMALL = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5], [1.0, 0.6, 0.0], [0.2, 0.0, 0.9]]


def test_the_probability_of_being_best_is_that_of_all_resamples_enumerated():
    every = list(enumerated(SMALL))
    exact = np.mean([np.where(above == 0, 1 / level, 0) for _, above, level in every], axis=0)
    found = rank(goodness(SMALL))
    assert found.best == pytest.approx(exact, abs=0.015)
    assert found.expected == pytest.approx(np.mean([ranks for ranks, _, _ in every], axis=0), abs=0.03)


def test_stability_is_how_often_a_resample_has_the_measured_winner_and_ranking():
    every = list(enumerated(SMALL))
    measured = np.argsort(np.argsort(-np.mean(SMALL, axis=0))) + 1
    exact = np.mean([(ranks == measured).all() for ranks, _, _ in every])
    winner = np.mean([np.flatnonzero(above == 0).tolist() == [0] for _, above, _ in every])
    found = rank(goodness(SMALL))
    assert found.winners == ("a",)
    assert found.same_ranking == pytest.approx(exact, abs=0.015)
    assert found.same_winner == pytest.approx(winner, abs=0.015)


@pytest.mark.parametrize("lead", [0.0, 0.02, 0.05, 0.1])
def test_of_two_bots_the_probability_is_that_of_the_normal_distribution(lead):
    source = np.random.default_rng(1)
    noise = source.normal(size=400)
    leads = 0.5 * (noise - noise.mean()) / noise.std() + lead  # mean and spread as wanted, to the last digit
    found = rank(goodness(np.column_stack([leads, np.zeros(400)])))
    assert found.best[0] == pytest.approx(NormalDist().cdf(lead / (0.5 / 20)), abs=0.02)
    assert found.above[0, 1] == pytest.approx(found.best[0])


def test_clusters_make_it_less_sure():
    """Four copies of each question are no more than the question, once they stand in its cluster."""
    values = np.random.default_rng(2).normal([0.2, 0.0], size=(30, 2))
    alone = rank(goodness(values))
    copied = rank(goodness(np.repeat(values, 4, axis=0), np.repeat(np.arange(30), 4)))
    unclustered = rank(goodness(np.repeat(values, 4, axis=0)))
    assert copied.best == pytest.approx(alone.best)
    assert unclustered.best[0] > alone.best[0] + 0.03
    assert (copied.questions, copied.clusters) == (120, 30)


def test_bots_that_are_the_same_share_the_first_rank():
    same = np.random.default_rng(3).random(20)
    found = rank(goodness(np.column_stack([same, same, same - 1])))
    assert found.best.tolist() == [0.5, 0.5, 0.0]
    assert found.shares.tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    assert found.ranks.tolist() == [1.5, 1.5, 3.0]
    assert found.winners == ("a", "b")
    assert names_in_order(found) == [("a", "b"), ("c",)]
    assert found.same_winner == found.same_ranking == 1.0


def test_means_that_differ_by_the_order_of_additions_alone_tie():
    found = rank(goodness([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], [0.7, 0.7]]))
    assert found.best.tolist() == [0.5, 0.5]


def test_who_is_above_on_every_question_is_best_for_sure():
    found = rank(goodness([[0.1, 0.9], [0.2, 0.8], [0.0, 0.3]]))
    assert found.best.tolist() == [0.0, 1.0]
    assert names_in_order(found) == [("b",), ("a",)]


def test_every_rank_is_taken_and_every_bot_has_one():
    found = rank(goodness(np.random.default_rng(4).integers(0, 2, (15, 3)).astype(float)))
    assert found.shares.sum(axis=0) == pytest.approx([1, 1, 1])
    assert found.shares.sum(axis=1) == pytest.approx([1, 1, 1])
    assert found.expected == pytest.approx(found.shares @ [1, 2, 3])
    assert found.best == pytest.approx(found.shares[:, 0])


def test_a_seed_gives_the_same_figures_and_another_seed_others():
    values = np.random.default_rng(5).random((40, 3))
    assert rank(goodness(values), 7).best.tolist() == rank(goodness(values), 7).best.tolist()
    assert rank(goodness(values), 7).best.tolist() != rank(goodness(values), 8).best.tolist()


def test_the_figures_of_a_seed_are_the_same_on_every_machine():
    """They rest on raw bits and on comparisons of sums of whole numbers, so not a digit may change."""
    found = rank(goodness([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    assert [round(share, 6) for share in found.best.tolist()] == [0.72595, 0.27405]


def test_metrics_are_resampled_together():
    """A metric that others have beside it is ranked as it is alone; a cluster that lacks it leaves it as it is."""
    values = np.random.default_rng(6).random((24, 2))
    clusters = np.arange(24) // 3
    some = goodness(values[:12], clusters[:12])
    found = rank_all({"whole": goodness(values, clusters), "some": some, "none": goodness(np.empty((0, 2)))})
    assert set(found) == {"whole", "some"}
    assert found["whole"].best.tolist() == rank(goodness(values, clusters)).best.tolist()
    assert found["some"].best == pytest.approx(rank(some).best, abs=0.06)
    assert found["some"].clusters == 4
    assert rank_all({}) == {}


def test_odds_do_not_hang_on_which_other_metrics_are_ranked():
    values = np.random.default_rng(8).random((24, 2))
    clusters = np.arange(24) // 3
    some = goodness(values[:12], clusters[:12])
    alone = rank_all({"some": some}, clusters=8)["some"]
    beside = rank_all({"some": some, "whole": goodness(values, clusters)}, clusters=8)["some"]
    assert alone.best.tolist() == beside.best.tolist()
    assert alone.clusters == 4


def test_more_clusters_than_are_drawn_at_once():
    source = np.random.default_rng(7)
    noise = source.normal(size=3000)
    leads = (noise - noise.mean()) / noise.std() + 0.02
    found = rank(goodness(np.column_stack([leads, np.zeros(3000)])), draws=3000)
    assert found.draws == 3000
    assert found.best[0] == pytest.approx(NormalDist().cdf(0.02 * 3000**0.5), abs=0.03)
