"""How sure it is which bot is best: against Student's t, the normal approximation, and the rules of ties."""

from statistics import NormalDist

import numpy as np
import pytest
from proctor.reports.ranking.ranking import Goodness, names_in_order, rank, rank_all
from tables import in_one_test


def goodness(values, clusters=None, bots="abc"):
    made = np.asarray(values, np.float64)
    codes = np.arange(len(made)) if clusters is None else np.asarray(clusters, np.intp)
    return Goodness(tuple(bots[: made.shape[1]]), made, codes)


@in_one_test("documents", [3, 4, 6, 11])
@in_one_test("lead", [0.2, 0.5, 1.5])
def test_of_two_bots_the_probability_is_that_of_student_s_t(documents, lead):
    """By hand: the lead over its standard error, with one degree of freedom less than there are documents."""
    from scipy.stats import t

    leads = np.linspace(-1, 1, documents) + lead
    values = np.repeat(np.column_stack([leads, np.zeros(documents)]), 10, axis=0)
    found = rank(goodness(values, np.repeat(np.arange(documents), 10)))
    wanted = t.cdf(lead / (leads.std(ddof=1) / np.sqrt(documents)), documents - 1)
    assert found.best == pytest.approx([wanted, 1 - wanted], abs=0.012)
    assert found.same_winner == pytest.approx(wanted, abs=0.012)


def test_questions_of_one_document_say_nothing_of_who_is_best():
    found = rank(goodness([[0.9, 0.1], [0.8, 0.3]], [0, 0]))
    assert found.best == pytest.approx([0.5, 0.5], abs=0.02)


def test_what_is_said_to_be_nearly_certain_is_right():
    """Four documents of ten, two bots whose means are one standard error apart: 95 sure is right 90 of 100 at least."""
    chance, right = np.random.default_rng(4), []
    codes = np.repeat(np.arange(4), 10)
    for _ in range(300):
        truth = chance.normal(0, 0.4, 2)
        shared = chance.normal(0, 0.55, (4, 2))[codes]
        found = rank(goodness(truth + shared + chance.normal(0, 0.8, (40, 2)), codes), draws=1_000)
        if found.best.max() >= 0.95:
            right.append(found.best.argmax() == truth.argmax())
    assert len(right) > 15
    assert np.mean(right) >= 0.88


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


def test_who_is_above_on_every_question_is_best_the_surer_the_more_there_are():
    few, many = (rank(goodness(np.tile([[0.1, 0.9], [0.2, 0.8], [0.0, 0.3]], (times, 1)))) for times in (1, 10))
    assert 0.9 < few.best[1] < many.best[1] == 1.0
    assert names_in_order(few) == [("b",), ("a",)]


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
    """They rest on raw bits."""
    found = rank(goodness([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    assert [round(share, 6) for share in found.best.tolist()] == [0.6896, 0.3104]


def test_odds_do_not_hang_on_which_other_metrics_are_ranked():
    values = np.random.default_rng(6).random((24, 2))
    clusters = np.arange(24) // 3
    some = goodness(values[:12], clusters[:12])
    found = rank_all({"whole": goodness(values, clusters), "some": some, "none": goodness(np.empty((0, 2)))})
    assert set(found) == {"whole", "some"}
    assert found["some"].best.tolist() == rank(some).best.tolist()
    assert found["some"].clusters == 4
    assert rank_all({}) == {}


def test_many_questions():
    source = np.random.default_rng(7)
    noise = source.normal(size=3000)
    leads = (noise - noise.mean()) / noise.std() + 0.02
    found = rank(goodness(np.column_stack([leads, np.zeros(3000)])), draws=3000)
    assert found.draws == 3000
    assert found.best[0] == pytest.approx(NormalDist().cdf(0.02 * 3000**0.5), abs=0.03)
