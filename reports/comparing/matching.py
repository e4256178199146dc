"""Matching: which bot of one side is compared with which of the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ... import InputError
from .score_table import RunTables
from .sides import Side, unknown_bot


@dataclass(frozen=True, slots=True)
class Matched:
    """The bots to compare, as (base, head), and those that have no partner on the other side."""

    pairs: tuple[tuple[str, str], ...]
    base_only: tuple[str, ...] = ()
    head_only: tuple[str, ...] = ()


def match_bots(base: Side, head: Side, bots: Sequence[str] = ()) -> Matched:
    """Match the bots of two sides.

    A bot that the user named on one side is compared with the one named on the other; where only one side names a bot,
    with that of the same name, or the only one there. Two whole runs are compared bot by bot, by name.

    Args:
        base: what it is compared with.
        head: what is looked at.
        bots: of two whole runs, only these.

    Raises:
        InputError: a bot that is not there, no bot that matches, or one bot of one run with itself.
    """
    names = _wanted(base, head, bots)
    pairs = [(one, other) for one, other in _pairs(base, head) if not names or {one, other} & names]
    if not pairs:
        ours, theirs = (", ".join(side.run.tables) or "none" for side in (base, head))
        raise InputError(
            f"No bot stands on both sides: run {base.run.run} has {ours}; run {head.run.run} has {theirs}. "
            f"Name two, as in {_example(base)} {_example(head)}."
        )
    _refuse_itself(base, head, pairs)
    if names or base.bot or head.bot:
        return Matched(tuple(pairs))
    taken = [{one for one, _ in pairs}, {other for _, other in pairs}]
    alone = [
        tuple(bot for bot in side.run.tables if bot not in done) for side, done in zip((base, head), taken, strict=True)
    ]
    return Matched(tuple(pairs), *alone)


def _wanted(base: Side, head: Side, bots: Sequence[str]) -> set[str]:
    known = [*dict.fromkeys([*base.run.tables, *head.run.tables])]
    for bot in bots:
        if bot not in known:
            raise InputError(unknown_bot(bot, "either side", known))
    return set(bots)


def _pairs(base: Side, head: Side) -> list[tuple[str, str]]:
    if base.bot is not None and head.bot is not None:
        return [(base.bot, head.bot)]
    if base.bot is None and head.bot is None:
        same = [(bot, bot) for bot in head.run.tables if bot in base.run.tables]
        if same or len(base.run.tables) != 1 or len(head.run.tables) != 1:
            return same
        return [(next(iter(base.run.tables)), next(iter(head.run.tables)))]
    if base.bot is None:
        return [(other, bot) for bot, other in _pairs(head, base)]
    tables = head.run.tables
    if base.bot in tables:
        return [(base.bot, base.bot)]
    return [(base.bot, next(iter(tables)))] if len(tables) == 1 else []


def _refuse_itself(base: Side, head: Side, pairs: Sequence[tuple[str, str]]) -> None:
    """A bot of a run is the same as itself, which nobody wants to be told by a table."""
    if base.run.run != head.run.run or any(one != other for one, other in pairs):
        return
    bots = [*dict.fromkeys([*([base.bot] if base.bot else []), *(base.states or base.run.tables)])]
    other = f" Compare two of its bots: proctor compare {bots[0]} {bots[1]}." if len(bots) > 1 else ""
    what = f"bot {base.bot}" if base.bot else "all bots"
    raise InputError(f"Both sides are the same, {what} of run {base.run.run}: there is nothing to compare.{other}")


def _example(side: Side) -> str:
    bots = list(side.run.tables)
    return f"{side.run.run}:{side.bot or (bots[0] if bots else 'BOT')}"


def check_bot(run: RunTables, bot: str) -> None:
    """Raise InputError for a bot that a run does not have, with the nearest."""
    if bot not in run.tables:
        raise InputError(unknown_bot(bot, f"run {run.run}", list(run.tables)))
