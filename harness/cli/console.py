"""Console: stdout for our own words alone, tables wide enough that no figure is cut, pages in a browser."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final, TextIO

import orjson
from rich.console import Console

from ...reports import WIDTH, Block, csv, styled


@contextlib.contextmanager
def own_stdout() -> Iterator[TextIO]:
    """Stdout for us alone: what bots, metrics and programs that they start print meanwhile goes to stderr."""
    given = sys.stdout
    given.flush()
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        try:
            number, spare = given.fileno(), os.dup(given.fileno())
        except (OSError, ValueError):  # no file behind it: then no other program can write to it either
            yield given
            return
        os.dup2(sys.stderr.fileno(), number)
        stack.callback(_put_back, spare, number)
        with open(spare, "w", encoding=given.encoding, errors="replace", closefd=False) as ours:
            yield ours


def _put_back(spare: int, number: int) -> None:
    os.dup2(spare, number)
    os.close(spare)


def write_json(made: object, stdout: TextIO) -> None:
    """One object on stdout, in UTF-8 whatever the locale."""
    write_bytes(json_bytes(made), stdout)


def write_bytes(made: bytes, stdout: TextIO) -> None:
    """What is in UTF-8 already, whatever the locale."""
    stdout.flush()
    stdout.buffer.write(made)
    stdout.buffer.flush()


def json_bytes(made: object) -> bytes:
    """One object as indented JSON with a line end."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(made, option=options, default=str)


def forgive() -> None:
    """Let a character that the locale can't write become a question mark instead of an error.

    Where the parent process closed a stream, what is written to it goes nowhere: the next file that is opened would
    take its place, and programs that bots start would write into that.
    """
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for as long as we live
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


NARROWEST: Final = 40


class TableConsole(Console):
    """A console as wide as the terminal, from 40 columns on; of 80 where it is no terminal.

    A narrower terminal breaks the lines itself: a label and one column of figures take that much.
    Names of others are printed as they are: nothing in them is markup or stands for a picture.
    """

    def __init__(self, stdout: TextIO) -> None:
        super().__init__(file=stdout, highlight=False, markup=False, emoji=False)
        self.width = max(self.width, NARROWEST) if self.is_terminal else WIDTH

    def on_broken_pipe(self) -> None:
        """Leave it to the caller what a closed pipe means; rich would end the program with exit code 1."""
        raise  # it is being handled where this is called


class Form(StrEnum):
    """How a result is printed."""

    TEXT = "text"
    JSON = "--json"
    CSV = "--csv"


def show_as(
    form: Form, record: Callable[[], object], blocks: Callable[[], Iterable[Block]], stdout: TextIO | None = None
) -> None:
    """Print a result: its record as JSON, or its tables as CSV, or all of it for a reader."""
    stdout = stdout or sys.stdout
    match form:
        case Form.JSON:
            write_json(record(), stdout)
        case Form.CSV:
            write_bytes(csv(blocks()), stdout)
        case Form.TEXT:
            show(blocks(), stdout)


def show(blocks: Iterable[Block], stdout: TextIO) -> None:
    """Print the tables and sentences of a result as wide as the terminal is."""
    console = TableConsole(stdout)
    console.print(styled(blocks, console.width), soft_wrap=True)


Browse = Callable[[str], bool]


def shown_in_browser(address: str, browse: Browse | None = None) -> bool:
    """Open an address in the browser; False where there is none, as on most servers.

    Args:
        address: of a file or of a server.
        browse: what opens it; left out, the browser that the machine, or ``BROWSER`` in the environment, names.
    """
    import webbrowser

    try:
        return bool((browse or webbrowser.open)(address))
    except (webbrowser.Error, OSError):  # it is named, but can't be started
        return False
