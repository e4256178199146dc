"""Paired runs: two sides bot by bot with their comparisons and columns, as the page of two runs shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...comparing.compared_sides import Pair, compare_bots
from ...comparing.comparison import Asked, Comparison
from ...comparing.sides import Side
from ...report import Report, make_report
from ..rows.columns import Column


@dataclass(frozen=True, slots=True)
class BotPair:
    """A bot of base and a bot of head.

    Attributes:
        bots: their names.
        columns: base first; only those of a side that is a database.
        comparison: None where nothing of them can be compared.
        refused: why not; blank where there is a comparison.
    """

    bots: Pair
    columns: tuple[Column, ...]
    comparison: Comparison | None
    refused: str = ""

    @property
    def title(self) -> str:
        """What the pair is called."""
        base, head = self.bots
        return head if base == head else f"{base} against {head}"


@dataclass(frozen=True, slots=True)
class PairedRuns:
    """Both sides with what was compared.

    Attributes:
        base, head: the sides, still open.
        reports: of both; None for a baseline file, and one and the same where both sides are one run.
        pairs: the one with the largest change first.
        left_out: sentences on bots and pairs that are not compared.
    """

    base: Side
    head: Side
    reports: tuple[Report | None, Report | None]
    pairs: tuple[BotPair, ...]
    left_out: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of all pairs, one pair after the other; a bot that stands in two pairs does so twice."""
        return tuple(column for pair in self.pairs for column in pair.columns)

    @property
    def has_both(self) -> bool:
        """Whether the answers of both sides are at hand."""
        return None not in self.reports


def paired_runs(base: Side, head: Side, bots: Sequence[str] = (), asked: Asked | None = None) -> PairedRuns:
    """Compare two sides, and give the columns that show the answers of both.

    Args:
        base: what it is compared with, open as long as the page is being made.
        head: what is looked at, likewise.
        bots: of two whole runs, only these; none for all.
        asked: how they are compared; left out, as ``proctor compare`` does by itself.

    Raises:
        InputError: no bot of one side matches one of the other, or both sides are the same.
    """
    found = compare_bots(base, head, bots, asked or Asked())
    reports = _reports(base, head)
    pairs: list[tuple[Pair, Comparison | None]] = [
        *(((each.base.bot, each.head.bot), each) for each in sorted(found.comparisons, key=_change, reverse=True)),
        *((pair, None) for pair in found.refused),
    ]
    made = tuple(
        BotPair(pair, _columns(pair, reports, len(pairs) == 1), comparison, found.refused.get(pair, ""))
        for pair, comparison in pairs
    )
    alone = tuple(sentence for sentence in found.left_out if sentence not in found.refused.values())
    return PairedRuns(base, head, reports, made, alone)


def _reports(base: Side, head: Side) -> tuple[Report | None, Report | None]:
    made = None if base.source is None else make_report(*base.source)
    if base.source and head.source and _is_same(base, head):
        return made, made
    return made, None if head.source is None else make_report(*head.source)


def _is_same(base: Side, head: Side) -> bool:
    """Whether both are of one run of one database, which may have been opened twice."""
    if base.source is None or head.source is None:
        return False
    (one, one_id), (other, other_id) = base.source, head.source
    return one_id == other_id and one.path.resolve() == other.path.resolve()


def _columns(pair: Pair, reports: tuple[Report | None, Report | None], is_only: bool) -> tuple[Column, ...]:
    """Called base and head; with the bot where there are several pairs, and by the bots where these differ."""
    first, second = reports
    names = ["base", "head"] if is_only else [f"base {pair[0]}", f"head {pair[1]}"]
    if pair[0] != pair[1]:
        names = list(pair)
    places = (0, 0 if first is None or first is second else 1)
    return tuple(
        Column(name, place, report.run, bot)
        for name, place, report, bot in zip(names, places, reports, pair, strict=True)
        if report is not None
    )


def _change(comparison: Comparison) -> tuple[int, float]:
    """How much there is to tell: verdicts, then the largest effect."""
    directed = [each for each in comparison.metrics if each.column.better != "neither"]
    firm = sum(each.verdict in ("better", "worse") for each in directed)
    return firm, max((abs(each.difference.effect or 0.0) for each in directed), default=0.0)
