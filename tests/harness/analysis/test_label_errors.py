import asyncio
import itertools

import numpy as np
import pytest
from bare_questions import answers, ask, corpus, marks
from proctor.harness.analysis.label_errors import find_label_errors, marks_of, reversal_p_values

PRICE = ask("price", "What does a tune-up cost?", "45 euros")


def label_errors(questions, said, kin=None, guide=""):
    given = answers(said)
    return asyncio.run(find_label_errors(corpus(questions, guide), given, marks_of(questions, given), kin or {}))


def test_bots_that_agree_on_another_answer_make_the_expected_one_suspect():
    said = {"a": {"price": "65 euros"}, "b": {"price": "It costs 65 euros."}, "c": {"price": "65 euros."}}
    (one,) = label_errors([PRICE], said)
    assert (one.kind, one.severity, one.questions, one.score) == ("label_error", "high", ("price",), 1.0)
    assert one.details["reading"] == "agree_otherwise"
    assert '"45 euros"' in one.what


def test_bots_of_one_model_err_alike():
    said = {"a": {"price": "65 euros"}, "b": {"price": "65 euros"}, "c": {"price": "65 euros"}}
    kin = dict.fromkeys("abc", "model")
    (one,) = label_errors([PRICE], said, kin)
    assert one.severity == "low"
    documented = ask("price", PRICE.text, *PRICE.expected, quote="It costs 45 euros.")
    assert label_errors([documented], said, kin, "It costs 45 euros.") == ()
    (other,) = label_errors([documented], said, {}, "It costs 45 euros.")
    assert other.severity == "low"


@pytest.mark.parametrize(
    "said",
    [
        {"a": {"price": "65 euros"}},  # one bot has nobody to agree with
        {"a": {"price": "65 euros"}, "b": {"price": "+45 euros"}, "c": {"price": "65 euros"}},  # one is right
        {"a": {"price": "I don't know."}, "b": {"price": "I don't know."}},
        {"a": {"price": "65 euros"}, "b": {"price": "85 euros"}},  # two that differ say little
        {"a": {"price": "It costs 45 euros."}, "b": {"price": "45 euros."}},  # the metric is too strict
        {"a": {"price": ""}, "b": {"price": ""}},
        {"a": {"price": None}, "b": {"price": None}},
    ],
)
def test_what_is_no_reason_for_suspicion(said):
    assert label_errors([PRICE], said) == ()


def test_three_bots_that_all_differ_are_a_hint():
    said = {"a": {"price": "65 euros"}, "b": {"price": "85 euros"}, "c": {"price": "99 euros"}}
    (one,) = label_errors([PRICE], said)
    assert (one.severity, one.details["reading"]) == ("low", "all_differ")
    placed = ask("price", PRICE.text, *PRICE.expected, quote="It costs 45 euros.")
    assert label_errors([placed], said, guide="It costs 45 euros.") == ()


def test_unanswerable_questions_are_left_out():
    question = ask("price", PRICE.text, "I don't know.", answerable=False)
    assert label_errors([question], {"a": {"price": "65 euros"}, "b": {"price": "65 euros"}}) == ()


def turned_set(bots=14, questions=60):
    """Bots of rising ability, and one question that only the weak half answers."""
    chance = np.random.default_rng(0)
    ability = np.linspace(0.15, 0.9, bots)
    right = (chance.random((questions, bots)) < ability).astype(float)
    right[7] = (ability < 0.5).astype(float)
    return right


def test_a_question_that_better_bots_miss_is_told():
    right = turned_set()
    asked = [ask(f"q{line}", f"What is {line}?", f"it {line}") for line in range(len(right))]
    said = {f"bot{column:02}": {f"q{line}": float(right[line, column]) for line in range(len(right))}
            for column in range(right.shape[1])}  # fmt: skip
    (one,) = label_errors(asked, said)
    assert (one.questions, one.details["reading"], one.severity) == (("q7",), "better_bots_miss", "medium")
    assert one.details["discrimination"] < -0.7


def test_with_few_bots_no_question_is_told_so():
    right = turned_set(bots=5)
    said = {f"bot{column}": right[:, column].tolist() for column in range(5)}
    p_values = reversal_p_values(marks(said).goodness, [7])
    assert p_values[0] >= 1 / 120 * 2 * 6 - 1e-9  # two of five right: ten arrangements, one of them as far


def test_p_values_by_draws_are_near_those_by_all_orders():
    right = turned_set(bots=8)
    lines = np.argsort(right.std(axis=1))[-3:]
    drawn = reversal_p_values(right, lines)
    orders = np.array(list(itertools.permutations(range(8))))
    for line, p_value in zip(lines, drawn, strict=True):
        rest = np.delete(right, line, axis=0).mean(axis=0)
        exact = np.mean(right[line][orders] @ rest <= right[line] @ rest + 1e-9)
        assert p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)
    assert drawn.tolist() == reversal_p_values(right, lines).tolist()
    ordered = np.tile(np.arange(9.0), (30, 1))
    ordered[7] = ordered[7, ::-1]  # one order of 362,880 is as far turned, which none of the draws is
    assert reversal_p_values(ordered, [7])[0] == pytest.approx(1 / 20_001)
