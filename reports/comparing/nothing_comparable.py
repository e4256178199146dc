"""NothingComparable: two bots of which nothing at all can be compared, and why."""

from __future__ import annotations

from collections.abc import Mapping

from ... import InputError
from .comparable import Pairing


class NothingComparable(InputError):  # noqa: N818 - an outcome, of which other bots of the run may be free
    """The message says which part can't be compared, and why."""


def nothing_comparable(pairing: Pairing, refused: Mapping[str, str]) -> NothingComparable:
    """The error for two bots without a common question, or without a metric or a time on both sides."""
    who = f"{pairing.base.bot} of run {pairing.base.run} and {pairing.head.bot} of run {pairing.head.run}"
    if not len(pairing.cases):
        dropped = pairing.dropped
        return NothingComparable(
            f"Nothing can be compared between {who}: no question stands on both sides with the same id, text and "
            f"yardstick ({len(dropped.base_only):,} on the first side alone, {len(dropped.head_only):,} on the second "
            f"alone, {len(dropped.reworded):,} worded and {len(dropped.remarked):,} marked in another way)."
        )
    together: dict[str, list[str]] = {}
    for name, why in refused.items():
        together.setdefault(why, []).append(name)
    reasons = " ".join(f"{', '.join(names)}: {why}" for why, names in together.items())
    questions = f"{len(pairing.cases):,} questions are the same on both sides"
    return NothingComparable(f"Nothing can be compared between {who}, though {questions}. {reasons}".strip())
