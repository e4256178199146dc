import numpy as np
import pytest
from proctor.reports.statistics.agreement import controlled_threshold

GRID = np.linspace(0, 1, 101)


def wrong_answers(similarity, right, thresholds=GRID):
    """The loss of a bot that answers from the threshold on: 1 when it answers wrongly."""
    return ((similarity[:, None] >= thresholds) & ~right[:, None]).astype(float)


def draw(chance, count, size=1):
    """Similarities, and whether the answer is right; questions of a cluster share a good part of both."""
    groups = count // size
    shared = np.repeat(chance.normal(0, 1, groups), size)
    weight = 0.0 if size == 1 else 0.8
    own = chance.normal(0, 1, count)
    similarity = 1 / (1 + np.exp(-(weight * shared + (1 - weight**2) ** 0.5 * own)))
    return similarity, chance.random(count) < similarity


def test_a_worked_example():
    """Nine questions and one fresh: (losses + 1) / 10 at most 0.3 wants no more than two losses."""
    losses = np.zeros((9, 4))
    losses[:4, 0] = losses[:3, 1] = losses[:2, 2] = losses[:1, 3] = 1
    thresholds = np.array([0.2, 0.4, 0.6, 0.8])
    assert controlled_threshold(losses, thresholds, 0.3) == 0.6
    assert controlled_threshold(losses, thresholds, 0.5) == 0.2
    assert controlled_threshold(losses, thresholds, 0.2) == 0.8
    assert controlled_threshold(losses, thresholds, 0.19) is None


def test_a_fresh_cluster_counts_as_the_largest_one():
    """Twelve questions, the largest cluster with three: (losses + 3) / 15 at most 0.3 wants 1.5 losses or fewer."""
    losses = np.zeros((12, 3))
    losses[:3, 0] = losses[:2, 1] = losses[:1, 2] = 1
    clusters = np.array([0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7])
    assert controlled_threshold(losses, GRID[:3], 0.3, clusters=clusters) == GRID[2]
    assert controlled_threshold(losses, GRID[:3], 0.3) == GRID[1]
    assert controlled_threshold(losses, GRID[:3], 0.3, clusters=np.arange(12)) == GRID[1]


def test_clusters_of_one_size_are_as_their_means():
    chance = np.random.default_rng(4)
    similarity, right = draw(chance, 60, 3)
    losses = wrong_answers(similarity, right)
    means = losses.reshape(20, 3, -1).mean(axis=1)
    found = controlled_threshold(losses, GRID, 0.15, clusters=np.repeat(np.arange(20), 3))
    assert found is not None
    assert found == controlled_threshold(means, GRID, 0.15)


def test_nothing_is_promised_of_too_few_questions():
    assert controlled_threshold(np.zeros((18, 1)), np.array([0.5]), 0.05) is None
    assert controlled_threshold(np.zeros((19, 1)), np.array([0.5]), 0.05) == 0.5
    assert controlled_threshold(np.zeros((0, 1)), np.array([0.5]), 0.5) is None
    assert controlled_threshold(np.zeros((19, 1)), np.array([0.5]), 0.05, clusters=np.arange(19) // 2) is None


@pytest.mark.parametrize(
    ("count", "size", "risk"), [(50, 1, 0.1), (200, 1, 0.1), (200, 1, 0.03), (50, 5, 0.2), (200, 5, 0.1)]
)
def test_the_risk_is_kept_on_fresh_questions(count, size, risk):
    """On average over draws of the questions; with an empty promise nothing is answered, which loses nothing."""
    chance = np.random.default_rng(count + size)
    fresh_similarity, fresh_right = draw(chance, 40_000)
    fresh = wrong_answers(fresh_similarity, fresh_right).mean(axis=0)
    clusters = np.arange(count) // size
    suffered = []
    for _ in range(400):
        losses = wrong_answers(*draw(chance, count, size))
        found = controlled_threshold(losses, GRID, risk, clusters=clusters)
        suffered.append(0.0 if found is None else fresh[np.searchsorted(GRID, found)])
    assert np.mean(suffered) <= risk + 0.004
    assert np.mean(suffered) >= risk * 0.4  # and no threshold is thrown away


def test_unequal_clusters_keep_the_risk_over_questions():
    """Large documents are the hard ones, so that means of clusters alone would promise too much."""
    chance = np.random.default_rng(9)
    suffered, answered = 0.0, 0
    for _ in range(300):
        sizes = chance.choice([1, 12], 31, p=[0.7, 0.3])
        clusters = np.repeat(np.arange(31), sizes)
        similarity = chance.random(len(clusters))
        right = chance.random(len(clusters)) < np.where(sizes[clusters] > 1, 0.6, 0.99)
        losses, seen = wrong_answers(similarity, right), clusters < 30
        found = controlled_threshold(losses[seen], GRID, 0.25, clusters=clusters[seen])
        suffered += 0.0 if found is None else losses[~seen][:, np.searchsorted(GRID, found)].sum()
        answered += np.count_nonzero(~seen)
    assert suffered / answered <= 0.25 + 0.01


@pytest.mark.parametrize(
    ("losses", "thresholds", "says"),
    [
        ([[0, 1]], [0.1, 0.2], "fall or stay"),
        ([[2, 1]], [0.1, 0.2], "from 0 to 1"),
        ([[np.nan, 0]], [0.1, 0.2], "from 0 to 1"),
        ([[1, 0]], [0.2, 0.1], "ascend"),
        ([[1, 0]], [0.1], "shape"),
    ],
)  # fmt: skip
def test_what_breaks_the_promise_is_refused(losses, thresholds, says):
    with pytest.raises(ValueError, match=says):
        controlled_threshold(np.array(losses, float), np.array(thresholds), 0.5)
