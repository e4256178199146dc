"""How many questions a comparison needs."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from proctor import InputError
from proctor.reports.compare.power import Plan, Wish, make_plan
from ranked_tables import cases
from tables import in_one_test
from two_operands import made, side_of

NORMAL = NormalDist()
BASE, CHANGE = np.random.default_rng(5).random(200), np.random.default_rng(6).normal(0, 0.2, 200)
HEAD = np.clip(BASE + CHANGE, 0, 1)


def plan(*tables, bot: str = "", **wish) -> Plan:
    return make_plan(side_of(*tables).run, Wish(wish.pop("metric", "recall"), wish.pop("delta", 0.05), **wish), bot)


def two(baseline=BASE, candidate=HEAD, **changes):
    return made("faq", {"recall": baseline}, **changes), made("rag", {"recall": candidate}, **changes)


def test_questions_follow_from_the_spread_of_the_differences():
    """The textbook's (z + z)^2 s^2 / delta^2."""
    (found,) = plan(*two()).planned
    deviation = (HEAD - BASE).std(ddof=1)
    wanted = ((NORMAL.inv_cdf(0.975) + NORMAL.inv_cdf(0.8)) * deviation / 0.05) ** 2
    assert found.needs[0].to_show == pytest.approx(wanted, abs=4)
    settled = (NORMAL.inv_cdf(0.975) * deviation / 0.025) ** 2
    assert found.needs[0].to_settle == pytest.approx(settled, abs=4)
    assert found.design_effect == pytest.approx(1, abs=0.01)
    assert found.paired


def test_half_the_difference_takes_four_times_as_many_and_more_power_more():
    small, large, sure = (plan(*two(), **wish).planned[0].needs[0].to_show for wish in SIZES)
    assert small == pytest.approx(4 * large, abs=9)
    assert sure > large


SIZES = ({"delta": 0.05}, {"delta": 0.1}, {"delta": 0.1, "power": 0.95})


def test_questions_that_are_alike_count_for_less():
    documents = [f"d{number // 10}" for number in range(200)]
    shift = np.repeat(np.random.default_rng(7).normal(0, 0.2, 20), 10)
    tables = two(candidate=BASE + shift, asked=cases(200, documents))
    clustered, alone = (plan(*tables, cluster=cluster).planned[0] for cluster in ("source", "none"))
    assert clustered.design_effect > 5
    assert clustered.needs[0].to_show > 5 * alone.needs[0].to_show
    assert (clustered.clusters, alone.clusters) == (20, 200)


def test_every_pair_is_planned_or_those_of_one_bot():
    tables = [made(bot, {"recall": BASE + shift}) for bot, shift in (("a", 0), ("b", CHANGE), ("c", HEAD))]
    assert [each.bots for each in plan(*tables).planned] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [each.bots for each in plan(*tables, bot="b").planned] == [("a", "b"), ("b", "c")]


def test_one_bot_is_planned_under_a_stated_assumption():
    (found,) = plan(made("rag", {"recall": BASE})).planned
    assert not found.paired
    assert found.difference is None
    assert found.standard_error == pytest.approx(BASE.std(ddof=1) / math.sqrt(200), rel=0.01)


def test_what_repeats_buy_is_known_when_the_run_had_some():
    chance = np.random.default_rng(8)
    tables = [made(bot, {"recall": BASE[:, None] + chance.normal(0, 0.3, (200, 3))}) for bot in "ab"]
    (found,) = plan(*tables).planned
    assert found.repeats_known
    needs = {need.repeats: need.to_show for need in found.needs}
    assert set(needs) == {1, 2, 3, 4}
    assert needs[1] == pytest.approx(3 * needs[3], rel=0.15)
    wanted = plan(*tables, repeats=6).planned[0].needs
    assert wanted[0].repeats == 6
    assert wanted[0].to_show < needs[4]


def test_without_repeats_it_is_not_known_what_they_buy():
    (found,) = plan(*two(), repeats=5).planned
    assert not found.repeats_known
    assert [need.repeats for need in found.needs] == [1]


def test_a_spread_of_nothing_is_not_believed():
    """Where no question changed, three hundred are not planned as two."""
    (found,) = plan(*two(candidate=BASE)).planned
    assert found.difference.few_changes
    assert found.needs[0].to_show > 5


@in_one_test(
    ("wish", "words"),
    [
        ({"metric": "recal"}, "Did you mean recall"),
        ({"delta": 0}, "not 0"),
        ({"delta": -0.05}, "not -0.05"),
        ({"delta": float("nan")}, "not nan"),
        ({"delta": 5}, "Five points of a hundred are 0.05"),
        ({"power": 1.0}, "between 0 and 1"),
        ({"power": 80}, "between 0 and 1"),
        ({"cluster": "pages"}, "There is no way to cluster called 'pages'"),
        ({"delta": 1e-300}, "no number of questions shows a difference of 1e-300"),
    ],
)
def test_wishes_that_make_no_sense(wish, words):
    with pytest.raises(InputError) as error:
        plan(*two(), **wish)
    assert words in str(error.value)


def test_a_family_asks_for_one_of_its_metrics():
    with pytest.raises(InputError, match=r"pii.passes, pii.failures"):
        plan(*(made(bot, {"pii.passes": BASE, "pii.failures": BASE}) for bot in "ab"), metric="pii")


def test_a_run_that_tells_nothing_says_why():
    with pytest.raises(InputError, match="1 question with a value"):
        plan(*two(BASE[:1], HEAD[:1]))
    with pytest.raises(InputError, match="all of one cluster"):
        plan(*two(asked=cases(200, ["d"] * 200)))
    with pytest.raises(InputError, match="0 questions with a value"):
        plan(*two(np.full(200, np.nan)))
    with pytest.raises(InputError, match="the same value"):
        plan(made("rag", {"words": np.full(20, 7.0)}), metric="words")


def test_pairs_that_tell_nothing_are_named_beside_the_others():
    tables = [*two(), made("mute", {"recall": np.full(200, np.nan)})]
    found = plan(*tables)
    assert [each.bots for each in found.planned] == [("faq", "rag")]
    assert set(found.refused) == {"faq, mute", "rag, mute"}


def test_a_way_to_cluster_that_is_not_there_is_not_told_of_the_run():
    with pytest.raises(InputError, match=r"^There is no way to cluster called 'pages'"):
        plan(*two(), cluster="pages")
