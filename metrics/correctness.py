"""Metrics on the answer's claims against the expected answer's: correctness, precision, recall, F1 of claims."""

import math
from typing import Annotated, Final

from .artefacts import TextVectors, vector_evidence
from .declaring import Wanted, metric
from .judged_items import JudgedItems
from .score import Measured, NotApplicable, Reason

_CHECKER: Final = "RAGChecker"


@metric(threshold=0.75, low=-0.25, source="H2O evaluators page, Answer correctness; Ejento metrics guide 1.1; Ragas")
def answer_correctness(
    claims_right: JudgedItems,
    claims_covered: JudgedItems,
    answer_vector: TextVectors,
    expected_vector: TextVectors,
    *,
    weights: Annotated[
        tuple[float, ...],
        Wanted(
            "a pair of numbers, none below 0 and not both 0,",
            lambda both: len(both) == 2 and min(both) >= 0 < sum(both),
        ),
    ] = (0.75, 0.25),
) -> Measured:
    """F1 of the answer's claims against the expected answer's, and the likeness of both texts, three to one.

    Claims of the answer that the expected answer supports are TP, its other claims FP, claims of the expected answer
    that the answer doesn't cover FN; F1 is TP / (TP + (FP + FN) / 2), 0 without TP. The cosine of the embeddings of
    both texts is added with the second of the ``weights``, which are divided by their sum. Where neither text makes a
    claim there is no value.

    A true claim that the expected answer doesn't mention counts as wrong: give full expected answers, or all accepted
    ones. The cosine gives a wrong answer in the expected words up to a quarter of a point, so compare bots by it, and
    read ``factual_f1`` in the details for what was wrong. Values of two embedding models don't compare.
    """
    if not claims_right.items and not claims_covered.items:
        raise NotApplicable(Reason.NO_CLAIMS)
    factual = factual_f1(claims_right, claims_covered)
    similarity = float(answer_vector.vectors[0] @ expected_vector.vectors[0])
    value = (weights[0] * factual + weights[1] * similarity) / sum(weights)
    details = _confusion(claims_right, claims_covered)
    details |= {"factual_f1": factual, "similarity": similarity, "judge": claims_right.judge}
    return Measured(value, details | vector_evidence(answer_vector, expected_vector))


def factual_f1(right: JudgedItems, covered: JudgedItems) -> float:
    """TP / (TP + (FP + FN) / 2), where TP and FP are claims of the answer and FN of the expected one; 0 without TP."""
    hits = sum(right.held)
    misses = len(right.held) - hits + len(covered.held) - sum(covered.held)
    return hits / (hits + misses / 2) if hits else 0.0


def _confusion(right: JudgedItems, covered: JudgedItems) -> dict[str, object]:
    claims = right.evidence("claim", "supported")
    expected = covered.evidence("claim", "covered")
    return {
        "TP": [claim for claim in claims if claim["supported"]],
        "FP": [claim for claim in claims if not claim["supported"]],
        "FN": [claim for claim in expected if not claim["covered"]],
    }


@metric(source=f"{_CHECKER}, precision", blank_answer=Reason.NO_CLAIMS)
def claim_precision(claims_right: JudgedItems) -> Measured:
    """Share of the answer's claims that the expected answer supports.

    A true claim that the expected answer doesn't mention counts as wrong.
    """
    return Measured(_precision(claims_right), _details(claims_right, "claims", "supported"))


@metric(source=f"{_CHECKER}, recall")
def claim_recall_answer(claims_covered: JudgedItems) -> Measured:
    """Share of the expected answer's claims that the answer covers.

    Saying everything gives 1: read it beside ``claim_precision``.
    """
    return Measured(_recall(claims_covered), _details(claims_covered, "expected_claims", "covered"))


@metric(source=f"{_CHECKER}, F1", blank_answer=Reason.NO_CLAIMS)
def claim_f1(claims_right: JudgedItems, claims_covered: JudgedItems) -> Measured:
    """Harmonic mean of ``claim_precision`` and ``claim_recall_answer``.

    Both sides are judged on their own, so that it may differ from ``factual_f1`` of ``answer_correctness``.
    """
    precision, recall = _precision(claims_right), _recall(claims_covered)
    details = _details(claims_right, "claims", "supported") | _details(claims_covered, "expected_claims", "covered")
    return Measured(harmonic_mean(precision, recall), details | {"precision": precision, "recall": recall})


def harmonic_mean(*values: float) -> float:
    """Harmonic mean of values clipped to 0 to 1; 0 when any of them is 0."""
    clipped = [min(1.0, max(0.0, value)) for value in values]
    return len(clipped) / math.fsum(1 / value for value in clipped) if all(clipped) else 0.0


def _precision(right: JudgedItems) -> float:
    if not right.items:
        raise NotApplicable(Reason.NO_CLAIMS)
    return right.share


def _recall(covered: JudgedItems) -> float:
    if not covered.items:
        raise NotApplicable(Reason.NO_EXPECTED_CLAIMS)
    return covered.share


def _details(judged: JudgedItems, name: str, verdict: str) -> dict[str, object]:
    return {name: judged.evidence("claim", verdict), "judge": judged.judge}
