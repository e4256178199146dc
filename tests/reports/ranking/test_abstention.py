"""Four outcomes by hand: what counts as right, what is left out, what it costs."""

import numpy as np
import pytest
from proctor.reports.ranking.abstention import (
    ABSTAINED_RIGHTLY,
    ABSTAINED_WRONGLY,
    NONE,
    RIGHT,
    WRONG,
    Costs,
    Rule,
    abstention,
    costs_of,
    outcomes_of,
)
from proctor.reports.statistics.intervals import wilson
from ranked_tables import RIGHT as METRIC
from ranked_tables import cases, column, table

RULE = Rule(METRIC, 0.5)
nan = np.nan


def made(values, answerable, abstained, **changes):
    return table("bot", values, cases(len(values), answerable=answerable), abstained=abstained, **changes)


def test_the_outcome_of_each_row():
    answerable = [True, True, True, False, False, None, True]
    bot = made([1, 0.4, 0, 1, nan, 1, nan], answerable, [0, 0, 1, 0, 1, 0, 0])
    expected = [RIGHT, WRONG, ABSTAINED_WRONGLY, WRONG, ABSTAINED_RIGHTLY, NONE, NONE]
    assert outcomes_of(bot, RULE)[:, 0].tolist() == expected
    found = abstention(bot, RULE, Costs(), np.arange(7))
    assert found.counts == {"right": 1, "wrong": 2, "abstained_rightly": 1, "abstained_wrongly": 1}
    assert (found.rows, found.unmarked, found.failed, found.tells) == (5, 1, 0, True)
    assert found.cost.value == pytest.approx((0 + 1 + 0.3 + 1 + 0) / 5)


def test_reaching_the_threshold_is_enough_and_lower_may_be_better():
    assert outcomes_of(made([0.5, 0.49], [True, True], [0, 0]), RULE)[:, 0].tolist() == [RIGHT, WRONG]
    noise = column("noise", "lower")
    bot = table("bot", {"noise": [0.5, 0.51]}, cases(2, answerable=[True, True]), columns=[noise], abstained=[0, 0])
    assert outcomes_of(bot, Rule(noise, 0.5))[:, 0].tolist() == [RIGHT, WRONG]
    assert Rule(noise, 0.5).sentence == "noise is at most 0.5"


def test_a_bot_that_does_not_tell_is_taken_to_answer():
    found = abstention(made([1, 0], [True, False], [-1, -1]), RULE, Costs(), np.arange(2))
    assert found.counts == {"right": 1, "wrong": 1, "abstained_rightly": 0, "abstained_wrongly": 0}
    assert not found.tells


def test_a_row_on_which_the_bot_failed_is_counted_apart():
    found = abstention(made([1, nan, nan], [True, True, None], [0, -1, -1], answered=[1, 0, 0]), RULE, Costs(),
                       np.arange(3))  # fmt: skip
    assert (found.rows, found.failed, found.unmarked) == (1, 1, 0)
    assert found.tells


def test_rates_have_wilsons_interval_and_documents_widen_it():
    values = [1.0] * 6 + [0.0] * 6
    bot = made(values, [True] * 12, [0] * 12)
    alone = abstention(bot, RULE, Costs(), np.arange(12)).rates["right"]
    # The robust variance divides by eleven and not by twelve, which counts as eleven values; 2.201 is Student's.
    shorter = wilson(0.5, 11.0)
    half = 0.5 / (1 + 11 / 2.200985**2) ** 0.5
    assert (alone.low, alone.high) == pytest.approx((0.5 - half, 0.5 + half))
    clustered = abstention(bot, RULE, Costs(), np.repeat(np.arange(6), 2)).rates["right"]
    assert clustered.high - clustered.low > 1.2 * (alone.high - alone.low) > 1.2 * (shorter[1] - shorter[0])


def test_costs_are_those_that_were_given():
    costs = Costs(right=-1.0, wrong=4.0, abstained_rightly=0.5, abstained_wrongly=2.0)
    codes = np.array([RIGHT, WRONG, ABSTAINED_RIGHTLY, ABSTAINED_WRONGLY, NONE], np.int8)
    assert costs_of(codes, costs)[:4].tolist() == [-1.0, 4.0, 0.5, 2.0]
    assert np.isnan(costs_of(codes, costs)[4])
    found = abstention(made([1, 0], [True, True], [0, 0]), RULE, costs, np.arange(2))
    assert found.cost.value == 1.5


def test_nothing_to_mark_is_nothing():
    assert abstention(made([1, 0], [None, None], [0, 0]), RULE, Costs(), np.arange(2)) is None


def test_repeats_are_rows_of_their_own():
    bot = table("bot", [[1, 0], [1, 1]], cases(2, answerable=[True, False]), abstained=[[0, 0], [1, 0]])
    found = abstention(bot, RULE, Costs(), np.arange(2))
    assert found.counts == {"right": 1, "wrong": 2, "abstained_rightly": 1, "abstained_wrongly": 0}
