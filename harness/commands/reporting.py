"""Reporting: a run that is in the database, written to files."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from ...reports.archive import write_archive
from ...reports.markdown import markdown
from ...reports.report import Report, make_report
from ...reports.run_annotations import run_annotations
from ...reports.run_json import run_json
from ...reports.run_junit import run_junit
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.whole_files import whole_file, whole_folder
from ...reports.work_dir import fill_csv_folder
from ..showing.browser import Browse
from ..showing.step_summary import write_step
from .report_files import Wanted, write_page, write_text


def report_run(
    database: Path, name: str | None, wanted: Wanted, stdout: TextIO, environ: Mapping[str, str],
    browse: Browse | None = None,
) -> Iterator[str]:  # fmt: skip
    """Write the files, and give a sentence for each as soon as it is there; none for what went to stdout.

    Args:
        database: the database.
        name: of the run, or its beginning; None for the latest.
        wanted: what is to be written.
        stdout: where ``-`` is.
        environ: names GitHub's summary file.
        browse: what opens a page; left out, the browser of the machine.

    Raises:
        InputError: there is no such run or database, or a place can't be written; what could not be written whole is
            not there at all.
    """
    wanted.check({database.resolve(): "--db"})
    with contextlib.closing(Store.open(database, create=False)) as store:
        run_id, run = find_run(store, name)
        wanted = wanted.with_page([run], database)
        store.query("BEGIN")  # one moment for all files, even while a run goes on
        report = make_report(store, run_id)
        yield from _page(report, wanted, stdout, browse)
        yield from _written(report, wanted, stdout)
        if wanted.github:
            stream = sys.stderr if wanted.takes_stdout else stdout
            if told := write_step(markdown(report), run_annotations(report), stream, environ):
                yield told


def _page(report: Report, wanted: Wanted, stdout: TextIO, browse: Browse | None) -> Iterator[str]:
    if wanted.html is None:
        return
    from ...reports.pages.rows.carried import EVERYTHING
    from ...reports.pages.run_page import run_file

    yield from write_page(wanted, run_file(report, EVERYTHING if wanted.whole else None), stdout, browse)


def _written(report: Report, wanted: Wanted, stdout: TextIO) -> Iterator[str]:
    if wanted.csv:
        with whole_folder(wanted.csv) as folder:
            fill_csv_folder(report, folder)
        yield f"Wrote {wanted.csv}: rows.csv and other tables for a spreadsheet."
    yield from write_text(wanted.json, run_json(report), "everything, for programs", stdout)
    if wanted.markdown:
        page = [markdown(report).encode("utf-8", "replace")]
        yield from write_text(wanted.markdown, page, "a page for a pull request", stdout)
    if wanted.junit:
        cases = [run_junit(report).encode("utf-8", "replace")]
        yield from write_text(wanted.junit, cases, "test cases for a build server", stdout)
    if wanted.zip:
        with whole_file(wanted.zip) as file:
            write_archive(report, file, wanted.zip.absolute().parent)
        yield f"Wrote {wanted.zip}: the outputs of each evaluator, the same bytes for equal runs."
