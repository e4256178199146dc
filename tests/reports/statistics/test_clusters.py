import numpy as np
import pytest
from proctor.reports.statistics.intervals import Clusters


def test_values_are_added_up_by_code_wherever_they_stand():
    found = Clusters.of(np.array([4, 1, 4, 9, 1, 4]))
    assert found.sizes.tolist() == [2, 3, 1]
    assert found.sums(np.array([[1.0, 2.0, 4.0, 8.0, 16.0, 32.0]])).tolist() == [[18.0, 37.0, 8.0]]
    assert (found.count, found.questions, found.single) == (3, 6, False)


def test_a_question_alone_is_a_cluster():
    found = Clusters.of(np.array([3, 1, 2]))
    assert found.single
    assert sorted(found.sums(np.array([5.0, 6.0, 7.0]))) == [5.0, 6.0, 7.0]


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("likeness", [0.0, 0.1, 1.0])
def test_clusters_of_one_size_have_one_degree_fewer_than_they_are(size, likeness):
    assert Clusters.of(np.repeat(np.arange(30), size)).degrees(likeness) == pytest.approx(29)


@pytest.mark.parametrize("likeness", [0.0, 0.1, 1.0])
def test_degrees_of_unequal_clusters_are_those_of_the_whole_matrices(likeness):
    """Bell and McCaffrey's formula, with every question's row and column written out."""
    codes = np.array([0] * 12 + [1] * 3 + [2] * 7 + [3] + [4] * 2)
    count = len(codes)
    member = (codes[:, None] == np.arange(5)).astype(float)
    working = (1 - likeness) * np.eye(count) + likeness * member @ member.T
    residuals = np.eye(count) - 1 / count
    columns = residuals @ member / np.sqrt(1 - member.sum(axis=0) / count)
    gram = columns.T @ working @ columns
    assert Clusters.of(codes).degrees(likeness) == pytest.approx(np.trace(gram) ** 2 / np.trace(gram @ gram))


def test_one_great_cluster_leaves_few_degrees():
    assert Clusters.of(np.array([0] * 100 + list(range(1, 21)))).degrees() < 4
