"""Paired latency: how long the two sides of a pairing take over the same questions."""

from __future__ import annotations

from dataclasses import replace

from ..statistics.latency_difference import LatencyDifference, latency_difference
from .comparable import Pairing


def paired_latency(pairing: Pairing, seed: int = 0) -> LatencyDifference | None:
    """The times of both sides; None when no question was answered, or timed out, on both.

    An answer that timed out would have taken longer than it was given (it is censored). One that failed for another
    reason, be it at once, has no time: it is counted, and left out.
    """
    base, head = pairing.base, pairing.head
    old, new = pairing.base_places, pairing.head_places
    found = latency_difference(
        base.answer_ms[old], base.answered[old], head.answer_ms[new], head.answered[new], pairing.clusters, seed
    )
    if found is None:
        return None
    return replace(
        found,
        base=replace(found.base, failed=int(base.failed[old].sum())),
        head=replace(found.head, failed=int(head.failed[new].sum())),
    )
