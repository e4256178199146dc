"""The setting to take is chosen on one half and measured on the other, so that its interval is honest."""

import numpy as np
import pytest
from proctor.harness.analysis.recommendation import Contest, halves, paired, recommend, why_not
from proctor.reports.statistics.paired import difference

FOURS = np.repeat(np.arange(20), 4)


def contest(values, clusters=FOURS, tokens=None, **changes):
    values = np.asarray(values, np.float64)
    return Contest(
        metric="evidence_recall",
        names=[f"setting {place}" for place in range(len(values))],
        values=values,
        tokens=np.full(len(values), 100.0) if tokens is None else np.asarray(tokens, np.float64),
        clusters=clusters,
        **{"current": 0} | changes,
    )


def drawn(settings, seed, clusters=FOURS, rates=None):
    """Hits by chance; questions of a cluster go together, settings on a question too."""
    draw = np.random.default_rng(seed)
    of_cluster = draw.normal(size=clusters.max() + 1)[clusters]
    of_question = draw.normal(size=len(clusters))
    own = draw.normal(size=(settings, len(clusters))) + draw.normal(size=(settings, clusters.max() + 1))[:, clusters]
    return (of_cluster + of_question + 0.7 * own + (0 if rates is None else np.asarray(rates)[:, None]) > 0).astype(
        float
    )


def test_a_difference_of_yes_and_no_is_told_as_one_of_two_shares():
    base, head = drawn(2, 1, rates=[0.0, 0.4])
    among = np.arange(len(base)) % 3 > 0
    says = paired(base, head, FOURS, 0.0, 1.0, seed=3, among=among)
    assert says == difference(base[among], head[among], FOURS[among], 0.0, 1.0, binary=True, seed=3)
    alone = np.arange(len(base))
    assert paired(base, head, alone, 0.0, 1.0, seed=3).test.startswith("McNemar")
    between = np.where(np.arange(len(base)) == 1, 0.5, head)
    assert paired(base, between, FOURS, 0.0, 1.0, seed=3) == difference(base, between, FOURS, 0.0, 1.0, seed=3)


def test_halves_are_whole_clusters_of_about_as_many_questions():
    clusters = np.repeat(np.arange(12), [9, 7, 5, 5, 4, 3, 3, 2, 1, 1, 1, 1])
    seen = set()
    for seed in range(30):
        chosen = halves(clusters, seed)
        assert all(len(set(chosen[clusters == code])) == 1 for code in range(12))
        assert abs(int(chosen.sum()) - 21) <= 1
        assert (halves(clusters, seed) == chosen).all()
        seen.add(chosen.tobytes())
    assert len(seen) > 10


def test_every_cluster_is_as_likely_to_be_in_either_half():
    clusters = np.arange(20)
    often = np.mean([halves(clusters, seed) for seed in range(400)], axis=0)
    assert (np.abs(often - 0.5) < 0.12).all()


def test_the_interval_of_what_is_recommended_is_honest_where_all_settings_are_equal():
    """On the questions that it was chosen on, the best of many looks better than it is; on others it does not."""
    covered, biased, naive, means = 0, 0, 0, []
    for seed in range(200):
        one = contest(drawn(48, seed), seed=seed)
        made, _ = recommend(one)
        if made.difference is None:
            continue
        biased += 1
        means.append(made.difference.mean)
        covered += made.difference.low <= 0 <= made.difference.high
        best = one.ranking(np.full(len(FOURS), True))[0]
        same = paired(one.values[0], one.values[best], FOURS, 0.0, 1.0)
        naive += same.low <= 0 <= same.high
    assert biased > 150
    assert covered / biased >= 0.92
    assert abs(np.mean(means)) < 3 * np.std(means) / np.sqrt(len(means))
    assert naive / biased < 0.8


def test_a_setting_that_is_better_is_found_and_shown_to_be():
    clusters = np.repeat(np.arange(60), 4)
    rates = np.zeros(12)
    rates[7] = 2.5
    made, doubt = recommend(contest(drawn(12, 3, clusters, rates), clusters))
    assert (made.configuration, made.verdict, doubt) == (7, "better", "")
    assert made.same_elsewhere
    assert made.chosen_on + made.reported_on == 240
    assert made.difference.questions == made.mean.count == made.reported_on
    assert made.difference.low > 0
    assert "so that it is better" in made.reason


def test_a_setting_that_is_worse_elsewhere_is_advised_against():
    chosen = halves(FOURS, 0)
    other = np.where(chosen, 1.0, 0.0)
    made, _ = recommend(contest([np.where(chosen, 0.0, 1.0), other]))
    assert (made.configuration, made.verdict, made.same_elsewhere) == (1, "worse", False)
    assert made.mean.mean == 0.0
    assert "keep the current configuration" in made.reason


def test_the_present_setting_may_be_the_best():
    made, _ = recommend(contest([np.ones(80), np.zeros(80)]))
    assert (made.configuration, made.verdict, made.difference, made.same_elsewhere) == (0, "current", None, True)
    assert made.mean.mean == 1.0


def test_a_setting_beyond_the_budget_is_not_chosen():
    values = [np.zeros(80), np.ones(80), np.r_[np.ones(60), np.zeros(20)]]
    tokens = [100, 201, 200]
    assert recommend(contest(values, tokens=tokens, budget=200.0))[0].configuration == 2
    assert recommend(contest(values, tokens=tokens, budget=201.0))[0].configuration == 1
    assert recommend(contest(values, tokens=tokens))[0].configuration == 1


def test_nothing_within_the_budget_is_told():
    made, doubt = recommend(contest([np.zeros(80), np.ones(80)], tokens=[100, 50], budget=40.0))
    assert made is None
    assert doubt == (
        "No configuration is recommended: none stays within 40 prompt tokens a question on average; the least takes 50."
    )


def test_of_equals_the_one_with_fewer_tokens_is_taken_then_the_first():
    values = [np.zeros(80), np.ones(80), np.ones(80), np.ones(80)]
    assert recommend(contest(values, tokens=[1, 9, 7, 7]))[0].configuration == 2


def test_a_setting_that_lacks_values_is_not_recommended():
    easy = np.where(np.arange(80) % 2 == 0, 1.0, np.nan)
    values = [np.r_[np.full(40, 0.5), np.full(40, 0.5)], easy, np.full(80, 0.6)]
    assert recommend(contest(values))[0].configuration == 2


def test_without_values_of_the_present_setting_nothing_is_recommended():
    made, doubt = recommend(contest([np.full(80, np.nan), np.ones(80)]))
    assert made is None
    assert "the current one doesn't tell where its passages stand" in doubt


@pytest.mark.parametrize(
    ("clusters", "says"),
    [
        ([0], "1 question from 1 source document are too few"),
        (range(9), "9 questions from 9 source documents are too few"),
        (np.repeat([0, 1, 2], 10), "30 questions from 3 source documents are too few"),
        (np.repeat(range(5), [30, 2, 2, 2, 2]), "most questions come from one source document"),
        (range(10), ""),
        (np.repeat([0, 1, 2, 3], 5), ""),
    ],
)
def test_too_few_questions_are_told(clusters, says):
    clusters = np.array(clusters)
    reason = why_not(clusters, 0)
    assert says in reason
    made, doubt = recommend(contest(np.zeros((2, len(clusters))), clusters))
    assert (made is None) == bool(says)
    assert doubt == reason


def test_a_difference_is_of_the_questions_that_both_have():
    base, head = np.array([1.0, np.nan, 0.0, 1.0]), np.array([0.0, 1.0, np.nan, 1.0])
    found = paired(base, head, np.arange(4), 0.0, 1.0)
    assert (found.questions, found.mean) == (2, -0.5)
    assert paired(base, np.full(4, np.nan), np.arange(4), 0.0, 1.0) is None
