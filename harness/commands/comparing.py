"""Comparing: two sides that a user names, opened and compared bot by bot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ... import InputError
from ...reports.comparing.comparable import NothingComparable
from ...reports.comparing.comparison import Asked, Comparison, compare
from ...reports.comparing.matching import match_bots
from ...reports.comparing.sides import open_side
from ..showing.comparing import Compared


def two_sides(base: str | None, head: str | None, database: Path) -> tuple[str, str]:
    """Both sides as they were typed.

    Raises:
        InputError: one is missing; the sentence has an example, with bots of the latest run where there is one.
    """
    if base and head:
        return base, head
    one, other = _example(base, database)
    given = f"Only one side was given, {base}." if base else "Two sides are wanted."
    raise InputError(
        f"{given} Name both, such as: proctor compare {one} {other}. "
        "A side is a bot of the latest run, RUN:BOT, 'previous', 'latest', or a file."
    )


def _example(base: str | None, database: Path) -> tuple[str, str]:
    bots: list[str] = []
    if database.is_file():
        with contextlib.suppress(InputError), open_side("latest", database) as side:
            bots = list(side.run.tables)
    others = [bot for bot in bots if bot != base]
    if base in bots and others:
        return str(base), others[0]
    if len(bots) > 1 and not base:
        return bots[0], bots[1]
    return ("previous", "latest") if not base or base == "latest" else (base, "latest")


def compare_sides(first: str, second: str, database: Path, bots: tuple[str, ...], asked: Asked) -> Compared:
    """Compare what two texts name.

    Raises:
        InputError: a side is not there, or nothing at all can be compared.
    """
    with open_side(first, database) as base, open_side(second, database) as head:
        matched = match_bots(base, head, bots)
        found: list[Comparison] = []
        refused: list[str] = []
        for pair in matched.pairs:
            try:
                found.append(compare(base, head, pair, asked))
            except NothingComparable as why:
                refused.append(str(why))
        if not found:
            raise InputError(" ".join(refused))
        alone = [*_alone(base.run.run, matched.base_only), *_alone(head.run.run, matched.head_only)]
        return Compared(tuple(found), (*refused, *alone))


def _alone(run: str, bots: tuple[str, ...]) -> Iterator[str]:
    if bots:
        yield f"Only run {run} has {', '.join(bots)}."
