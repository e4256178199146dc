"""A run that goes on while it is read."""

from pathlib import Path

from gated_runs import MATCH, opened
from proctor.reports.compare.scores import run_tables
from proctor.reports.store.writer import RowWriter
from report_rows import Book, ok, row


def test_questions_that_come_in_between_wait_for_the_next_look(tmp_path: Path):
    path = tmp_path / "p.db"
    book = Book(path, bots=("rag",), metrics=(MATCH,))
    book.put(row(book.run, "rag", "q0"), ok("exact_match", 1.0))
    book.writer.close()
    store = opened(path)
    came = []

    def on_statement(sql: str) -> None:
        if "run_rows.repeat, status" not in sql or came:
            return
        came.append(sql)  # the questions have been read, and the rows are about to be
        book.writer = RowWriter(path, book.run.id, book.run.metric_ids)
        book.put(row(book.run, "rag", "q1"), ok("exact_match", 0.0))
        book.writer.close()

    store.connection.set_trace_callback(on_statement)
    assert [case.key for case in run_tables(store, book.run.id).tables["rag"].cases] == ["q0"]
    assert came
    assert [case.key for case in run_tables(store, book.run.id).tables["rag"].cases] == ["q0", "q1"]
    store.close()
    book.store.close()
