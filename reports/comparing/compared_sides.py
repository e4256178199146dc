"""Compared sides: two open sides compared bot by bot, with sentences on what could not be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .comparable import NothingComparable
from .comparison import Asked, Comparison, compare
from .matching import match_bots
from .sides import Side

Pair = tuple[str, str]  # the bot of base, the bot of head


@dataclass(frozen=True, slots=True)
class Compared:
    """What was compared, and sentences on what was not.

    Attributes:
        comparisons: of every pair of bots of which anything can be compared.
        left_out: on the pairs that can't be, and on bots without a partner.
        refused: by pair that can't be compared, why.
    """

    comparisons: tuple[Comparison, ...]
    left_out: tuple[str, ...] = ()
    refused: Mapping[Pair, str] = field(default_factory=dict)


def compare_bots(base: Side, head: Side, bots: Sequence[str], asked: Asked) -> Compared:
    """Compare the bots that match.

    Args:
        base: what it is compared with, still open.
        head: what is looked at, still open.
        bots: of two whole runs, only these; none for all.
        asked: how.

    Raises:
        InputError: no bot matches, there is no such metric, or no such way to cluster.
    """
    matched = match_bots(base, head, bots)
    found: list[Comparison] = []
    refused: dict[Pair, str] = {}
    for pair in matched.pairs:
        try:
            found.append(compare(base, head, pair, asked))
        except NothingComparable as why:
            refused[pair] = str(why)
    alone = [*_alone(base.run.run, matched.base_only), *_alone(head.run.run, matched.head_only)]
    return Compared(tuple(found), (*refused.values(), *alone), refused)


def _alone(run: str, bots: Sequence[str]) -> Iterator[str]:
    if bots:
        yield f"Only run {run} has {', '.join(bots)}."
