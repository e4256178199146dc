import contextlib

import pytest
from knowledge_suites import QUESTIONS, answers_of, write_knowledge_suite
from proctor import InputError
from proctor.harness.analysis.corpus import read_answers
from proctor.reports.store.database import Store
from suites import write_suite

UNSURE = {
    "id": "moon",
    "question": "Is there a shop on the moon?",
    "expected_answer": "nobody knows",
    "answerable": False,
}


@pytest.fixture
def store(tmp_path):
    with contextlib.closing(Store.open(tmp_path / "proctor.db")) as opened:
        yield opened


def test_answers_come_with_what_they_were_made_from(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path), store)
    answer = answers.by_place["rag", "tune"]
    assert "45 euros" in answer.text
    assert answer.documents[0] == "prices.md"
    assert answer.contexts is not None
    assert len(answer.contexts) == 2
    assert answers.bots == ("rag",)


def test_a_value_at_the_threshold_is_right(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path, thresholds={"keyword_recall": 0.5}), store)
    assert answers.metric.threshold == 0.5
    assert [answers.is_right(value) for value in (0.49, 0.5, None)] == [False, True, None]


def test_a_metric_without_a_threshold_has_the_middle_of_its_range(tmp_path, store):
    suite = write_knowledge_suite(tmp_path, metrics=["hit_rate"])
    found = answers_of(suite, store, "hit_rate")
    assert (found.metric.name, found.metric.threshold) == ("hit_rate", 0.5)


def test_an_unanswerable_question_is_answered_rightly_by_saying_so(tmp_path, store):
    suite = write_suite(
        tmp_path,
        "def answer(question):\n    return 'I do not know.' if 'moon' in question else 'nobody knows'\n",
        [UNSURE, {**UNSURE, "id": "mars", "question": "Is there a shop on Mars?"}],
        metrics=["keyword_recall"],
    )
    answers = answers_of(suite, store)
    said = {row.question: (row.right, row.abstained) for row in answers.rows}
    assert said == {"moon": (True, True), "mars": (False, False)}


def test_a_bot_that_failed_has_no_answer(tmp_path, store):
    code = "def answer(question):\n    if '0' in question:\n        raise ValueError('no')\n    return 'It is 1'\n"
    answers = answers_of(write_suite(tmp_path, code, 2), store)
    assert [row.question for row in answers.rows] == ["q1"]


def test_the_value_of_repeats_is_their_mean(tmp_path, store):
    code = (
        "import itertools\nturn = itertools.count()\n\n"
        "def answer(question):\n    return 'It is 0' if next(turn) else 'nothing'\n"
    )
    suite = write_suite(tmp_path, code, 1, repeat=2, metrics=["exact_match"], concurrency=1)
    (row,) = answers_of(suite, store).rows
    assert row.value == 0.5


def test_a_run_that_marks_nothing_has_no_answers_to_tell_from(tmp_path, store):
    suite = write_suite(tmp_path, "def answer(question):\n    return 'x'\n", 1, metrics=["answer_length"])
    with pytest.raises(AssertionError):
        answers_of(suite, store)
    assert read_answers(store, 1) is None


def test_an_unknown_metric_is_named_with_the_nearest(tmp_path, store):
    answers_of(write_knowledge_suite(tmp_path), store)
    with pytest.raises(InputError, match=r"no metric 'keyword_recal' .*did you mean keyword_recall"):
        read_answers(store, 1, "keyword_recal")


def test_a_metric_without_bounds_wants_a_threshold(tmp_path, store):
    code = "def answer(question):\n    return 'x'\n"
    answers_of(write_suite(tmp_path, code, 1, metrics=["exact_match", "latency_ms"]), store)
    with pytest.raises(InputError, match=r"latency_ms has no threshold.*thresholds: \{latency_ms: 0\.5\}"):
        read_answers(store, 1, "latency_ms")


def test_questions_keep_their_order(tmp_path, store):
    answers = answers_of(write_knowledge_suite(tmp_path), store)
    assert [row.question for row in answers.rows] == [question["id"] for question in QUESTIONS]
