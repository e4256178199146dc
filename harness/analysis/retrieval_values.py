"""Retrieval values: what the metrics of the package say of the passages that a search found for a question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...metrics import Place, builtin_catalog
from ...metrics.retrieval import evidence_ranks
from ...reports.analysis.messages import RETRIEVAL_METRICS

if TYPE_CHECKING:
    from ...bots import Context
    from ...metrics import Plan
    from .corpus import QuestionGold


PLANNED: Final = ("hit_rate", "evidence_recall", "mrr", "ndcg", "span_recall", "span_precision")
CONTEXT_PRECISION: Final = "context_precision"
PROMPT_TOKENS: Final = "prompt_tokens"
METRICS: Final = tuple(RETRIEVAL_METRICS)  # in the order of the columns
BYTES_A_TOKEN: Final = 4

Places = Sequence[Place]
Range = tuple[float | None, float | None]


class Yardstick:
    """Measures lists of passages by the metrics of the package; made once for a grid."""

    @cached_property
    def plan(self) -> Plan:
        """Metrics of retrieval; one that retrieves nothing has found nothing, which is 0 and not a missing value."""
        return builtin_catalog().plan(PLANNED, empty_contexts="zero")

    def ranges(self) -> dict[str, Range]:
        """Least and greatest value of each metric."""
        planned: dict[str, Range] = {metric.id: (metric.low, metric.high) for metric in self.plan.metrics}
        return {**planned, CONTEXT_PRECISION: (0.0, 1.0), PROMPT_TOKENS: (0.0, None)}

    def values(self, found: Sequence[Context], gold: Sequence[Places]) -> dict[str, float | None]:
        """Every metric of one question; None where it can't be told, as with passages that don't say where they are.

        Args:
            found: with their places in the documents, best first; empty when nothing was retrieved.
            gold: groups of places: all are needed, any member of a group will do.
        """
        places = [Place(one.document, one.start, one.end) for one in found]
        scores = self.plan.score_now({"retrieved": places, "gold": gold})
        values = {score.metric: score.value for score in scores}
        values[CONTEXT_PRECISION] = context_precision(places, gold)
        values[PROMPT_TOKENS] = prompt_tokens([one.text for one in found])
        return values


def context_precision(retrieved: Places, gold: Sequence[Places]) -> float | None:
    """How far the passages that hold gold evidence stand before those that hold none.

    Mean, over the ranks at which such a passage stands, of the share of such passages up to that rank: average
    precision over what was retrieved. A passage counts when it hits any group of the evidence, as in ``hit_rate``,
    also one that an earlier passage hit. 0 where none does or nothing was retrieved; None where a passage does not
    tell its document.

    >>> context_precision([Place("a"), Place("b"), Place("c")], [[Place("a")], [Place("c")]])
    0.8333333333333333
    """
    if not all(place.document for place in retrieved):
        return None
    known = {member.document for group in gold for member in group}
    useful = 0
    shares = []
    for rank, place in enumerate(retrieved, 1):
        if place.document in known and any(rank_of is not None for rank_of in evidence_ranks([place], gold).ranks):
            useful += 1
            shares.append(useful / rank)
    return math.fsum(shares) / len(shares) if shares else 0.0


def prompt_tokens(texts: Sequence[str]) -> float:
    """About how many tokens texts take in a prompt: a quarter of their bytes in UTF-8.

    >>> prompt_tokens(["four", "bytes..."])
    3.0
    """
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts) / BYTES_A_TOKEN


def gold_places(gold: QuestionGold) -> list[list[Place]]:
    """The located groups of a question as metrics take them."""
    return [[Place(one.document, one.start, one.end) for one in group] for group in gold.groups]
