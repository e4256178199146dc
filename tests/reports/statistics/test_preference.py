"""Win rates, at equal length, with predictions, and strengths of several bots."""

import numpy as np
import pytest
from proctor.reports.statistics.preference import WinRate, davidson, length_controlled, prediction_powered, win_rate
from scipy import stats


def outcomes(won, lost, tied):
    return np.array([1.0] * won + [0.0] * lost + [0.5] * tied)


def test_the_win_rate_has_the_test_of_paired_yes_or_no_differences():
    values = outcomes(12, 3, 9)
    found = win_rate(values, np.arange(24))
    assert found.mean == pytest.approx(16.5 / 24)
    mid_p = 2 * (stats.binom.cdf(2, 15, 0.5) + stats.binom.pmf(3, 15, 0.5) / 2)  # McNemar, ties left out
    assert found.p_value == pytest.approx(mid_p)
    assert found.verdict == "better"
    assert win_rate(1 - values, np.arange(24)).verdict == "worse"
    assert win_rate(1 - values, np.arange(24)).low == pytest.approx(1 - found.high)
    assert win_rate(outcomes(5, 4, 3), np.arange(12)).verdict == "no difference shown"


@pytest.mark.parametrize(
    ("low", "high", "p_value", "verdict"),
    [
        (0.51, 0.9, 0.05, "better"), (0.51, 0.9, 0.051, "no difference shown"), (0.5, 0.9, 0.01, "no difference shown"),
        (0.1, 0.49, 0.05, "worse"), (0.1, 0.5, 0.01, "no difference shown"), (0.51, 0.9, None, "better"),
    ],
)  # fmt: skip
def test_interval_and_test_must_both_say_so(low, high, p_value, verdict):
    assert WinRate((low + high) / 2, low, high, p_value).verdict == verdict


def test_questions_of_one_document_count_as_one_and_few_documents_have_no_interval():
    values = np.repeat([1.0, 1.0, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0], 6)
    alone, clustered = win_rate(values, np.arange(48)), win_rate(values, np.repeat(np.arange(8), 6))
    assert clustered.high - clustered.low > 1.5 * (alone.high - alone.low)
    few = win_rate(outcomes(3, 1, 0), np.arange(4))
    assert (few.low, few.verdict) == (None, "not estimable")
    assert few.no_interval


def test_a_judge_that_likes_length_alone_is_even_at_equal_length():
    source = np.random.default_rng(7)
    ratios = source.normal(0.5, 0.6, 4000)
    values = (source.random(4000) < 1 / (1 + np.exp(-3 * ratios))).astype(float)
    plain, fair = win_rate(values, np.arange(4000)), length_controlled(values, ratios, np.arange(4000))
    assert plain.low > 0.6
    assert fair.low < 0.5 < fair.high


def test_nothing_is_said_of_equal_length_where_too_few_verdicts_differ():
    ratios = np.linspace(-1, 1, 40)
    assert length_controlled(outcomes(38, 2, 0), ratios, np.arange(40)) is None
    assert length_controlled(outcomes(20, 20, 0), np.zeros(40), np.arange(40)) is None


def test_predictions_for_all_narrow_the_interval_of_a_few_verdicts():
    source = np.random.default_rng(3)
    chance = source.beta(0.4, 0.4, 400)
    values = (source.random(400) < chance).astype(float)
    drawn = source.permutation(400)[:60]
    others = np.setdiff1d(np.arange(400), drawn)
    found = prediction_powered(values[drawn], chance[drawn], chance[others], drawn, others)
    alone = win_rate(values[drawn], drawn)
    assert found.high - found.low < 0.9 * (alone.high - alone.low)
    assert found.low < values.mean() < found.high
    useless = prediction_powered(values[drawn], np.full(60, 0.5), np.full(340, 0.5), drawn, others)
    assert useless.mean == pytest.approx(values[drawn].mean())


def test_strengths_of_two_bots_are_those_of_davidson():
    """Of two bots the likeliest ratio of strengths is that of their wins, and the tie parameter t / sqrt(w1 w2)."""
    values = outcomes(800, 200, 400)
    found = davidson(np.zeros(1400, int), np.ones(1400, int), values, np.arange(1400), 2)
    assert found.strength[1] - found.strength[0] == pytest.approx(np.log(4), abs=1e-3)
    assert found.ties == pytest.approx(400 / np.sqrt(800 * 200), rel=1e-3)
    assert found.low[1] < np.log(2) < found.high[1]


def test_a_bot_that_never_lost_has_a_finite_strength():
    values = outcomes(30, 0, 0)
    found = davidson(np.zeros(30, int), np.ones(30, int), values, np.arange(30), 2)
    assert found.strength[1] - found.strength[0] == pytest.approx(np.log(30.05 / 0.05), abs=0.01)  # a tenth of a game


def test_questions_that_needed_no_judge_count_with_their_own_share():
    """Of 100 questions 50 are known ties, and of the others 20 are judged, all won: the rate is three quarters."""
    ones, half = np.ones(20), np.full(30, 0.5)
    found = prediction_powered(
        ones, np.full(20, 0.5), half, np.arange(20), np.arange(20, 50), np.full(50, 0.5), np.arange(50, 100)
    )
    assert found.mean == pytest.approx(0.75)
    assert found.low < 0.75 < found.high
