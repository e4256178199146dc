import numpy as np
import pytest
from bare_questions import answers, ask, marks
from proctor.harness.analysis.label_errors import discriminations, item_analysis, marks_of, shares_of_tags
from proctor.reports.summary import MetricColumn

LOWER = MetricColumn("errors", "v1", "lower", 0.0, 1.0, 0.5)


def test_a_question_on_which_bots_differ_tells_them_apart():
    first, second, third = item_analysis(marks({"good": [1, 1, 0.55], "bad": [0, 1, 0.5], "worse": [0, 1, 0.5]}))
    assert (first.values, first.spread, first.informative) == (3, 1.0, True)
    assert first.difficulty == pytest.approx(2 / 3)
    assert (second.spread, second.informative, second.discrimination, second.difficulty) == (0.0, False, None, 0.0)
    assert (third.informative, third.spread) == (False, pytest.approx(0.05))


def test_discrimination_is_the_correlation_with_the_other_questions():
    values = np.array([[1.0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0.5, 0.25]])
    found = discriminations(values)
    for line in range(len(values)):
        rest = np.delete(values, line, axis=0).mean(axis=0)
        assert found[line] == pytest.approx(np.corrcoef(values[line], rest)[0, 1])
    assert found[2] < 0


def test_two_bots_have_no_discrimination():
    assert [one.discrimination for one in item_analysis(marks({"a": [1, 0, 1], "b": [0, 0, 1]}))] == [None] * 3


def test_missing_values_are_no_zeros():
    (first, second) = item_analysis(marks({"a": [1, None], "b": [1, 0.9], "c": [1, 0.9]}))
    assert (first.values, second.values) == (3, 2)
    assert (second.spread, second.difficulty) == (0.0, 0.0)


def test_lower_is_better_is_turned_round():
    low = item_analysis(marks({"a": [0.0, 0.1, 0], "b": [1.0, 0.8, 1], "c": [0.9, 0.9, 1]}, LOWER))
    assert low[0].discrimination > 0.8
    assert low[0].difficulty == pytest.approx(2 / 3)


def test_without_bots_nothing_is_said():
    (one,) = item_analysis(marks_of([ask("q", "What?")], answers({})))
    assert (one.question, one.values, one.spread, one.informative) == ("q", 0, None, False)


def test_one_question_has_no_others():
    (one,) = item_analysis(marks({"a": [1], "b": [0], "c": [0]}))
    assert (one.discrimination, one.informative) == (None, True)


def test_an_unanswerable_question_counts_by_whether_bots_say_so():
    asked = [ask("no", "Is it on Mars?", answerable=False), ask("yes", "Where?", "here")]
    given = answers({"a": {"no": "+I don't know", "yes": "+here"}, "b": {"no": "Yes", "yes": "there"}})
    bare = [row if row.question == "yes" else type(row)(row.bot, "no", row.text, None, None, row.right, False)
            for row in given.rows]  # fmt: skip
    made = marks_of(asked, type(given)("r", 1, given.metric, tuple(bare)))
    assert np.isnan(made.values[0]).all()
    assert item_analysis(made)[0].informative
    assert made.complete.tolist() == [1]


def test_answers_to_other_questions_and_bots_without_values_are_left_out():
    made = marks_of([ask("q", "What?")], answers({"a": {"q": 1.0, "gone": 1.0}, "silent": {"q": None}}))
    assert made.bots == ("a",)


def test_common_tags_are_kept_in_order_of_how_common_they_are():
    asked = {f"q{place}": ask(f"q{place}", "?", tags=("all", "half") if place % 2 else ("all",)) for place in range(10)}
    asked["q0"] = ask("q0", "?", tags=("all", "rare"))
    found = shares_of_tags(asked, list(asked), 0.2, 5)
    assert found.shape == (10, 2)
    assert found.sum(axis=0).tolist() == [10, 5]
    assert shares_of_tags({"q": ask("q", "?")}, ["q"], 0.1, 5).shape == (1, 0)
