import pytest
from proctor.harness.run.run import silent_metrics
from proctor.metrics.score import Score, Status
from proctor.reports.store.run import RowStatus, RunMetric
from proctor.reports.summary import summarise
from report_rows import Book, ok, row

METRICS = [RunMetric(name, "v1", "higher", 0.0, 1.0, None) for name in ("plain", "second", "check.parse_failures")]


@pytest.fixture
def book(tmp_path):
    book = Book(tmp_path / "silent.db", metrics=METRICS)
    yield book
    book.close()


def missing(metric, status=Status.NOT_APPLICABLE, reason="contexts_missing"):
    return Score(metric, None, status, reason)


def said(book):
    book.writer.flush()
    return list(silent_metrics(summarise(book.store, book.run.id)))


def test_metrics_without_a_value_on_any_row_are_named_with_the_reason(book):
    book.put(row(book.run, "left", "q0"), missing("plain"), missing("second", reason="expected_missing"))
    book.put(row(book.run, "right", "q0"), missing("plain"), missing("second", reason="contexts_missing"))
    book.put(row(book.run, "right", "q1"), missing("second", reason="expected_missing"))
    both = "second (expected_missing 2, contexts_missing 1 rows)"
    assert said(book) == [f"Without a value on any row: plain (contexts_missing); {both}."]


def test_what_a_judge_can_not_grade_is_one_sentence_that_says_what_to_do(book):
    book.put(row(book.run, "left", "q0"), *(missing(name, reason="judge_cannot_grade") for name in ("plain", "second")))
    book.put(row(book.run, "left", "q1"), missing("plain", reason="judge_cannot_grade"), missing("second"))
    hint = "take a language model for them: --judge openai:NAME."
    assert said(book) == [f"The embedded judge can't grade plain, second; {hint}"]


def test_contexts_that_nobody_was_to_check_are_no_loss(book):
    book.put(row(book.run, "left", "q0"), ok("second", 1.0), missing("plain", reason="contexts_not_checked"))
    assert said(book) == []


def test_one_value_of_one_bot_is_enough(book):
    book.put(row(book.run, "left", "q0"), missing("plain"), missing("second"))
    book.put(row(book.run, "right", "q0"), ok("plain", 0.0), missing("second"))
    assert said(book) == ["Without a value on any row: second (contexts_missing)."]


def test_a_bot_that_failed_hides_nothing_and_a_metric_that_failed_is_no_silent_one(book):
    failed = row(book.run, "left", "q0", status=RowStatus.RAISED)
    book.put(failed, *(missing(metric, Status.BOT_ERROR, "bot_raised") for metric in ("plain", "second")))
    assert said(book) == []
    book.put(row(book.run, "right", "q0"), missing("plain"), missing("second", Status.ERROR, "metric_raised"))
    assert said(book) == ["Without a value on any row: plain (contexts_missing)."]


def test_unreadable_verdicts_are_no_loss_where_nothing_is_read(book):
    book.put(row(book.run, "left", "q0"), ok("plain", 1.0), ok("second", 1.0), missing("check.parse_failures"))
    assert said(book) == []
