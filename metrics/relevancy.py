"""Metrics on the contexts' sentences and the question: soft recall and precision of what was retrieved."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from .artefacts import ContextSentence, TextVectors, vector_evidence
from .declaring import artefact, metric
from .score import Measured

_SOURCE: Final = "H2O evaluators page, Context relevancy (soft recall and precision)"


@dataclass(frozen=True, slots=True)
class RelevantSentence:
    """The sentence of a context that is nearest to the question; ``context`` counts all of them from 0."""

    context: int
    text: str
    similarity: float


@artefact
def relevant_sentences(
    question_vector: TextVectors,
    context_sentences: tuple[ContextSentence, ...],
    context_sentence_vectors: TextVectors,
) -> tuple[RelevantSentence, ...]:
    """Of each context that has a sentence of more than 10 characters, the one nearest to the question."""
    cosines = context_sentence_vectors.vectors @ question_vector.vectors[0]
    best: dict[int, int] = {}
    for place, sentence in enumerate(context_sentences):
        if sentence.context not in best or cosines[place] > cosines[best[sentence.context]]:
            best[sentence.context] = place
    return tuple(
        RelevantSentence(context, context_sentences[place].text, float(cosines[place]))
        for context, place in best.items()
    )


@metric(threshold=0.75, low=-1.0, source=_SOURCE)
def context_recall_relevancy(
    relevant_sentences: tuple[RelevantSentence, ...],
    question_vector: TextVectors,
    context_sentence_vectors: TextVectors,
) -> Measured:
    """Cosine of the question with the sentence of the contexts that is nearest to it.

    A sentence that repeats the question without answering it scores highest of all: this says that the topic was
    found, not the answer. The thresholds of two embedding models don't compare.

    For passages that answer their question or don't, as people see it, its AUROC is 0.86 on clapnq (share of the
    question's words in the passage: 0.75), and 0.75 for passages that bear on a claim or don't (factcheckgpt_stance;
    words: 0.71, the difference within chance). Measured with all-MiniLM-L6-v2 by
    ``tests/benchmarks/measure_evaluators.py relevancy``.
    """
    best = max(relevant_sentences, key=lambda sentence: sentence.similarity)
    details = vector_evidence(question_vector, context_sentence_vectors)
    return Measured(best.similarity, details | {"most_relevant": best.text, "context": best.context})


@metric(threshold=0.75, low=-1.0, source=_SOURCE)
def context_precision_relevancy(
    relevant_sentences: tuple[RelevantSentence, ...],
    question_vector: TextVectors,
    context_sentence_vectors: TextVectors,
) -> Measured:
    """Mean over the contexts of the cosine of the question with the context's nearest sentence.

    Contexts without a sentence of more than 10 characters are left out. It falls as more contexts are asked for, so
    compare bots that retrieve equally many; and it measures topic, as ``context_recall_relevancy`` does.
    """
    details = vector_evidence(question_vector, context_sentence_vectors)
    chunks = [
        {"context": sentence.context, "similarity": sentence.similarity, "sentence": sentence.text}
        for sentence in relevant_sentences
    ]
    value = float(np.mean([sentence.similarity for sentence in relevant_sentences]))
    return Measured(value, details | {"contexts": chunks})
