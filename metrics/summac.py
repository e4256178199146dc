"""SummaC: whether some sentence of a text entails each sentence of the answer that sums it up."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .declaring import artefact, metric
from .local_tools import PairEntailment
from .score import Measured, NotApplicable, Reason
from .text import eligible, shown

Matrix = NDArray[np.float64]
_EVALUATOR: Final = "H2O evaluators page, Summarization (completeness and faithfulness)"
_MOST_SOURCE_SENTENCES: Final = 100
_CONV_SENTENCES: Final = 10
_WEIGHTS: Final = "summac_conv.json"
# Upstream's bins: fine where probabilities of entailment crowd, the last one closed.
_EDGES: Final = (
    *(0.0, 0.01, 0.02, 0.03, 0.04, 0.07, 0.13, 0.37, 0.90, 0.91, 0.92, 0.93),
    *(0.94, 0.95, 0.955, 0.96, 0.965, 0.97, 0.975, 0.98, 0.985, 0.99, 0.995, 1.0),
)


@dataclass(frozen=True, slots=True, eq=False)
class EntailmentMatrix:
    """How likely each sentence of a source entails each sentence of an answer.

    Attributes:
        source: the source's sentences.
        answer: the answer's sentences.
        entailment: shape (source, answer).
        contradiction: shape (source, answer).
        truncated: whether the model read only a part of some pair.
        model: its id.
    """

    source: tuple[str, ...]
    answer: tuple[str, ...]
    entailment: Matrix
    contradiction: Matrix
    truncated: bool
    model: str


@artefact
async def summac_matrix(
    source_sentences: tuple[str, ...], answer_sentences: tuple[str, ...], summac_model: PairEntailment
) -> EntailmentMatrix:
    """The source's first 100 sentences against the answer's first 10 of more than 10 characters."""
    answer = _eligible(answer_sentences)
    if not source_sentences or not answer:
        counted = {"source_sentences": len(source_sentences), "answer_sentences": len(answer)}
        raise NotApplicable(Reason.NO_SENTENCES, **counted)
    return await _compared(source_sentences, answer[:_CONV_SENTENCES], summac_model)


@artefact
async def summac_later(
    source_sentences: tuple[str, ...], answer_sentences: tuple[str, ...], summac_model: PairEntailment
) -> EntailmentMatrix:
    """The same against the answer's later sentences, which only ``summac_zs`` looks at; it may have no columns."""
    return await _compared(source_sentences, _eligible(answer_sentences)[_CONV_SENTENCES:], summac_model)


@metric(
    threshold=0.75,
    blank_answer=Reason.NO_SENTENCES,
    ranges={("use_contradiction", True): (-1.0, 1.0)},
    source=_EVALUATOR,
)
def summac_zs(
    source_sentences: tuple[str, ...],
    summac_matrix: EntailmentMatrix,
    summac_later: EntailmentMatrix,
    *,
    use_contradiction: bool = False,
) -> Measured:
    """How likely the answer's sentences are entailed, each by the source sentence that entails it most, on average.

    The source is the question, which holds the text to be summed up, or with the option ``source: contexts`` of
    ``source_sentences`` the contexts; its first 100 sentences of more than 10 characters are read. With
    ``use_contradiction`` the most that a source sentence contradicts is taken off, as the published code does: values
    are then from -1 to 1, and lower.

    A sentence of the answer that draws together two sentences of the source is entailed by neither. The default model
    reads English. On its authors' benchmark of news summaries that code has a balanced accuracy of 72 %, from 58 %
    (XSum) to 84 % (FactCC), with a cut-off fitted to each of the six data sets (SummaC, Laban et al. 2022, and the
    results in its repository): read the sentences that details name before you call one answer wrong, and don't take
    0.75 as where people would draw the line.
    """
    columns = (summac_matrix, summac_later)
    entailment = np.concatenate([one.entailment for one in columns], axis=1)
    contradiction = np.concatenate([one.contradiction for one in columns], axis=1)
    details = _read(len(source_sentences), *columns)
    details["sentences"] = _sentences(summac_matrix) + _sentences(summac_later)
    return Measured(zero_shot(entailment, contradiction if use_contradiction else None), details)


@metric(threshold=0.75, blank_answer=Reason.NO_SENTENCES, reads=(_WEIGHTS,), source=_EVALUATOR)
def summac_conv(
    source_sentences: tuple[str, ...], answer_sentences: tuple[str, ...], summac_matrix: EntailmentMatrix
) -> Measured:
    """How consistent the answer is with its source, from how often each degree of entailment occurs between sentences.

    For each of the answer's first 10 sentences the probabilities that the source's sentences entail it are counted in
    23 bins; published weights make one number of the counts, and one value of the mean of these numbers. The source is
    that of ``summac_zs``.

    The weights were fitted to news articles and one model (tals/albert-xlarge-vitaminc-mnli), so another model's values
    are not comparable, and the number of source sentences moves the value whatever they say: with one it is never above
    0.92, two that entail all give 0.998, and 100 that entail nothing still 0.34. Compare bots on the same sources, and
    don't read it as a probability. On its authors' benchmark it has a balanced accuracy of 74 %, from 63 % (Polytope)
    to 90 % (FactCC), with a cut-off fitted to each of the six data sets (SummaC, Laban et al. 2022, and the results in
    its repository).
    """
    scores = column_scores(summac_matrix.entailment)
    details = _read(len(source_sentences), summac_matrix)
    details["truncated"] = details["truncated"] or len(_eligible(answer_sentences)) > _CONV_SENTENCES
    scored = zip(_sentences(summac_matrix), scores.tolist(), strict=True)
    details["sentences"] = [{**sentence, "score": score} for sentence, score in scored]
    return Measured(consistency(scores), details)


def zero_shot(entailment: Matrix, contradiction: Matrix | None = None) -> float:
    """Mean over columns of the greatest entailment, less the greatest contradiction where that is given.

    >>> round(zero_shot(np.array([[0.985, 0.02], [0.10, 0.60], [0.005, 0.03]])), 4)
    0.7925
    """
    columns = entailment.max(axis=0)
    return float(np.mean(columns if contradiction is None else columns - contradiction.max(axis=0)))


def column_scores(entailment: Matrix) -> Matrix:
    """For each column the weighted counts of its probabilities in upstream's 23 bins, shape (columns,).

    >>> column_scores(np.array([[0.985, 0.02], [0.10, 0.60], [0.005, 0.03]])).round(4).tolist()
    [-1.0516, 0.5465]
    """
    bins, bias, _, _ = _published()
    counts = np.array([np.histogram(column, bins=_EDGES)[0] for column in entailment.T], dtype=np.float64)
    return np.asarray(counts @ bins + bias)


def consistency(scores: Matrix) -> float:
    """The value that the weights give for the mean of the columns' scores, between 0 and 1.

    >>> round(consistency(np.array([-1.0516, 0.5465])), 4)
    0.5093
    """
    _, _, weights, bias = _published()
    inconsistent, consistent = weights @ np.full(3, scores.mean()) + bias
    return 1 / (1 + math.exp(inconsistent - consistent))


@cache
def _published() -> tuple[Matrix, float, Matrix, Matrix]:
    """Weights of the bins and their bias, weights of the last layer, shape (2, 3), and its biases."""
    kept = json.loads(Path(__file__).with_name(_WEIGHTS).read_text(encoding="utf-8"))["weights"]
    bins, bias = np.array(kept["mlp.weight"][0]), float(kept["mlp.bias"][0])
    return bins, bias, np.array(kept["layer_final.weight"]), np.array(kept["layer_final.bias"])


def _eligible(answer_sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(sentence for sentence in answer_sentences if eligible(sentence))


async def _compared(source: Sequence[str], answer: tuple[str, ...], model: PairEntailment) -> EntailmentMatrix:
    source = tuple(source[:_MOST_SOURCE_SENTENCES])
    said = await model.entailed([(premise, hypothesis) for premise in source for hypothesis in answer])
    values = said.probabilities.astype(np.float64).reshape(len(source), len(answer), 3)
    truncated = bool(said.truncated.any())
    return EntailmentMatrix(source, answer, values[:, :, 0], values[:, :, 2], truncated, model.model_id)


def _sentences(matrix: EntailmentMatrix) -> list[dict[str, object]]:
    """For each sentence of the answer what it is entailed by most, and the most that it is contradicted."""
    if not matrix.answer:
        return []
    return [
        {
            "sentence": shown(sentence),
            "source": shown(matrix.source[row]),
            "entailment": float(matrix.entailment[row, column]),
            "contradiction": float(matrix.contradiction[:, column].max()),
        }
        for column, (sentence, row) in enumerate(zip(matrix.answer, matrix.entailment.argmax(axis=0), strict=True))
    ]


def _read(source_sentences: int, *compared: EntailmentMatrix) -> dict[str, object]:
    """By which model what was read of the source, and whether anything was not."""
    is_cut = source_sentences > _MOST_SOURCE_SENTENCES or any(matrix.truncated for matrix in compared)
    return {"model": compared[0].model, "truncated": is_cut, "source_sentences": source_sentences}
