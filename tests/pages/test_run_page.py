"""The page of a run loads from disk, with no error and no request."""

import contextlib
from pathlib import Path

from browser import Shown
from proctor.reports.pages.run_page import run_file
from proctor.reports.report import make_report
from report_rows import MATCH, Book, ok, row


def test_a_page_from_disk_shows_its_rows(page: Shown, tmp_path: Path) -> None:
    with contextlib.closing(Book(tmp_path / "proctor.db", metrics=(MATCH,))) as book:
        for key in ("a", "b", "c"):
            book.put(row(book.run, "left", key), ok("exact_match", 1.0))
        book.writer.close()
        written = tmp_path / "page.html"
        with written.open("wb") as file:
            file.writelines(run_file(make_report(book.store, book.run.id)))
        page.open(written)
    assert page.text("#question-list p") == "3 rows"
