"""The threshold for a chosen risk: by hand, and whether the promise is kept on new questions."""

import numpy as np
import pytest
from proctor.reports.ranking.abstention import promise


def promised(wrong, confidence, risk, clusters=None):
    made, sure = np.array(wrong, dtype=bool), np.array(confidence, dtype=float)
    if made.ndim == 1:
        made, sure = made[:, None], sure[:, None]
    return promise(made, sure, risk, None if clusters is None else np.asarray(clusters))


def test_by_hand():
    """Nine questions, wrong at 0.1, 0.3 and 0.6. A risk of 0.2 allows (wrong + 1) / 10 <= 0.2: one wrong answer."""
    sure = np.arange(1, 10) / 10
    wrong = np.isin(np.arange(1, 10), (1, 3, 6))
    found = promised(wrong, sure, 0.2)
    assert found.threshold == pytest.approx(0.4)  # 0.3 would leave two wrong ones
    assert found.answered == pytest.approx(6 / 9)
    assert found.wrong == pytest.approx(1 / 9)
    assert promised(wrong, sure, 0.3).threshold == pytest.approx(0.2)
    assert promised(wrong, sure, 0.4).threshold == found.lowest == pytest.approx(0.1)
    assert found.questions == 9


def test_where_nothing_can_be_promised_the_smallest_risk_is_told():
    found = promised([True, False, False, False], [0.1, 0.4, 0.6, 0.9], 0.15)
    assert (found.threshold, found.answered, found.wrong) == (None, None, None)
    assert found.smallest_risk == pytest.approx(1 / 5)
    assert found.at == 0.4
    again = promised([True, False, False, False], [0.1, 0.4, 0.6, 0.9], found.smallest_risk)
    assert again.threshold == found.at


def test_clusters_cost_their_largest():
    """Twelve questions of three documents of four: a new document may be wrong on four."""
    found = promised([False] * 12, np.linspace(0.1, 0.9, 12), 0.1, np.arange(12) // 4)
    assert found.threshold is None
    assert found.smallest_risk == pytest.approx(4 / 16)
    assert promised([False] * 12, np.linspace(0.1, 0.9, 12), 0.1).threshold == pytest.approx(0.1)


def test_what_was_declined_is_no_loss():
    sure = [-np.inf] * 8 + [0.7]
    found = promised([True] * 9, sure, 0.2)
    assert found.threshold == 0.7
    assert found.answered == pytest.approx(1 / 9)
    assert promised([True] * 3, [-np.inf] * 3, 0.2) is None


def test_repeats_are_shares_of_a_question():
    found = promised([[True, False]] * 9, [[0.5, 0.5]] * 9, 0.55)
    assert found.wrong == 0.5
    assert found.threshold == 0.5
    assert found.smallest_risk == pytest.approx((4.5 + 1) / 10)


@pytest.mark.parametrize("count", [20, 100])
def test_the_promise_is_kept_on_new_questions(count):
    """The error rate falls with the confidence; over many sets, a new question is answered wrongly as promised."""
    source = np.random.default_rng(count)
    risks = []
    for _ in range(400):
        sure = source.random(count + 500)
        wrong = source.random(count + 500) < 0.5 * (1 - sure)
        found = promised(wrong[:count], sure[:count], 0.1)
        threshold = np.inf if found.threshold is None else found.threshold
        risks.append((wrong[count:] & (sure[count:] >= threshold)).mean())
    assert np.mean(risks) <= 0.1 + 0.004  # two and a half standard errors of the simulation
    assert np.mean(risks) > 0.1 - 2.5 / count  # nor is it kept by answering next to nothing
