"""The statistics behind the README's figures on human-labelled data (tests/benchmarks/agreement.py)."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

SPEC = importlib.util.spec_from_file_location("agreement", Path(__file__).parent / "benchmarks" / "agreement.py")
assert SPEC
assert SPEC.loader
agreement = importlib.util.module_from_spec(SPEC)
sys.modules["agreement"] = agreement  # a dataclass looks for its module
SPEC.loader.exec_module(agreement)

CHANCE = np.random.default_rng(3)
LABELS = CHANCE.random(300) < 0.4
SCORES = np.round(CHANCE.random(300) + 0.3 * LABELS, 1)  # with ties


def test_figures_are_those_of_scikit_learn_and_scipy():
    assert agreement.auroc(SCORES, LABELS) == pytest.approx(roc_auc_score(LABELS, SCORES))
    said = SCORES >= 0.6
    found = agreement.decided(said, LABELS)
    wanted = (accuracy_score(LABELS, said), balanced_accuracy_score(LABELS, said), f1_score(LABELS, said))
    assert (found.accuracy, found.balanced, found.f1) == pytest.approx(wanted)
    other = SCORES + CHANCE.normal(size=300)
    for kind, function in (("pearson", pearsonr), ("spearman", spearmanr), ("kendall", kendalltau)):
        assert agreement.correlation(kind, SCORES, other) == pytest.approx(function(SCORES, other).statistic)


def test_one_class_or_no_variation_has_no_figure():
    assert np.isnan(agreement.auroc(SCORES, np.ones(300, dtype=bool)))
    assert np.isnan(agreement.correlation("pearson", SCORES, np.ones(300)))


def test_the_best_threshold_is_that_of_trying_all():
    tried = {one: agreement.decided(one <= SCORES, LABELS).balanced for one in np.unique(SCORES)}
    assert agreement.best_threshold(SCORES, LABELS) == max(tried, key=tried.get)


def test_a_threshold_is_never_chosen_on_the_document_it_is_applied_to():
    clusters = np.arange(300) // 10
    moved = np.where(clusters == 7, 1000.0 + np.arange(300), SCORES)  # whatever document 7 says
    before, after = (agreement.cross_validated(scores, LABELS, clusters) for scores in (SCORES, moved))
    assert after[clusters == 7].all()  # above any threshold that the others suggest
    changed = agreement.cross_validated(SCORES, np.where(clusters == 7, ~LABELS, LABELS), clusters)
    assert (changed[clusters == 7] == before[clusters == 7]).all()


def test_intervals_are_wider_where_rows_share_a_document():
    same = np.repeat(CHANCE.random(30), 10)

    def mean(rows):
        return float(same[rows].mean())

    apart, together = agreement.bootstrap(mean, np.arange(300)), agreement.bootstrap(mean, np.arange(300) // 10)
    assert apart.value == together.value
    assert together.high - together.low > 2 * (apart.high - apart.low)
    expected = same.std() * 1.96 * 2 / np.sqrt(30)
    assert together.high - together.low == pytest.approx(expected, rel=0.1)
    assert agreement.bootstrap(mean, np.arange(300)) == apart
