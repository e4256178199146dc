"""Report files: where reports are to be written, whether they can be, and the sentences that say what was."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from ... import InputError
from ...reports.file_names import file_names
from ...reports.printable import printable
from ...reports.whole_files import check_file, check_folder, whole_file
from ..showing.browser import Browse, shown_in_browser

STDOUT: Final = Path("-")
ARCHIVE: Final = "--zip"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a report is to be written: None for what is not wanted, ``-`` for stdout.

    Attributes:
        html: the page.
        markdown: a page for a pull request.
        json: everything, for programs.
        junit: for a build server.
        csv: a folder for tables.
        zip: an archive of the outputs of each evaluator.
        github: write GitHub's step summary, and annotations.
        open: show the page in the browser.
        whole: leave nothing out of the page, however large it becomes.
    """

    html: Path | None = None
    markdown: Path | None = None
    json: Path | None = None
    junit: Path | None = None
    csv: Path | None = None
    zip: Path | None = None
    github: bool = False
    open: bool = False
    whole: bool = False

    @property
    def files(self) -> dict[str, Path]:
        """The files by option."""
        named = {
            "--html": self.html, "--json": self.json, "--markdown": self.markdown, "--junit": self.junit,
            ARCHIVE: self.zip,
        }  # fmt: skip
        return {option: path for option, path in named.items() if path is not None}

    @property
    def takes_stdout(self) -> bool:
        """Whether something is written there, so that nothing else may be."""
        return STDOUT in self.files.values()

    @property
    def is_page_unnamed(self) -> bool:
        """Whether the page is wanted and takes its name from the run: where nothing else is wanted, or to be shown."""
        return self.html is None and (self.open or not (self.files or self.csv or self.github))

    def with_page(self, names: Iterable[str], database: Path) -> Wanted:
        """The page in the current folder, named by these names, where it has no name yet.

        Raises:
            InputError: it can't be written there.
        """
        if not self.is_page_unnamed:
            return self
        (name,) = file_names(["-".join(names)]).values()
        made = replace(self, html=Path(f"{name}.html"))
        made.check({database.resolve(): "--db"})
        return made

    def check(self, in_use: Mapping[Path, str]) -> None:
        """See that everything can be written, before a long run is read.

        Args:
            in_use: resolved paths of what is read, each with what names it.

        Raises:
            InputError: a place can't be written, or two outputs want the same one.
        """
        for option, place, kind in ((ARCHIVE, self.zip, "file"), ("--csv", self.csv, "folder")):
            if place == STDOUT:
                raise InputError(f"{option} needs a {kind}: '-' is for --html, --json, --markdown and --junit.")
        printed = [option for option, path in self.files.items() if path == STDOUT]
        if len(printed) > 1:
            raise InputError(f"{' and '.join(printed)} can't {_both(printed)} be written to stdout.")
        if self.open and self.html == STDOUT:
            raise InputError("--open shows a file, and '--html -' writes none; leave one of them out.")
        taken = dict(in_use)
        for option, path in self.files.items():
            if path != STDOUT:
                check_file(path, option, taken)
                if path.is_file() or not path.exists():
                    taken[path.resolve()] = option
        if self.csv:
            check_folder(self.csv, "--csv")


def _both(options: Collection[str]) -> str:
    return "both" if len(options) == 2 else "all"


@contextlib.contextmanager
def opened(path: Path, stdout: TextIO) -> Iterator[BinaryIO]:
    """The file that is there whole when the block ends, or stdout for ``-``."""
    if path != STDOUT:
        with whole_file(path) as file:
            yield file
        return
    stdout.flush()
    yield stdout.buffer
    stdout.buffer.flush()


def write_text(path: Path | None, text: Iterable[bytes], what: str, stdout: TextIO) -> Iterator[str]:
    """Write pieces where they are wanted; the sentence that says so, none for stdout or for what is not wanted."""
    if path is None:
        return
    with opened(path, stdout) as file:
        file.writelines(text)
    if path != STDOUT:
        yield f"Wrote {printable(str(path))}: {what}."


def write_page(wanted: Wanted, page: Iterable[bytes], stdout: TextIO, browse: Browse | None = None) -> Iterator[str]:
    """Write the page where it is wanted, show it where that is wanted, and say what was written and how to open it."""
    path = wanted.html
    if path is None:
        return
    with opened(path, stdout) as file:
        file.writelines(page)
    if path == STDOUT:
        return
    wrote = f"Wrote {printable(str(path))} ({_size(path)})"
    if not wanted.open:
        yield f"{wrote}: open it in any browser, here or elsewhere; --open does so at once."
    elif shown_in_browser(path.resolve().as_uri(), browse):
        yield f"{wrote} and opened it in the browser."
    else:
        yield f"{wrote}; there is no browser here: copy the file to a machine that has one, it needs no network."


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"
