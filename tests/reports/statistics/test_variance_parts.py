import math

import numpy as np
import pytest
from proctor.reports.statistics.variance import majority_variance, variance_parts

NAN = math.nan
# By hand: means 2, 6, 2 around 4; squares between 2*4 + 3*4 + 1*4 = 24 with 2 degrees, within 2 + 2 + 0 = 4 with 3;
# n0 = (6 - (4 + 9 + 1) / 6) / 2 = 11/6.
WORKED = np.array([[1, 3, NAN], [5, 7, 6], [NAN, 2, NAN]])


def test_the_worked_example():
    found = variance_parts(WORKED)
    assert found.bot == pytest.approx(4 / 3)
    assert found.question == pytest.approx((12 - 4 / 3) / (11 / 6)) == pytest.approx(64 / 11)
    assert (found.judge, found.questions, found.repeats) == (None, 3, 2.0)
    assert found.total == pytest.approx(64 / 11 + 4 / 3)
    assert sum(found.shares.values()) == pytest.approx(1)
    assert set(found.shares) == {"question", "bot"}


def test_the_judge_is_taken_off_what_varies_within_questions():
    found = variance_parts(WORKED, judge_variance=1 / 3)
    assert (found.question, found.bot, found.judge) == pytest.approx((64 / 11, 1.0, 1 / 3))
    assert found.total == variance_parts(WORKED).total


def test_a_judge_that_varies_more_than_the_answers_is_cut():
    found = variance_parts(WORKED, judge_variance=9.0)
    assert (found.bot, found.judge) == pytest.approx((0.0, 4 / 3))


def test_one_answer_a_question_does_not_tell_the_bot_from_the_question():
    values = np.array([[1.0], [2.0], [4.0], [5.0]])
    found = variance_parts(values)
    assert (found.question, found.bot) == (pytest.approx(np.var(values, ddof=1)), None)
    assert "bot" not in found.shares
    judged = variance_parts(values, judge_variance=1.0)
    assert (judged.question, judged.bot, judged.judge) == pytest.approx((np.var(values, ddof=1) - 1, None, 1.0))
    assert judged.total == pytest.approx(found.total)


def test_equal_answers_have_no_part_and_equal_questions_none_either():
    assert variance_parts(np.array([[1.0, 1.0], [2.0, 2.0]])).bot == 0
    negative = variance_parts(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))
    assert negative.question == 0.0
    assert negative.bot == pytest.approx(0.5)
    flat = variance_parts(np.full((3, 2), 0.25), 0.0)
    assert (flat.total, dict(flat.shares)) == (0.0, {})


def test_nothing_is_said_of_fewer_than_two_questions():
    assert variance_parts(np.array([[1.0, 2.0]])) is None
    assert variance_parts(np.array([[1.0, 2.0], [NAN, NAN]])) is None
    assert variance_parts(np.zeros((0, 2))) is None


def test_known_parts_are_recovered():
    chance = np.random.default_rng(5)
    rounds, questions, repeats = 60, 120, 3
    found = []
    for _ in range(rounds):
        values = chance.normal(0, 2, (questions, 1)) + chance.normal(0, 1, (questions, repeats))
        values = values + chance.normal(0, 0.5, values.shape)
        values[chance.random(values.shape) < 0.2] = NAN
        parts = variance_parts(values, judge_variance=0.25)
        found.append((parts.question, parts.bot, parts.judge))
    assert np.mean(found, axis=0) == pytest.approx((4, 1, 0.25), rel=0.04)


def test_the_standard_error_is_what_fresh_means_vary_by():
    chance = np.random.default_rng(6)
    parts = variance_parts(chance.normal(0, 1, (4000, 1)) + chance.normal(0, 2, (4000, 2)))
    for questions, repeats in ((20, 1), (20, 4), (80, 1)):
        means = (
            chance.normal(0, 1, (3000, questions)) + chance.normal(0, 2 / math.sqrt(repeats), (3000, questions))
        ).mean(axis=1)
        assert parts.standard_error(questions, repeats) == pytest.approx(means.std(), rel=0.06)
    assert parts.standard_error(20, 10**6) == pytest.approx(math.sqrt(parts.question / 20), rel=1e-3)


def test_questions_of_one_document_bring_less_than_they_are():
    """With equal questions in a cluster, the mean varies as that of the clusters."""
    chance = np.random.default_rng(7)
    levels = chance.normal(0, 1, 200)
    clusters = np.repeat(np.arange(200), 5)
    parts = variance_parts(levels[clusters][:, None], clusters=clusters)
    assert parts.standard_error(1000) == pytest.approx(levels.std(ddof=1) / math.sqrt(200), rel=1e-9)
    alone = variance_parts(levels[clusters][:, None], clusters=np.arange(1000))
    assert alone.shared == 0
    assert alone.standard_error(1000) == pytest.approx(levels[clusters].std(ddof=1) / math.sqrt(1000))


def test_senseless_plans_and_shapes_are_refused():
    with pytest.raises(ValueError, match="at least one question"):
        variance_parts(WORKED).standard_error(0)
    with pytest.raises(ValueError, match=r"\(questions, repeats\)"):
        variance_parts(np.zeros(3))


# vote_noise


def test_equal_votes_don_t_vary_and_single_ones_don_t_tell():
    assert majority_variance([(3, 3), (0, 3), (3, 3)]) == 0.0
    assert majority_variance([(1, 1), (0, 1)]) is None
    assert majority_variance([]) is None


def test_coins_vary_as_coins():
    """Votes as mixed as those of fair coins: any majority of them is a fair coin, too."""
    assert majority_variance([(3, 3), (2, 3), (2, 3), (2, 3), (1, 3), (1, 3), (1, 3), (0, 3)]) == pytest.approx(
        0.25, rel=1e-5
    )


@pytest.mark.parametrize(("yes", "no", "votes"), [(0.3, 0.1, 3), (2, 1, 3), (5, 0.5, 5), (0.5, 0.5, 2)])
def test_the_variance_of_fresh_majorities_is_found(yes, no, votes):
    chance = np.random.default_rng(3)
    p = chance.beta(yes, no, 6000)
    cast = votes if votes % 2 else votes + 1
    majority = sum(math.comb(cast, k) * p**k * (1 - p) ** (cast - k) for k in range(cast // 2 + 1, cast + 1))
    found = majority_variance([(int(k), votes) for k in chance.binomial(votes, p)])
    assert found == pytest.approx(float((majority * (1 - majority)).mean()), rel=0.1)


def test_it_does_not_matter_which_word_is_yes():
    ballots = [(3, 3), (2, 3), (0, 3), (1, 5)]
    assert majority_variance(ballots) == pytest.approx(majority_variance([(of - yes, of) for yes, of in ballots]))
