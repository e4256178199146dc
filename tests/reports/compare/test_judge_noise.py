import random

import pytest
from judge_server import JudgeServer, judged, name_of
from judged_runs import record, run, score, suite_with_judge
from proctor.reports.compare.judge_noise import judge_variance
from proctor.reports.store.database import Store


class Fickle:
    """A judge that turns each verdict on a claim round with some chance, anew in every call."""

    def __init__(self, chance, seed=1):
        self.chance = chance
        self.random = random.Random(seed)

    def __call__(self, call):
        said = judged(call)
        if name_of(call) == "check_answer" and "claims" in said:
            for item in said["claims"]:
                if self.random.random() < self.chance:
                    item["supported"] = not item["supported"]
        return said


def noise(folder, metric, bot="mine"):
    store = Store.open(folder / "proctor.db")
    try:
        ((last,),) = store.query("SELECT MAX(id) FROM runs")
        return judge_variance(store, last, bot, metric)
    finally:
        store.close()


def test_answers_that_were_judged_again_tell_the_judges_variance(tmp_path):
    """Two claims a row, each turned round with 0.3: the value is a mean of two, of variance 0.3 * 0.7 / 2."""
    record(tmp_path, 60)
    with JudgeServer(Fickle(0.3)) as server:
        for fresh in (False, True, True):
            score(tmp_path, server, ["faithfulness", "exact_match"], fresh=fresh)
    found = noise(tmp_path, "faithfulness")
    assert found.variance == pytest.approx(0.105, rel=0.25)
    assert (found.rows, found.how) == (180, "60 answers were judged up to 3 times")


def test_a_kept_verdict_is_no_second_one(tmp_path):
    """A run that takes over what is kept looks at the same calls, so nothing is known, and surely not 0."""
    record(tmp_path, 12)
    with JudgeServer(Fickle(0.3)) as server:
        score(tmp_path, server, ["faithfulness"])
        score(tmp_path, server, ["faithfulness", "context_recall"])
    assert noise(tmp_path, "faithfulness") is None


def test_repeats_with_equal_answers_share_their_verdict(tmp_path):
    with JudgeServer(Fickle(0.3)) as server:
        suite_with_judge(tmp_path, server, 12, repeat=3, metrics=["faithfulness"])
        run(tmp_path)
    assert noise(tmp_path, "faithfulness") is None


def test_a_steady_judge_has_a_variance_of_0(tmp_path):
    record(tmp_path, 8)
    with JudgeServer() as server:
        for fresh in (False, True):
            score(tmp_path, server, ["faithfulness"], fresh=fresh)
    found = noise(tmp_path, "faithfulness")
    assert (found.variance, found.rows, found.how) == (0.0, 16, "8 answers were judged twice")


def test_too_few_second_verdicts_tell_nothing(tmp_path):
    record(tmp_path, 4)
    with JudgeServer(Fickle(0.3)) as server:
        for fresh in (False, True):
            score(tmp_path, server, ["faithfulness"], fresh=fresh)
    assert noise(tmp_path, "faithfulness") is None


def test_votes_tell_the_variance_of_their_majority(tmp_path):
    """With 0.3 a majority of three is turned round with 0.216: variance 0.216 * 0.784 a claim; there are several."""
    with JudgeServer(Fickle(0.3)) as server:
        suite_with_judge(tmp_path, server, 150, judge={"model": "small", "votes": 3}, metrics=["faithfulness"])
        run(tmp_path)
    found = noise(tmp_path, "faithfulness")
    assert found.variance == pytest.approx(0.216 * 0.784 / 2, rel=0.25)
    assert (found.rows, found.how) == (150, "votes on 150 answers")


@pytest.mark.parametrize("rate", ["passes", "failures", "generation_failures"])
def test_votes_that_an_evaluator_casts_by_itself_count_too(tmp_path, rate):
    chance = random.Random(2)

    def flagging(call):
        return {name: (chance.random() < 0.3 if word is False else word) for name, word in judged(call).items()}

    with JudgeServer(flagging) as server:
        suite_with_judge(tmp_path, server, 120, metrics=["critic_bias"])
        run(tmp_path)
    assert noise(tmp_path, f"critic_bias.{rate}").variance == pytest.approx(0.216 * 0.784, rel=0.25)
    assert noise(tmp_path, "critic_bias.parse_failures") is None


def test_samples_tell_the_variance_of_their_mean(tmp_path):
    chance = random.Random(3)

    def grading(call):
        return shaken(judged(call))

    def shaken(said):
        if isinstance(said, dict):
            return {name: shaken(inner) for name, inner in said.items()}
        return chance.uniform(0, 1) if said == 1 else said

    with JudgeServer(grading) as server:
        wanted = {"judge_relevance": {"judge_scoring": "expected", "samples": 5}}
        suite_with_judge(tmp_path, server, 60, metrics=[wanted])
        run(tmp_path)
    found = noise(tmp_path, "judge_relevance")
    assert found.variance == pytest.approx(1 / 12 / 5, rel=0.25)
    assert (found.rows, found.how) == (60, "the judge's samples on 60 answers")


def test_a_value_that_is_no_share_of_its_items_is_not_taken_for_one(tmp_path):
    """The average precision of useful chunks weighs them by rank, though it is 0 or 1 on some rows as a share is."""
    chance = random.Random(4)

    def ranking(call):
        said = judged(call)
        if "usefulness" in said:
            for item in said["usefulness"]:
                item["useful"] = chance.random() < 0.5
        return said

    with JudgeServer(ranking) as server:
        suite_with_judge(tmp_path, server, 30, judge={"model": "small", "votes": 3}, metrics=["context_precision"])
        run(tmp_path)
    assert noise(tmp_path, "context_precision") is None


def test_a_metric_without_a_judge_has_no_judges_noise(tmp_path):
    record(tmp_path, 6)
    with JudgeServer(Fickle(0.3)) as server:
        score(tmp_path, server, ["faithfulness", "exact_match"])
    assert (noise(tmp_path, "exact_match").variance, noise(tmp_path, "exact_match").rows) == (0.0, 0)
    assert noise(tmp_path, "faithfulness", bot="nobody") is None
