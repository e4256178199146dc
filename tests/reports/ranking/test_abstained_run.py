"""A run by its outcomes put together: the rule, the ranking by cost, the promises, and what is hidden."""

from pathlib import Path

import numpy as np
import orjson
import pytest
from proctor import InputError
from proctor.reports.compare.operands import open_operand
from proctor.reports.export.ranking import abstained_object
from proctor.reports.ranking.abstention import Costs
from proctor.reports.ranking.ranked_run import abstained_run
from proctor.reports.summary import MetricColumn
from ranked_tables import cases, column, run_of, table
from runs_with_traces import says, write_run

nan = np.nan
KNOWN = [True, True, True, False]


def bots(*made):
    return run_of(
        *(table(bot, values, cases(4, answerable=KNOWN), abstained=abstained) for bot, values, abstained in made)
    )


def test_the_cheapest_bot_comes_first_and_costs_decide_which_it_is():
    run = bots(("bold", [1, 1, 0, nan], [0, 0, 0, 0]), ("shy", [1, nan, nan, nan], [0, 1, 1, 1]))
    found = abstained_run(run)
    assert list(found.bots) == ["shy", "bold"]
    assert found.bots["bold"].cost.value == pytest.approx(2 / 4)
    assert found.bots["shy"].cost.value == pytest.approx(0.6 / 4)
    assert found.ranking.winners == ("shy",)
    assert list(abstained_run(run, costs=Costs(abstained_wrongly=2.0)).bots) == ["bold", "shy"]
    assert (found.answerable, found.unanswerable, found.unknown) == (3, 1, 0)


def test_the_rule_is_the_metric_that_tells_most_directly_with_a_threshold():
    plain = MetricColumn("exact_match", "v1", "higher", 0.0, 1.0, None)
    values = {"politeness": [1.0] * 4, "exact_match": [1.0] * 4, "rouge_l": [1.0] * 4}
    run = run_of(table("a", values, cases(4, answerable=KNOWN), columns=[plain], abstained=[0] * 4))
    assert abstained_run(run).rule.column.name == "rouge_l"
    assert abstained_run(run, threshold=1.0).rule.column.name == "exact_match"
    assert abstained_run(run, "politeness").rule.sentence == "politeness is at least 0.5"


def test_one_cluster_alone_does_not_tell_who_is_cheapest():
    asked = cases(4, documents=["x"] * 4, answerable=KNOWN)
    run = run_of(*(table(bot, [1.0, 1, 0, 0], asked, abstained=[0] * 4) for bot in "ab"))
    assert abstained_run(run).ranking is None
    assert abstained_run(run, cluster="none").ranking is not None


def test_a_bot_without_outcome_is_named():
    found = abstained_run(bots(("a", [1, 1, 1, 1], [0, 0, 0, 0]), ("b", [nan] * 4, [0, 0, 0, 0])))
    assert (list(found.bots), found.without) == (["a", "b"], ())  # b has one: its answer to the unanswerable one
    answered = [False] * 4
    mute = table("mute", [nan] * 4, cases(4, answerable=KNOWN), answered=answered)
    said = table("a", [1.0] * 4, cases(4, answerable=KNOWN), abstained=[0] * 4)
    assert abstained_run(run_of(said, mute)).without == ("mute",)


@pytest.mark.parametrize(
    ("answerable", "options", "sentence"),
    [
        ([None, None], {}, "says whether it can be answered"),
        ([True, True], {"metric": "rigth"}, "Did you mean right"),
        ([True, True], {"metric": "bare"}, "has no threshold"),
    ],
)
def test_what_cannot_be_told_is_said(answerable, options, sentence):
    bare = MetricColumn("bare", "v1", "higher", 0.0, 1.0, None)
    values = {"right": [1.0, 1.0], "bare": [1.0, 1.0]}
    run = run_of(table("a", values, cases(2, answerable=answerable), columns=[bare, column("right")], abstained=[0, 0]))
    with pytest.raises(InputError, match=sentence):
        abstained_run(run, **options)


def faq(number: int, floor: float = 0.0):
    """More similar questions are answered rightly more often; every tenth question can't be answered."""
    similarity = (number * 37 % 100) / 100
    if similarity < floor:
        return says(0.0, abstained=True, similarity=similarity)
    return says(float(similarity >= 0.3), abstained=False, similarity=similarity)


@pytest.fixture
def examined(tmp_path: Path):
    def examine(floor: float):
        path = tmp_path / f"{floor}.db"
        settings = {"faq": {"min_similarity": floor}}
        answerable = [number % 10 > 0 for number in range(100)]
        write_run(path, {"faq": lambda n: faq(n, floor)}, 100, answerable=answerable, settings=settings)
        with open_operand("faq", path) as operand:
            return abstained_run(operand.run, risk=0.12)

    return examine


def test_the_threshold_that_is_promised(examined):
    """Wrong are similarities below 0.3 and unanswerable questions (0.00, 0.10 ... 0.90): 12 % of 101 allows 11."""
    caution = examined(0.0).cautions["faq"]
    wrong = [n for n in range(100) if n < 30 or n % 10 == 0]
    allowed = next(t for t in range(100) if sum(1 for n in wrong if n >= t) + 1 <= 0.12 * 101)
    assert caution.alike.threshold == pytest.approx(allowed / 100)
    assert caution.elsewhere.threshold > caution.alike.threshold
    assert caution.curve.answers == 100
    assert caution.hidden == 0


def test_a_setting_of_its_own_hides_lower_thresholds(examined):
    caution = examined(0.6).cautions["faq"]
    assert caution.alike.threshold == caution.alike.lowest == 0.6
    assert caution.hidden == 60
    assert caution.curve.coverage[-1] == 0.4


def test_the_whole_of_it_is_an_object(examined):
    made = orjson.loads(orjson.dumps(abstained_object(examined(0.5))))
    faq = made["bots"]["faq"]
    assert faq["outcomes"]["abstained_wrongly"]["rows"] + faq["outcomes"]["abstained_rightly"]["rows"] == 50
    assert faq["confidence"]["key"] == "similarity"
    assert faq["confidence"]["promise_for_questions_like_these"]["threshold"] == 0.5
    points = faq["confidence"]["risk_coverage"]["points"]
    assert len(points) == 50
    assert points[-1]["coverage"] == 0.5
    assert made["right_when"] == {"metric": "right", "threshold": 0.5, "better": "higher", "chosen_by_default": True}
    assert made["ranking"] is None
