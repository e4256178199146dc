"""Reporting: a run that is in the database, written to files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from ... import InputError
from ...reports.archive import write_archive
from ...reports.markdown import markdown
from ...reports.report import Report, make_report
from ...reports.run_json import run_json
from ...reports.store import Store
from ...reports.summary import find_run
from ...reports.whole_files import check_file, check_folder, whole_file, whole_folder
from ...reports.work_dir import fill_csv_folder

STDOUT = Path("-")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a run is to be written; None for what is not wanted, ``-`` for stdout."""

    csv: Path | None = None
    json: Path | None = None
    markdown: Path | None = None
    zip: Path | None = None

    @property
    def files(self) -> dict[str, Path]:
        """The files by option."""
        named = {"--json": self.json, "--markdown": self.markdown, "--zip": self.zip}
        return {option: path for option, path in named.items() if path is not None}


def report_run(database: Path, name: str | None, wanted: Wanted, stdout: TextIO) -> list[str]:
    """Write the files and return a sentence for each; none for what went to stdout.

    Raises:
        InputError: nothing is wanted, there is no such run or database, or a place can't be written; what could not
            be written whole is not there at all.
    """
    _check(wanted, database)
    with contextlib.closing(Store.open(database, create=False)) as store:
        run_id, _ = find_run(store, name)
        store.query("BEGIN")  # one moment for all files, even while a run goes on
        return list(_write(make_report(store, run_id), wanted, stdout))


def _write(report: Report, wanted: Wanted, stdout: TextIO) -> Iterator[str]:
    if wanted.csv:
        with whole_folder(wanted.csv) as folder:
            fill_csv_folder(report, folder)
        yield f"Wrote {wanted.csv}: rows.csv and other tables for a spreadsheet."
    if wanted.json:
        with _opened(wanted.json, stdout) as file:
            file.writelines(run_json(report))
        if wanted.json != STDOUT:
            yield f"Wrote {wanted.json}: everything, for programs."
    if wanted.markdown:
        with _opened(wanted.markdown, stdout) as file:
            file.write(markdown(report).encode())
        if wanted.markdown != STDOUT:
            yield f"Wrote {wanted.markdown}: a page for a pull request."
    if wanted.zip:
        with whole_file(wanted.zip) as file:
            write_archive(report, file, wanted.zip.absolute().parent)
        yield f"Wrote {wanted.zip}: the outputs of each evaluator, the same bytes for equal runs."


@contextlib.contextmanager
def _opened(path: Path, stdout: TextIO) -> Iterator[BinaryIO]:
    if path != STDOUT:
        with whole_file(path) as file:
            yield file
        return
    stdout.flush()
    yield stdout.buffer
    stdout.buffer.flush()


def _check(wanted: Wanted, database: Path) -> None:
    """Refuse what can't be written before a long run is read."""
    if not wanted.files and not wanted.csv:
        raise InputError(
            "Nothing to write was named. Give --csv DIR (tables), --json FILE (everything), --markdown FILE"
            " (a page for a pull request) or --zip FILE (an archive of all evaluators), or several of them."
        )
    taken: dict[Path, str] = {database.resolve(): "--db"}
    for option, path in wanted.files.items():
        if path == STDOUT:
            if option == "--zip":
                raise InputError("--zip: an archive needs a file; '-' is for --json and --markdown.")
            if wanted.json == wanted.markdown:
                raise InputError("--json and --markdown can't both be written to stdout.")
            continue
        check_file(path, option, taken)
        if path.is_file() or not path.exists():
            taken[path.resolve()] = option
    if wanted.csv:
        check_folder(wanted.csv, "--csv")
