"""Gate sides: what a run is held against, and which of its bots against which."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ... import InputError
from ...reports.comparing.score_table import RunTables, ScoreTable
from ...reports.comparing.sides import MOST_NAMED, WORDS, Side, find_file, open_side, unknown_bot
from ...reports.run import LATEST_FIRST
from ...reports.store import Store

PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Matched:
    """Bots of the run with what each is held against, and sentences about the others."""

    pairs: tuple[tuple[ScoreTable, ScoreTable], ...]
    notes: tuple[str, ...] = ()


@contextlib.contextmanager
def open_base(text: str, head: RunTables, database: Path) -> Iterator[Side]:
    """What a run is held against; its database stays open until the end of the ``with``.

    Args:
        text: a run, its beginning, ``previous`` (the one before ``head``), a file, or a bot of ``head`` itself.
        head: the run, with all its bots.
        database: where runs are looked up.

    Raises:
        InputError: there is no such thing, with the nearest that there is.
    """
    if text in head.tables and find_file(text)[0] is None:
        yield Side(head, text)
        return
    with open_side(settled(text, database, head.suite, head.run), database) as side:
        yield side


def settled(text: str, database: Path, suite: str, run: str | None) -> str:
    """The text with ``previous`` or ``latest`` replaced by the name of the run that it means.

    A gate that is repeated goes on with its own run. ``latest`` is then the newest of the others, or it would pass.

    Args:
        text: as the user typed it.
        database: where runs are looked up.
        suite: name of the suite, of which the previous run is wanted.
        run: the run that is gated; None for one that is still to be begun.

    Raises:
        InputError: there is no such run.
    """
    word, _, bot = text.partition(":")
    if word not in WORDS or find_file(text)[0] is not None:
        return text
    with contextlib.closing(Store.open(database, create=False)) as store:
        names = [str(name) for (name,) in store.query(f"SELECT name FROM runs ORDER BY {LATEST_FIRST}") if name != run]
        found = names
        if word == PREVIOUS:
            lines = store.query(
                "SELECT name FROM runs WHERE suite = ? AND id < IFNULL((SELECT id FROM runs WHERE name = ?), id + 1)"
                " ORDER BY id DESC",
                [suite, run],
            )
            found = [str(name) for (name,) in lines]
    if not found:
        there = f" Name one of the others: {', '.join(names[:MOST_NAMED])}." if names else ""
        of_suite, relation = (f" of the suite {suite!r}", "before") if word == PREVIOUS else ("", "besides")
        raise InputError(f"{database} holds no run{of_suite} {f'{relation} {run}' if run else 'yet'}.{there}")
    return f"{found[0]}:{bot}" if bot else found[0]


def refuse_itself(base: Side, run: str | None, text: str = "") -> None:
    """A gate that holds a run against itself would pass whatever had changed.

    Args:
        base: what is held against.
        run: the run that is gated; None for one that is still to be begun.
        text: what the user typed, where that run is held anew: who names a finished one is only told later that
            nothing has changed since, and another bot of it may be the baseline.

    Raises:
        InputError: the two are one run, in whatever copy of a database.
    """
    if base.is_baseline or base.run.run != run or (base.bot is not None and not text):
        return
    named = find_file(text)[1].partition(":")[0] if text else ""
    if named and base.run.run.startswith(named) and (base.bot is not None or base.run.status == "finished"):
        return
    raise InputError(
        f"The baseline is the run itself, {run}: that would always pass. Name an earlier run, 'previous', "
        "a baseline file, or another bot of the run."
    )


def matched(head: RunTables, base: Side, wanted: Sequence[str]) -> Matched:
    """Which bots are held against which.

    A base of one bot stands against the bot of its name in another run, else against every other bot.

    Args:
        head: the run.
        base: what it is held against.
        wanted: bots that have to be gated; blank for all that both sides have.

    Raises:
        InputError: a wanted bot is on one side only, or no bot is on both.
    """
    for name in wanted:
        if name not in head.tables:
            raise InputError(unknown_bot(name, f"run {head.run}", list(head.tables)))
    if base.bot is not None:
        return _against_one(head, base.run, base.bot, wanted)
    missing = [name for name in wanted if name not in base.run.tables]
    both = list(wanted) or [name for name in head.tables if name in base.run.tables]
    if missing or not both:
        raise InputError(_no_partner(head, base.run, missing))
    only_head = [name for name in head.tables if name not in base.run.tables]
    only_base = [name for name in base.run.tables if name not in head.tables]
    notes = [] if wanted else [*_named("new, and held against nothing", only_head)]
    notes += [] if wanted else [*_named(f"in the baseline and not in run {head.run}", only_base)]
    pairs = tuple((base.run.tables[name], head.tables[name]) for name in both)
    return Matched(pairs, tuple(notes))


def _against_one(head: RunTables, base: RunTables, bot: str, wanted: Sequence[str]) -> Matched:
    same_run = (head.origin, head.run) == (base.origin, base.run)
    names = list(wanted)
    if not names:
        names = [bot] if bot in head.tables and not same_run else [name for name in head.tables if name != bot]
    if same_run and (bot in names or not names):
        raise InputError(f"{bot} can't be held against itself. Run {head.run} has the bots {', '.join(head.tables)}.")
    return Matched(tuple((base.tables[bot], head.tables[name]) for name in names))


def _no_partner(head: RunTables, base: RunTables, missing: Sequence[str]) -> str:
    theirs = ", ".join(base.tables) or "none"
    if missing:
        near = difflib.get_close_matches(missing[0], base.tables, 1, 0.5)
        hint = f" Did you mean --baseline {base.origin}:{near[0]}?" if near else ""
        return f"The baseline {base.origin} (run {base.run}) has no bot {', '.join(missing)}; it has {theirs}.{hint}"
    return (
        f"No bot of run {head.run} ({', '.join(head.tables)}) is in the baseline {base.origin} ({theirs}). "
        "Name the bot to compare with, as in --baseline FILE:BOT or --baseline RUN:BOT."
    )


def _named(what: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} {what}"
