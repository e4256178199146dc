import threading

import pytest
from proctor.metrics.score import Score, Status
from proctor.reports.store.database import Store, StoreError
from proctor.reports.store.run import RowStatus
from report_rows import Book, context, ok, row


@pytest.fixture
def book(tmp_path):
    book = Book(tmp_path / "rows.db")
    yield book
    book.store.close()


def test_a_row_is_on_disk_after_a_flush(book):
    book.put(row(book.run, "left", "q1", "yes", latency_ms=12.5), ok("exact_match", 1.0, tokens=3))
    book.writer.flush()
    other = Store.open(book.store.path)
    assert other.query("SELECT bot, question_id, answer, latency_ms FROM answers") == [("left", "q1", "yes", 12.5)]
    assert other.query("SELECT metric, value, passed, details FROM row_scores") == [
        ("exact_match", 1.0, 1, '{"tokens":3}')
    ]
    other.close()
    book.writer.close()


def test_contexts_come_back_as_they_were(book):
    given = row(book.run, "left", "q1", contexts=(context("one"), context("two"), context("one")))
    book.put(given)
    none = book.put(row(book.run, "left", "q2", contexts=None))
    empty = book.put(row(book.run, "left", "q3", contexts=()))
    book.writer.close()
    assert book.run_results.load_reply(given.reply_id).contexts == given.reply.contexts
    assert book.run_results.load_reply(none.reply_id).contexts is None
    assert book.run_results.load_reply(empty.reply_id).contexts == ()
    assert book.store.query("SELECT COUNT(*) FROM passages") == [(2,)]


def test_failed_rows_keep_their_status_and_no_answer(book):
    book.put(row(book.run, "left", "q1", status=RowStatus.TIMED_OUT, error="no answer within 1 s", latency_ms=1000.0))
    book.writer.close()
    assert book.store.query("SELECT status, answer, error, latency_ms FROM replies") == [
        ("timed_out", None, "no answer within 1 s", 1000.0)
    ]


def test_the_same_question_of_two_bots_is_stored_once(book):
    for bot in ("left", "right"):
        book.put(row(book.run, bot, "q1"))
    book.writer.close()
    assert book.store.query("SELECT COUNT(*) FROM questions") == [(1,)]


def test_a_score_is_replaced_when_it_is_worked_out_again(book):
    made = book.put(row(book.run, "left", "q1"), Score("exact_match", None, Status.ERROR, "metric_raised"))
    book.writer.scores(made, [ok("exact_match", 0.0)])
    book.writer.close()
    assert book.store.query("SELECT value, status, reason FROM scores") == [(0.0, "ok", None)]


def test_a_score_that_is_worked_out_again_sheds_the_details_of_its_failure(book):
    failed = Score("exact_match", None, Status.ERROR, "metric_raised", {"exception": "KeyError"})
    made = book.put(row(book.run, "left", "q1"), failed)
    book.writer.flush()
    made.cached = True
    book.put(made, ok("exact_match", 1.0))
    book.writer.close()
    assert book.store.query("SELECT value, details FROM row_scores") == [(1.0, None)]


def test_two_writers_share_one_file_without_loss(tmp_path):
    path = tmp_path / "shared.db"
    books = [Book(path), Book(path)]
    assert books[0].run.name == books[1].run.name

    def fill(book: Book, bot: str) -> None:
        for number in range(400):
            book.put(row(book.run, bot, f"q{number}"), ok("exact_match", 1.0))
        book.writer.close()

    threads = [threading.Thread(target=fill, args=pair) for pair in zip(books, ("left", "right"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for book in books:
        book.store.close()
    store = Store.open(path)
    assert store.query("SELECT COUNT(*), COUNT(DISTINCT reply_id) FROM run_rows") == [(800, 800)]
    assert store.query("SELECT COUNT(*) FROM questions") == [(400,)]
    assert store.query("SELECT COUNT(*) FROM scores") == [(800,)]
    assert store.query("PRAGMA foreign_key_check") == []
    store.close()


def test_an_error_of_the_disk_is_a_sentence_and_stops_the_writer(tmp_path):
    book = Book(tmp_path / "full.db")
    book.writer.close()
    book.store.connection.execute("DROP VIEW row_scores")
    book.store.connection.execute("PRAGMA foreign_keys = OFF")
    book.store.connection.execute("DROP TABLE run_rows")
    from proctor.reports.store.writer import RowWriter

    writer = RowWriter(book.store.path, book.run.id, book.run.metric_ids)
    writer.row(row(book.run, "left", "q1"))
    with pytest.raises(StoreError, match=r"full.db: the database says"):
        writer.flush()
    with pytest.raises(StoreError):
        writer.row(row(book.run, "left", "q2"))
    book.store.close()


def test_a_row_that_can_not_be_written_is_an_error_and_never_lost_in_silence(book):
    unheard = row(book.run, "left", "q1", "yes")
    unheard.in_flight = 2**70

    def put_and_close():  # whichever first hears of it says so
        book.put(unheard)
        book.writer.close()

    with pytest.raises(StoreError, match="a row can't be written"):
        put_and_close()
