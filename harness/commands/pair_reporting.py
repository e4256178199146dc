"""Pair reporting: two runs, or two bots, written to files side by side."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from ... import InputError
from ...reports.comparing.compared_sides import Compared
from ...reports.comparing.comparison import Asked
from ...reports.comparing.comparison_annotations import comparison_annotations
from ...reports.comparing.sides import Side
from ..showing.browser import Browse
from ..showing.comparing import comparisons_object, comparisons_page, files_of_sides
from ..showing.step_summary import write_step
from ..showing.streams import json_bytes
from .comparing import compared, opened_sides
from .report_files import Wanted, write_page, write_text


def report_pair(
    database: Path, sides: tuple[str, str], wanted: Wanted, stdout: TextIO, environ: Mapping[str, str],
    browse: Browse | None = None,
) -> Iterator[str]:  # fmt: skip
    """Write the files of head against base; ``sides`` as ``proctor compare`` takes them, the rest as ``report_run``.

    Raises:
        InputError: a side is not there, nothing can be compared, an output is of one run only, or a place can't be
            written.
    """
    _refuse(wanted, sides, database)
    wanted.check(files_of_sides(*sides) | {database.resolve(): "--db"})
    with opened_sides(*sides, database) as (base, head):
        wanted = wanted.with_page(_names(base, head), database)
        for side in (base, head):
            if side.source is not None:
                side.source[0].query("BEGIN")  # one moment for all files, even while a run goes on
        found = _compared(base, head, wanted)
        yield from _page(base, head, wanted, stdout, browse)
    if found is None:
        return
    if wanted.json:
        made = json_bytes(comparisons_object(found, *sides))
        yield from write_text(wanted.json, [made], "the comparison, for programs", stdout)
    page = comparisons_page(found)
    if wanted.markdown:
        yield from write_text(wanted.markdown, [page.encode("utf-8", "replace")], "a page for a pull request", stdout)
    if wanted.github:
        stream = sys.stderr if wanted.takes_stdout else stdout
        if told := write_step(page, comparison_annotations(found), stream, environ):
            yield told


def _refuse(wanted: Wanted, sides: tuple[str, str], database: Path) -> None:
    """Say where to have what there is not of two runs."""
    base, head = map(shlex.quote, sides)
    where = "" if database == Path("proctor.db") else f" --db {shlex.quote(str(database))}"
    for option, path in (("--csv", wanted.csv), ("--zip", wanted.zip)):
        if path is not None:
            raise InputError(
                f"{option} is of one run: proctor report RUN{where} {option} {shlex.quote(str(path))}. Of two there are"
                " --html, --markdown, --json and --github."
            )
    if wanted.junit is not None:
        raise InputError(
            "--junit is of one run: whether a build may go on is for 'proctor gate', such as: proctor gate"
            f" {head} --baseline {base}{where} --junit {shlex.quote(str(wanted.junit))}"
        )


def _names(base: Side, head: Side) -> list[str]:
    """What a page of both is called: the run once, where both are of one."""
    bots = [side.bot for side in (base, head) if side.bot]
    if base.run.run == head.run.run:
        return [head.run.run, *bots]
    return [base.run.run, head.run.run, *dict.fromkeys(bots)]


def _compared(base: Side, head: Side, wanted: Wanted) -> Compared | None:
    """The comparison; None where only the page is wanted, which makes its own."""
    if not (wanted.json or wanted.markdown or wanted.github):
        return None
    return compared(base, head, (), Asked(all_flips=wanted.json is not None))


def _page(base: Side, head: Side, wanted: Wanted, stdout: TextIO, browse: Browse | None) -> Iterator[str]:
    if wanted.html is None:
        return
    from ...reports.pages.pairs.pair_page import pair_file
    from ...reports.pages.rows.carried import EVERYTHING

    page = pair_file(base, head, limits=EVERYTHING if wanted.whole else None)
    yield from write_page(wanted, page, stdout, browse)
