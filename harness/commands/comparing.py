"""Comparing: two sides that a user names, opened and compared bot by bot."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ... import InputError
from ...reports.comparing.compared_sides import Compared, compare_bots
from ...reports.comparing.comparison import Asked
from ...reports.comparing.sides import Side, open_side


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
    with opened_sides(first, second, database) as (base, head):
        return compared(base, head, bots, asked)


@contextlib.contextmanager
def opened_sides(first: str, second: str, database: Path) -> Iterator[tuple[Side, Side]]:
    """Both sides, open until the block ends.

    Raises:
        InputError: a side is not there.
    """
    with open_side(first, database) as base, open_side(second, database) as head:
        yield base, head


def compared(base: Side, head: Side, bots: tuple[str, ...], asked: Asked) -> Compared:
    """The comparison of two open sides.

    Raises:
        InputError: nothing at all can be compared.
    """
    found = compare_bots(base, head, bots, asked)
    if not found.comparisons:
        raise InputError(" ".join(found.refused.values()))
    return found
