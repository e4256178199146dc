"""Metrics on reverse questions, and the Ragas score: answer relevancy and the harmonic mean of its four parts."""

from typing import Final, Literal

import numpy as np

from .artefacts import TextVectors, vector_evidence
from .correctness import harmonic_mean
from .declaring import artefact, metric
from .grounding import claims_share
from .judge.verdicts import ReverseQuestion
from .judged_items import JudgedItems
from .judged_retrieval import average_precision
from .score import Measured, NotApplicable, Reason
from .tools import Judge

_COMPONENTS: Final = {
    "claim_support": "faithfulness",
    "reverse_relevancy": "answer_relevancy",
    "useful_chunks": "context_precision",
    "expected_sentence_support": "context_recall",
}


@artefact
def reverse_relevancy(
    question_vector: TextVectors,
    reverse_questions: tuple[ReverseQuestion, ...],
    reverse_question_vectors: TextVectors,
    *,
    noncommittal: Literal["all", "any"] = "all",
) -> Measured:
    """Mean cosine of the question with the reverse questions, 0 when all (or any) of them are noncommittal."""
    cosines = reverse_question_vectors.vectors @ question_vector.vectors[0]
    asked = [
        {"question": question.text, "similarity": float(cosine), "noncommittal": question.noncommittal}
        for question, cosine in zip(reverse_questions, cosines, strict=True)
    ]
    said = [question.noncommittal for question in reverse_questions]
    is_evasive = all(said) if noncommittal == "all" else any(said)
    details: dict[str, object] = {"questions": asked, "noncommittal": noncommittal}
    details |= vector_evidence(question_vector, reverse_question_vectors)
    return Measured(0.0 if is_evasive else float(np.mean(cosines)), details)


@metric(threshold=0.75, low=-1.0, source="H2O evaluators page, Answer relevancy; Ragas")
def answer_relevancy(reverse_relevancy: Measured, judge: Judge) -> Measured:
    """Mean cosine of the question with questions that a judge makes from the answer; 0 for a noncommittal answer.

    The option ``questions`` says how many are made (3). An answer is noncommittal when all of them say so, or any of
    them with the option ``noncommittal="any"`` (older Ragas).

    It measures whether the answer is about the question, not whether it is right or complete; the cosines of unrelated
    questions are far above 0 with some embedding models, and those of two models don't compare.
    """
    return Measured(reverse_relevancy.value, {**reverse_relevancy.details, "judge": judge.model_id})


@metric(
    threshold=0.75,
    blank_answer=Reason.COMPONENT_NOT_APPLICABLE,
    components=_COMPONENTS,
    source="H2O evaluators page, Ragas",
)
def ragas(
    claim_support: JudgedItems,
    reverse_relevancy: Measured,
    useful_chunks: JudgedItems,
    expected_sentence_support: JudgedItems,
) -> Measured:
    """Harmonic mean of faithfulness, answer relevancy, context precision and context recall.

    Each is clipped to 0 to 1, and one that is 0 makes the whole 0. There is no mean over fewer parts: where one has no
    value, this has none, and details name the part. It mixes what the bot did with what the retriever did: use it to
    rank, and its parts to find out why.
    """
    if not claim_support.items:
        raise NotApplicable(Reason.NO_CLAIMS, component="faithfulness")
    parts = {
        "faithfulness": claims_share(claim_support),
        "answer_relevancy": reverse_relevancy.value,
        "context_precision": average_precision(useful_chunks.held),
        "context_recall": expected_sentence_support.share,
    }
    details = {**parts, "judge": claim_support.judge, "model": reverse_relevancy.details["model"]}
    return Measured(harmonic_mean(*parts.values()), details)
