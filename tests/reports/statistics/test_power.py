import math
from dataclasses import replace

import numpy as np
import pytest
from gate_rule import verdicts
from paired_samples import Source, equal, normal
from proctor.reports.statistics.paired import difference
from proctor.reports.statistics.power import (
    power,
    questions_needed,
    questions_to_settle,
    spread_of_one,
    spread_of_pairs,
)
from scipy.stats import binom

SEED = 20261121
CHANCE = np.random.default_rng(SEED)


@pytest.fixture(autouse=True)
def _the_same_draws_in_whatever_order() -> None:
    CHANCE.bit_generator.state = np.random.default_rng(SEED).bit_generator.state


@pytest.mark.parametrize(
    ("effect", "chance", "wanted"), [(0.5, 0.8, 34), (0.2, 0.8, 199), (0.8, 0.8, 15), (0.5, 0.95, 54)]
)
def test_published_sample_sizes_of_the_paired_t_test(effect, chance, wanted):
    """Cohen's small, medium and great effects at the level 0.05, two-sided, as G*Power and others list them."""
    assert questions_needed(1 / math.sqrt(50), 50, effect, power=chance) == wanted


def test_the_worked_example_of_error_bars_for_evals():
    """Variance 1/9, difference 0.03: 969 questions by the normal law (Miller 2024), 2 more for its estimate."""
    assert questions_needed(math.sqrt(1 / 9 / 200), 200, 0.03) == 969 + 2


def test_what_is_needed_has_the_power_wanted():
    for delta in (0.01, 0.02, 0.03):
        needed = questions_needed(0.03, 100, delta)
        assert power(0.03 * math.sqrt(100 / needed), delta) == pytest.approx(0.8, abs=0.02)
        assert power(0.03 * math.sqrt(100 / needed), -delta) >= 0.8


def test_a_smaller_difference_more_power_and_fewer_clusters_need_more_questions():
    needed = questions_needed(0.03, 100, 0.05)
    assert questions_needed(0.03, 100, 0.025) > 3.5 * needed
    assert questions_needed(0.03, 100, 0.05, power=0.9) > needed
    assert questions_needed(0.03, 100, 0.05, level=0.99) > needed
    assert questions_needed(0.03, 100, 0.05, clusters=10) > needed


@pytest.mark.parametrize(("delta", "level", "chance"), [(0, 0.95, 0.8), (0.1, 1.0, 0.8), (0.1, 0.95, 0.0)])
def test_what_cannot_be_planned_is_refused(delta, level, chance):
    with pytest.raises(ValueError, match="delta"):
        questions_needed(0.03, 100, delta, level, chance)


@pytest.mark.parametrize("likeness", [0.0, 0.22])
def test_the_plan_holds_in_simulation(likeness):
    """Planned from one sample of 40 documents; the gate then finds the loss about 80 times of 100."""
    codes, loss = equal(40, 5), 0.06
    (pilot,) = normal(codes, likeness, deviation=0.3)(np.random.default_rng(8), 1)
    found = spread_of_pairs(np.zeros((200, 1)), pilot[:, None], codes)
    documents = math.ceil(found.questions_needed(loss) / 5)
    planned = equal(documents, 5)
    source = Source("loss", planned, -loss, normal(planned, likeness, -loss, 0.3))
    deviation = found.standard_error(200) / (0.3 * math.sqrt((1 + 4 * likeness) / 200))
    # The pilot's spread is itself a sample: the power is foreseen for the true one.
    foreseen = 100 * power(0.3 * math.sqrt((1 + 4 * likeness) / len(planned)), loss)
    assert deviation == pytest.approx(1, abs=0.25)
    assert verdicts([source], 400).regressed == pytest.approx(foreseen, abs=7)


def test_where_all_changes_are_losses_their_number_is_planned():
    """Five that changed are the fewest that show anything; SciPy: of 135 questions, as many change 80 times of 100."""
    for lost in (6, 10, 16):  # 3, 5 and 8 of 100 in the pilot; what is planned for is 5
        pilot = np.where(np.arange(200) < lost, -1.0, 0.0)[:, None]
        found = spread_of_pairs(np.zeros((200, 1)), pilot, np.arange(200))
        needed = found.questions_needed(0.05)
        assert binom.sf(4, needed, 0.05) == pytest.approx(0.8, abs=0.05), (lost, needed)


def test_a_difference_that_chance_made_greater_takes_no_more_questions():
    """Five of 200 gained; with 5 of 100 more lost, as is planned for, the variance is that of three in twenty."""
    for lost in (10, 20, 30):
        pilot = np.repeat([1.0, -1.0, 0.0], [10, lost, 190 - lost])[:, None]
        found = spread_of_pairs(np.zeros((200, 1)), pilot, np.arange(200))
        variance = found.standard_error(200, delta=0.05) ** 2 * 200
        assert variance == pytest.approx(0.15 - 0.05**2, rel=0.1), lost


def two_operands(questions, repeats, alike=0.7, noise=0.2, clusters=None):
    """Values of both sides: what a question is worth to both, to each alone, and what every repeat adds."""
    codes = np.arange(questions) if clusters is None else clusters
    both = CHANCE.normal(0, math.sqrt(alike) * 0.3, codes.max() + 1)[codes][:, None]
    own = [CHANCE.normal(0, math.sqrt(1 - alike) * 0.3, (questions, 1)) for _ in range(2)]
    return [both + one + CHANCE.normal(0, noise, (questions, repeats)) for one in own]


def test_the_spread_of_pairs_is_that_of_the_differences():
    baseline, candidate = two_operands(300, 1)
    found = spread_of_pairs(baseline, candidate, np.arange(300))
    said = difference(baseline[:, 0], candidate[:, 0], np.arange(300))
    assert found.standard_error(300) == pytest.approx(said.standard_error)
    assert (found.noise, found.repeats, found.design_effect) == (0, 1, pytest.approx(1))


def test_repeats_take_away_the_noise_alone():
    baseline, candidate = two_operands(4_000, 3)
    found = spread_of_pairs(baseline, candidate, np.arange(4_000))
    assert found.noise == pytest.approx(2 * 0.2**2, rel=0.1)
    assert found.variance == pytest.approx(2 * 0.3 * 0.09, rel=0.15)
    once = spread_of_pairs(baseline[:, :1], candidate[:, :1], np.arange(4_000))
    assert found.standard_error(500, repeats=1) == pytest.approx(once.standard_error(500), rel=0.05)
    assert found.standard_error(500, 10) < found.standard_error(500, 3) < found.standard_error(500, 1)
    assert found.questions_needed(0.05, repeats=1) > found.questions_needed(0.05, repeats=5)


def test_clusters_show_in_the_design_effect():
    codes = equal(200, 5)
    draw = normal(codes, 0.5)(CHANCE, 1)[0]
    found = spread_of_pairs(np.zeros((1_000, 1)), draw[:, None], codes)
    assert found.design_effect == pytest.approx(1 + 4 * 0.5, rel=0.25)


def test_one_side_foretells_the_differences_under_the_likeness_it_is_told():
    """Both sides vary alike and are correlated by 0.7 between questions, so that is what comes out."""
    baseline, candidate = two_operands(6_000, 4, alike=0.7)
    seen = spread_of_pairs(baseline, candidate, np.arange(6_000))
    foretold = spread_of_one(baseline, np.arange(6_000), likeness=0.7)
    assert foretold.variance == pytest.approx(seen.variance, rel=0.1)
    assert foretold.noise == pytest.approx(seen.noise, rel=0.1)
    assert spread_of_one(baseline, np.arange(6_000), 0.2).questions_needed(0.03) > foretold.questions_needed(0.03)


def test_missing_values_are_left_out_of_plans():
    baseline, candidate = two_operands(50, 3)
    baseline[0], candidate[1], baseline[2, 1] = np.nan, np.nan, np.nan
    found = spread_of_pairs(baseline, candidate, np.arange(50))
    assert found.questions == 48
    assert 2.9 < found.repeats < 3
    assert spread_of_one(baseline, np.arange(50)).questions == 49


def test_a_plan_needs_two_clusters_and_a_likeness_below_1():
    with pytest.raises(ValueError, match="two clusters"):
        spread_of_one(np.ones((5, 1)), np.zeros(5, int))
    with pytest.raises(ValueError, match="two clusters"):
        spread_of_one(np.full((5, 1), np.nan), np.arange(5))
    with pytest.raises(ValueError, match="correlation"):
        spread_of_one(CHANCE.random((5, 1)), np.arange(5), 1.0)


def found_with(mean, questions=100, deviation=0.2):
    half = np.random.default_rng(2).normal(0, deviation, questions // 2)
    values = np.concatenate([half, -half]) + mean
    return difference(np.where(values < 0, -values, 0), np.where(values > 0, values, 0), np.arange(questions))


def test_a_decided_gate_needs_no_more_questions():
    assert questions_to_settle(found_with(0.1), 0.03) == 0
    assert questions_to_settle(found_with(-0.1), 0.03) == 0
    found = found_with(0.0)
    assert questions_to_settle(found, -found.low * 0.999999) == 1  # one that is all but decided needs one


@pytest.mark.parametrize("mean", [0.0, -0.01, -0.03, -0.035])
def test_so_many_more_questions_settle_an_undecided_gate(mean):
    found = found_with(mean)
    more = questions_to_settle(found, 0.03)
    assert more > 0
    after = found_with(mean, 2 * ((100 + more) // 2 + 2))
    assert questions_to_settle(after, 0.03) == 0
    before = found_with(mean, 2 * int((100 + more) * 0.4))
    assert questions_to_settle(before, 0.03) > 0


def test_the_nearer_of_both_decisions_counts():
    """No change needs (half-width / margin)^2 of the questions, a loss of 0.03 (half-width / loss)^2."""
    found = found_with(0.0)
    half = found.high
    assert questions_to_settle(found, 0.03) == pytest.approx(100 * (half / 0.03) ** 2 - 100, abs=1)
    assert questions_to_settle(found, 0.003) > 90 * questions_to_settle(found, 0.03)


def test_a_loss_that_only_the_correction_doubts_needs_more():
    found = found_with(-0.045)
    assert found.high < 0
    assert found.low < -0.03
    assert questions_to_settle(found, 0.03) == 0
    five = min(1.0, 5 * found.cautious_p_value)
    assert five > 0.05
    more = questions_to_settle(found, 0.03, five)
    assert more > 0
    after = found_with(-0.045, 2 * int((100 + more) * 0.55))  # normal tails stand for those of t: a few more
    assert 5 * after.cautious_p_value <= 0.05


def test_what_has_no_interval_cannot_be_settled():
    alone_in_its_cluster = difference(np.zeros(5), np.ones(5), np.zeros(5, int), 0, 1)
    assert questions_to_settle(alone_in_its_cluster, 0.03) is None


@pytest.mark.parametrize("own", [1.0, 1 - 2**-53])
def test_a_loss_that_is_no_evidence_at_all_is_settled_by_the_margin(own):
    found = replace(found_with(-0.001), p_value=own, cautious_p_value=own)
    assert questions_to_settle(found, 0.03) == pytest.approx(100 * ((found.mean - found.low) / 0.029) ** 2 - 100, abs=1)
