"""What a run's rows say of the judge: requests, unreadable replies, cost and latency, counted from the calls."""

import pytest
from proctor.bots.bot import Usage
from proctor.bots.chat.model import Completion
from proctor.metrics import builtin_catalog
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.reports.store.judge_calls import CachedCall, CallRecord
from proctor.reports.store.run_scores import run_facts
from proctor.reports.store.writer import RowWriter
from report_rows import Book, header, row

JUDGING = ["parse_failure_rate", "judge_requests", "judge_cost", "judge_latency_ms"]


def record(number, *, cost=1.0, latency_ms=10.0, problem="", error="", call="check", judge="judge"):
    """A call of its own number, as a cache would hand it to the writer."""
    said = None if error else Completion("said", Usage(3, 2, cost))
    kept = CachedCall(None if error else "said", error=error)
    request = JudgeRequest(call, "s", str(number))
    return CallRecord(bytes([number]), judge, request, "2026-01-01", kept, said, problem, latency_ms)


def put(book, key, *records, bot="left"):
    """A row that rests on these calls; those that are new are written first."""
    made = book.put(row(book.run, bot, key))
    for each in records:
        if each.stored.id is None:
            book.writer.judge_call(each)
            book.writer.flush()
    book.writer.judge_notes(made, [each.stored for each in records])
    book.writer.flush()


@pytest.fixture
def book(tmp_path):
    book = Book(tmp_path / "run.db")
    yield book
    book.close()


def figures(book, bot="left"):
    facts = run_facts(book.store, book.run.id, book.run.bot_ids[bot])
    return {score.metric: score.reason or score.value for score in builtin_catalog().plan(JUDGING).score_run(facts)}


def test_without_calls_there_is_nothing_to_tell(book):
    put(book, "q1")
    assert set(figures(book).values()) == {"no_judge_requests"}


def test_calls_are_counted_once_however_many_rows_rest_on_them(book):
    shared = record(1, latency_ms=30.0)
    put(book, "q1", shared, record(2))
    put(book, "q2", shared, record(3, problem="no JSON", latency_ms=20.0))
    assert figures(book) == {
        "parse_failure_rate": pytest.approx(1 / 3),
        "judge_requests": 3.0,
        "judge_cost": 3.0,
        "judge_latency_ms": pytest.approx(20.0),
    }


def test_unreadable_replies_are_told_by_judge_and_call(book):
    put(book, "q1", record(1), record(2, problem="no JSON"), record(3, call="compare"))
    put(book, "q2", record(4, judge="other", call="compare", problem="cut off"), record(5, error="HTTP 500"))
    facts = run_facts(book.store, book.run.id, book.run.bot_ids["left"])
    (score,) = builtin_catalog().plan(["parse_failure_rate"]).score_run(facts)
    assert score.value == 0.5
    assert [tuple(each.values()) for each in score.details["replies"]] == [
        ("judge", "check", 1, 2), ("judge", "compare", 0, 1), ("other", "compare", 1, 1),
    ]  # fmt: skip


def test_what_two_bots_share_is_asked_for_both_and_paid_once(book):
    shared = record(1)
    put(book, "q1", shared, record(2), bot="left")
    put(book, "q1", shared, bot="right")
    left, right = figures(book, "left"), figures(book, "right")
    assert (left["judge_requests"], left["judge_cost"]) == (2.0, 2.0)
    assert (right["judge_requests"], right["judge_cost"]) == (1.0, 0.0)


def test_failed_calls_are_no_replies(book):
    put(book, "q1", record(1), record(2, error="HTTP 500"))
    assert figures(book)["judge_requests"] == 1.0


def test_what_another_run_paid_costs_nothing(book):
    kept = record(1)
    put(book, "q1", kept)
    book.writer.close()
    book.run = book.run_results.begin(header(fresh=True))
    book.writer = RowWriter(book.store.path, book.run.id, book.run.metric_ids)
    put(book, "q1", kept, record(2, cost=4.0))
    assert (figures(book)["judge_requests"], figures(book)["judge_cost"]) == (2.0, 4.0)


def test_a_call_that_was_paid_before_the_run_was_killed_is_paid_by_the_row_that_comes_later(book):
    lost = record(1, cost=5.0)
    book.writer.judge_call(lost)  # and then the process ends, before the row is scored
    book.writer.flush()
    put(book, "q1", record(2, cost=1.0), lost)
    assert figures(book)["judge_cost"] == 6.0


def test_without_prices_the_cost_is_not_known(book):
    put(book, "q1", record(1, cost=None), record(2, cost=None))
    assert figures(book)["judge_cost"] == "not_reported"
    assert figures(book)["judge_requests"] == 2.0
