"""Journals of judge calls beside real databases: what is left after a kill, and what is nobody else's."""

import os
import sys
from dataclasses import replace

import pytest
from proctor.bots.bot import Usage
from proctor.bots.chat.model import Completion
from proctor.metrics.judge.rendering import JudgeRequest
from proctor.reports.store.judge_calls import CachedCall, CallRecord
from proctor.reports.store.run import RowStatus
from proctor.reports.store.writer import SEGMENT, CallJournal, left_calls
from report_rows import Book, context, row


def record(number, text="fine", size=0):
    request = JudgeRequest(
        "check", "Be strict.", f"Grade {number}." + "x" * size, {"type": "object"}, (("a", "b"),), 2, 3
    )
    said = Completion(text, Usage(5, 6, 0.5), "thought")
    kept, asked_at = CachedCall(text, "stop"), f"2026-01-01T00:00:{number:02}"
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
        journal.add_call(each)
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
    calls = book.store.query(f"SELECT {columns} FROM judge_calls ORDER BY id")
    assert calls[0] == (1, 2, "fine", "stop", "thought", 5, 0.5, 3.0, 1.0, "[2.0]", '[["a","b"]]')
    assert calls[1][2] == "\ufffd"
    assert journals(tmp_path) == []


def test_a_line_that_was_cut_off_is_dropped(tmp_path, book):
    killed(book, record(1), record(2))
    (path,) = tmp_path.glob("*-calls-*")
    path.write_bytes(path.read_bytes()[:-9])
    book.writer.find_left_calls()
    assert keys(book) == [1]
    assert journals(tmp_path) == []


@pytest.mark.parametrize(
    "line",
    [b"\0" * 40, b"{}", b"7", b'["of", "another", "version"]', b'{"answer": [1, "not hex", [], 1, "00", [], []]}'],
)
def test_a_line_that_can_not_be_read_is_passed_over(tmp_path, book, line):
    killed(book, record(1), record(2))
    (path,) = tmp_path.glob("*-calls-*")
    head, first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([head, first, line, second, b""]))
    book.writer.find_left_calls()
    assert keys(book) == [1, 2]
    assert journals(tmp_path) == []


@pytest.mark.parametrize("head", [b"\0" * 40, b"7", b"[]"])
def test_a_file_that_does_not_say_whose_it_is_is_of_nobody(tmp_path, book, head):
    killed(book, record(1))
    (path,) = tmp_path.glob("*-calls-*")
    path.write_bytes(head + b"\n" + path.read_bytes().split(b"\n", 1)[1])
    book.writer.find_left_calls()
    assert keys(book) == []
    assert journals(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there an open file can't be removed anyway")
def test_a_program_that_has_been_silent_for_hours_still_has_its_journal(tmp_path, book):
    book.writer.judge_call(record(1))
    book.writer.flush()
    (path,) = tmp_path.glob("*-calls-*")
    os.utime(path, (0, 0))
    other = Book(tmp_path / "kept.db")
    other.writer.find_left_calls()
    other.close()
    assert journals(tmp_path) == [path.name]


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
    assert shared.stored.id == 1
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
        journal.add_call(each)
    first, second = journals(tmp_path)
    journal.written(large[:2])
    assert journals(tmp_path) == [first, second]
    journal.written(large[2:3])
    assert journals(tmp_path) == [second]
    journal.close()
    assert journals(tmp_path) == [second]
    journal.written(large[3:])
    assert journals(tmp_path) == []


def answers(book):
    return book.store.query(
        "SELECT run_id, position, questions.text, answer, trace, (SELECT GROUP_CONCAT(passages.text) FROM contexts"
        " JOIN passages ON passages.id = passage_id WHERE reply_id = replies.id) FROM run_rows"
        " JOIN replies ON replies.id = reply_id JOIN questions ON questions.id = question_id ORDER BY position"
    )


def killed_with_answers(book, *rows):
    """A program that wrote these answers down and was killed before they were in the database."""
    journal = CallJournal(book.store.path, book.run.id)
    for each in rows:
        journal.add_answer(each)
    journal.close()


def test_answers_that_a_killed_program_left_are_kept_whole_and_once(tmp_path, book):
    made = row(book.run, "left", "a", "so", contexts=(context("one"), context("two")), position=3)
    made.reply = replace(made.reply, trace={"steps": [1, "\ud800"]}, usage=Usage(5, 6, 0.5))
    killed_with_answers(book, made)
    killed_with_answers(book, made)  # as one that was killed when it had written, and its file was not yet removed
    assert len(journals(tmp_path)) == 2
    book.writer.find_left_calls()
    assert answers(book) == [(1, 3, "What of a?", "so", '{"steps": [1, "\ufffd"]}', "one,two")]
    columns = "bot_id, question_hash, repeat, status, retrieved, tokens_in, cost, asked_at, latency_ms"
    left = book.store.query(f"SELECT {columns} FROM replies")
    again = row(book.run, "left", "a", "so", contexts=(context("one"), context("two")), repeat=1)
    again.reply = made.reply
    book.writer.row(again)
    book.writer.flush()
    direct = book.store.query(f"SELECT {columns} FROM replies WHERE repeat = 1")
    assert left == [(*direct[0][:2], 0, *direct[0][3:])]
    assert book.store.query("SELECT COUNT(*) FROM questions") == [(1,)]
    assert journals(tmp_path) == []


def test_an_answer_that_was_cut_off_is_dropped(tmp_path, book):
    killed_with_answers(book, row(book.run, "left", "a"), row(book.run, "left", "b"))
    (path,) = tmp_path.glob("*-calls-*")
    path.write_bytes(path.read_bytes()[:-3])
    book.writer.find_left_calls()
    assert [turn[2] for turn in answers(book)] == ["What of a?"]
    assert journals(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there it is told by other means whether it lives")
def test_answers_of_a_program_that_lives_are_its_own_to_keep(tmp_path, book):
    journal = CallJournal(book.store.path, book.run.id)
    made = row(book.run, "left", "a")
    journal.add_answer(made)
    book.writer.find_left_calls()
    assert answers(book) == []
    assert len(journals(tmp_path)) == 1
    book.writer.row(made)
    book.writer.flush()
    journal.written([made])
    journal.close()
    assert len(answers(book)) == 1
    assert journals(tmp_path) == []


def test_an_answer_is_in_the_journal_before_it_is_in_the_database(tmp_path, book):
    book.writer.answer(row(book.run, "left", "a"))
    assert len(journals(tmp_path)) == 1
    book.writer.answer(row(book.run, "left", "b", status=RowStatus.RAISED, error="no"))
    book.writer.close()
    assert len(answers(book)) == 2
    assert journals(tmp_path) == []


def test_rows_that_failed_are_not_written_down(tmp_path, book):
    killed_with_answers(book, row(book.run, "left", "b", status=RowStatus.RAISED, error="no"))
    assert journals(tmp_path) == []


def test_failed_calls_are_asked_again_and_not_written_down(tmp_path, book):
    failed = CallRecord(b"k" * 16, "judge", record(1).request, "2026", CachedCall(error="gone"))
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
