"""Summaries: SummaC and completeness, by an entailment model and by sentence vectors."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..artefacts import TextVectors, embedded, vector_evidence
from ..declaration import artefact, metric
from ..facts import is_blank
from ..score import Measured, NotApplicable, Reason
from ..text import eligible, sentences, shown
from ..tools import Embedder, PairEntailment

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
    """The same against the answer's later sentences, which only ``summac_zs`` uses; it may have no columns."""
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

    The source is the question, which holds the text to be summarised, or with the option ``source: contexts`` of
    ``source_sentences`` the contexts; its first 100 sentences of more than 10 characters are read. With
    ``use_contradiction`` the highest contradiction by a source sentence is subtracted, as in the published code: values
    are then from -1 to 1, and lower.

    A sentence of the answer that combines two sentences of the source is entailed by neither. The default model
    reads English. On its authors' benchmark of news summaries that code has a balanced accuracy of 72 %, from 58 %
    (XSum) to 84 % (FactCC), with a cut-off fitted to each of the six data sets (SummaC, Laban et al. 2022, and the
    results in its repository): read the sentences in the details before you call an answer wrong, and don't take 0.75
    as a threshold that people agree with.
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
    23 bins; published weights turn the counts into one number, and the mean of these numbers into the value. The source
    is that of ``summac_zs``.

    The weights were fitted to news articles and one model (tals/albert-xlarge-vitaminc-mnli), so another model's values
    are not comparable, and the number of source sentences changes the value regardless of content: with one it is never
    above 0.92, two that entail everything give 0.998, and 100 that entail nothing still 0.34. Compare bots on the same
    sources, and don't read it as a probability. On its authors' benchmark it has a balanced accuracy of 74 %, from 63 %
    (Polytope) to 90 % (FactCC), with a cut-off fitted to each of the six data sets (SummaC, Laban et al. 2022, and the
    results in its repository).
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
    published = json.loads(Path(__file__).with_name(_WEIGHTS).read_text(encoding="utf-8"))["weights"]
    bins, bias = np.array(published["mlp.weight"][0]), float(published["mlp.bias"][0])
    return bins, bias, np.array(published["layer_final.weight"]), np.array(published["layer_final.bias"])


def _eligible(answer_sentences: Sequence[str]) -> tuple[str, ...]:
    return tuple(sentence for sentence in answer_sentences if eligible(sentence))


async def _compared(source: Sequence[str], answer: tuple[str, ...], model: PairEntailment) -> EntailmentMatrix:
    source = tuple(source[:_MOST_SOURCE_SENTENCES])
    output = await model.entailed([(premise, hypothesis) for premise in source for hypothesis in answer])
    values = output.probabilities.astype(np.float64).reshape(len(source), len(answer), 3)
    truncated = bool(output.truncated.any())
    return EntailmentMatrix(source, answer, values[:, :, 0], values[:, :, 2], truncated, model.model_id)


def _sentences(matrix: EntailmentMatrix) -> list[dict[str, object]]:
    """For each sentence of the answer the source sentence that entails it most, and the highest contradiction."""
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
    """For details: the model, the number of source sentences, and whether anything was truncated."""
    is_cut = source_sentences > _MOST_SOURCE_SENTENCES or any(matrix.truncated for matrix in compared)
    return {"model": compared[0].model, "truncated": is_cut, "source_sentences": source_sentences}


Points = NDArray[np.float64]
_MOST_COMPONENTS: Final = 5


@artefact
def source_sentences(
    question: str = "",
    contexts: Sequence[str] | None = None,
    language: str = "en",
    *,
    source: Literal["question", "contexts"] = "question",
) -> tuple[str, ...]:
    """The sentences of more than 10 characters of the text that the answer summarises: the question or the contexts."""
    texts: Sequence[str] = [question]
    if source == "contexts":
        if contexts is None:
            raise NotApplicable(Reason.CONTEXTS_MISSING)
        texts = contexts
    if all(is_blank(text) for text in texts):
        raise NotApplicable(Reason.QUESTION_MISSING if source == "question" else Reason.CONTEXTS_EMPTY)
    return tuple(sentence for text in texts for sentence in sentences(text, language) if eligible(sentence))


@artefact
async def source_sentence_vectors(source_sentences: tuple[str, ...], embedder: Embedder) -> TextVectors:
    """The vectors of the source's sentences."""
    if len(source_sentences) < 2:
        raise NotApplicable(Reason.TOO_SHORT, source_sentences=len(source_sentences))
    return await embedded(source_sentences, embedder)


@metric(
    threshold=0.75,
    blank_answer=Reason.TOO_SHORT,
    source="H2O evaluators page, Summarization (completeness and faithfulness)",
)
def summary_completeness(
    answer_sentences: tuple[str, ...],
    answer_sentence_vectors: TextVectors,
    source_sentence_vectors: TextVectors,
    *,
    reducer: Literal["pca", "none"] = "pca",
) -> Measured:
    """Share of the spread of the source's sentences that the answer's sentences cover.

    Each sentence of the answer represents the source sentence that is nearest to it; the spread is the longest
    distance between two such points plus the second longest from each of its ends. The source is the question, which
    holds the text to be summarised, or with the option ``source: contexts`` the contexts. With ``reducer: pca``
    distances are taken in the source's first two to five principal components. Points that coincide count once, so
    repetition covers no more.

    It measures how far apart the topics of the answer are, not what it says about them: a wrong summary that names all
    topics is complete. A source on one topic has no meaningful spread.

    It does not agree with people: on news summaries its correlation with their ratings of relevance is 0.01
    (summeval, Spearman within an article; ``rouge_1``: 0.30), and with the share of content that they found 0.12
    (realsumm, Pearson; ROUGE-1 recall: 0.55). Don't choose a bot by it. Measured with all-MiniLM-L6-v2 by
    ``tests/benchmarks/measure_evaluators.py overlap``.
    """
    places = [place for place, sentence in enumerate(answer_sentences) if eligible(sentence)]
    if len(places) < 2:
        raise NotApplicable(Reason.TOO_SHORT, answer_sentences=len(places))
    source = source_sentence_vectors.vectors.astype(np.float64)
    answer = answer_sentence_vectors.vectors[places].astype(np.float64)
    if reducer == "pca":
        source, answer = reduced(source, answer, max(2, min(_MOST_COMPONENTS, len(source) - 2)))
    value = completeness(source, answer)
    details = vector_evidence(source_sentence_vectors, answer_sentence_vectors)
    details |= {"source_sentences": len(source), "answer_sentences": len(places), "reducer": reducer}
    return Measured(value, details)


def completeness(source: Points, summary: Points) -> float:
    """Spread of the source points nearest to the summary's, over the spread of all source points, at most 1.

    Args:
        source: shape (n, dimensions).
        summary: shape (m, dimensions).

    Raises:
        NotApplicable: the source points are all the same.

    >>> source = np.array([(0, 0), (4, 0), (4, 3), (0, 3), (2, 1)], dtype=float)
    >>> round(completeness(source, np.array([(0.2, 0.1), (3.8, 0.1)])), 4)
    0.3077
    """
    whole = spread(source)
    if whole == 0:
        raise NotApplicable(Reason.UNDEFINED, spread=0.0)
    nearest = {int(_squared_distances(source, point).argmin()) for point in summary}
    return min(spread(source[sorted(nearest)]) / whole, 1.0)


def spread(points: Points) -> float:
    """Longest distance between two points plus the second longest from each of its ends; equal points count once.

    With two points it is their distance, with one 0.

    >>> spread(np.array([(0, 0), (4, 0), (4, 3), (0, 3), (2, 1)], dtype=float))
    13.0
    """
    # Equal sentences come out of the reduction a rounding error apart; and -0.0 is not 0.0 to unique.
    _, distinct = np.unique(points.round(9) + 0.0, axis=0, return_index=True)
    points = points[np.sort(distinct)]
    furthest = [_squared_distances(points, point).max() for point in points]
    first = int(np.argmax(furthest))
    from_first = _squared_distances(points, points[first])
    second = int(from_first.argmax())
    longest = math.sqrt(from_first[second])
    if len(points) < 3:
        return longest
    from_second = _squared_distances(points, points[second])
    return longest + sum(math.sqrt(np.partition(one, -2)[-2]) for one in (from_first, from_second))


def reduced(source: Points, summary: Points, components: int) -> tuple[Points, Points]:
    """Both sets of points in the source's first principal components.

    Signs are fixed, so that equal input gives equal output. There are fewer components where the source has fewer
    points or dimensions.
    """
    centre = source.mean(axis=0)
    directions = _principal_directions(source - centre)[:components]
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
    directions = directions * np.where(largest < 0, -1.0, 1.0)
    return (source - centre) @ directions.T, (summary - centre) @ directions.T


def _principal_directions(centred: Points) -> Points:
    """Unit vectors as rows, the direction of the greatest spread first; zeros where there is no spread left.

    Made from the smaller product of the points with themselves, which takes a tenth of the time of their singular
    value decomposition for a source of a thousand sentences.
    """
    if len(centred) >= centred.shape[1]:
        return np.linalg.eigh(centred.T @ centred)[1].T[::-1]
    directions = np.linalg.eigh(centred @ centred.T)[1].T[::-1] @ centred
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return directions / np.where(lengths > 1e-6 * lengths.max(), lengths, np.inf)


def _squared_distances(points: Points, point: Points) -> Points:
    """From each of the points to one; row by row, because all pairs of a long source don't fit into memory."""
    return np.square(points - point).sum(axis=1)  # type: ignore[no-any-return]
