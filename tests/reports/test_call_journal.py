"""Journals of judge calls beside real databases: what is left after a kill, and what is nobody else's."""

import sys

import pytest
from proctor.bots.base import Usage
from proctor.bots.chat import Completion
from proctor.metrics.judge.requests import JudgeRequest
from proctor.reports.call_journal import SEGMENT, CallJournal, left_calls
from proctor.reports.judge_calls import CallRecord, KeptCall
from report_rows import Book


def record(number, text="fine", size=0):
    request = JudgeRequest(
        "check", "Be strict.", f"Grade {number}." + "x" * size, {"type": "object"}, (("a", "b"),), 2, 3
    )
    said = Completion(text, Usage(5, 6, 0.5), "thought")
    kept, asked_at = KeptCall(text, "stop"), f"2026-01-01T00:00:{number:02}"
    return CallRecord(number.to_bytes(16), "judge", request, asked_at, kept, said, "", 3.0, 1.0, (2.0,))


def journals(tmp_path):
    return sorted(path.name for path in tmp_path.glob("*-calls-*"))


@pytest.fixture
def book(tmp_path):
    book = Book(tmp_path / "kept.db")
    yield book
    book.close()


def killed(book, *records, run_id=1):
    """A program that wrote these calls down and was killed: its files are no longer open."""
    journal = CallJournal(book.store.path, run_id)
    for each in records:
        journal.add(each)
    journal.close()


def keys(book):
    return [int.from_bytes(key) for (key,) in book.store.query("SELECT key FROM judge_calls ORDER BY key")]


def test_what_a_killed_program_left_is_kept_whole_and_its_file_is_gone(tmp_path, book):
    killed(book, record(1), record(2, "\ud800"))
    assert len(journals(tmp_path)) == 1
    book.writer.find_left_calls()
    columns = (
        "run_id, vote, reply, finish_reason, reasoning, tokens_in, cost, latency_ms, queue_ms, attempts_ms, exchange"
    )
    told = book.store.query(f"SELECT {columns} FROM judge_calls ORDER BY id")
    assert told[0] == (1, 2, "fine", "stop", "thought", 5, 0.5, 3.0, 1.0, "[2.0]", '[["a","b"]]')
    assert told[1][2] == "\ufffd"
    assert journals(tmp_path) == []


def test_a_line_that_was_cut_off_is_dropped(tmp_path, book):
    killed(book, record(1), record(2))
    (path,) = tmp_path.glob("*-calls-*")
    path.write_bytes(path.read_bytes()[:-9])
    book.writer.find_left_calls()
    assert keys(book) == [1]
    assert journals(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there an open file can't be removed anyway")
def test_the_journal_of_a_program_that_lives_is_read_and_left_and_nothing_is_kept_twice(tmp_path, book):
    shared = record(1)
    book.writer.judge_call(shared)  # written down at once, committed a moment later
    other = Book(tmp_path / "kept.db")
    other.writer.find_left_calls()
    assert keys(other) == [1]
    assert len(journals(tmp_path)) == 1
    other.close()
    book.writer.judge_call(record(2))
    book.writer.flush()
    assert keys(book) == [1, 2]
    assert shared.kept.id == 1
    book.writer.close()
    assert journals(tmp_path) == []


def test_calls_of_a_database_that_had_the_same_name_are_not_taken_over(tmp_path):
    first = Book(tmp_path / "kept.db")
    killed(first, record(1))
    first.close()
    for path in tmp_path.glob("kept.db"):
        path.unlink()
    second = Book(tmp_path / "kept.db")
    second.writer.find_left_calls()
    assert keys(second) == []
    assert journals(tmp_path) == []
    second.close()


def test_a_full_file_is_followed_by_another_and_goes_once_all_in_it_is_committed(tmp_path, book):
    journal = CallJournal(book.store.path, 1)
    large = [record(number, size=SEGMENT // 3) for number in range(4)]
    for each in large:
        journal.add(each)
    first, second = journals(tmp_path)
    journal.written(large[:2])
    assert journals(tmp_path) == [first, second]
    journal.written(large[2:3])
    assert journals(tmp_path) == [second]
    journal.close()
    assert journals(tmp_path) == [second]
    journal.written(large[3:])
    assert journals(tmp_path) == []


def test_failed_calls_are_asked_again_and_not_written_down(tmp_path, book):
    failed = CallRecord(b"k" * 16, "judge", record(1).request, "2026", KeptCall(error="gone"))
    book.writer.judge_call(failed)
    assert journals(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are another thing there")
def test_the_journal_is_as_private_as_the_database(tmp_path, book):
    book.store.path.chmod(0o600)
    killed(book, record(1))
    (path,) = tmp_path.glob("*-calls-*")
    assert path.stat().st_mode & 0o777 == 0o600


def test_other_files_beside_the_database_are_left_alone(tmp_path, book):
    (tmp_path / "kept.db-calls-of-mine").write_text("my own notes\n")
    (tmp_path / "kept.db-calls-in-json").write_text('[1, 2]\n{"id": 3}\n')
    assert list(left_calls(book.store.path)) == []
    book.writer.find_left_calls()
    assert journals(tmp_path) == ["kept.db-calls-in-json", "kept.db-calls-of-mine"]


def test_a_file_that_was_only_begun_is_removed(tmp_path, book):
    (tmp_path / f"kept.db-calls-{'0' * 16}-1").write_bytes(b'{"id":1,"ru')
    book.writer.find_left_calls()
    assert journals(tmp_path) == []
