"""Summary completeness: how much of the room that a source's sentences take up, an answer's sentences take up too."""

import math
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from .artefacts import TextVectors, embedded, vector_evidence
from .declaring import artefact, metric
from .facts import is_blank
from .score import Measured, NotApplicable, Reason
from .text import eligible, sentences
from .tools import Embedder

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
    """The sentences of more than 10 characters of the text that the answer sums up: the question or the contexts."""
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

    Each sentence of the answer stands for the source sentence that is nearest to it; the spread is the longest
    distance between two such points plus the second longest from each of its ends. The source is the question, which
    holds the text to be summed up, or with the option ``source: contexts`` the contexts. With ``reducer: pca``
    distances are taken in the source's first two to five principal components. Points that coincide count once, so
    that saying a thing twice covers no more.

    It measures how far apart the topics are that the answer touches, not what it says of them: a wrong summary that
    names all topics is complete. A source that is all on one topic has no spread worth measuring.

    People don't see what it measures: on news summaries its correlation with their ratings of relevance is 0.01
    (summeval, Spearman within an article; ``rouge_1``: 0.30), and with the share of content that they found 0.12
    (realsumm, Pearson; ROUGE-1 recall: 0.55). Don't choose a bot by it. Measured with all-MiniLM-L6-v2 by
    ``tests/benchmarks/measure_evaluators.py overlap``.
    """
    kept = [place for place, sentence in enumerate(answer_sentences) if eligible(sentence)]
    if len(kept) < 2:
        raise NotApplicable(Reason.TOO_SHORT, answer_sentences=len(kept))
    source = source_sentence_vectors.vectors.astype(np.float64)
    answer = answer_sentence_vectors.vectors[kept].astype(np.float64)
    if reducer == "pca":
        source, answer = reduced(source, answer, max(2, min(_MOST_COMPONENTS, len(source) - 2)))
    value = completeness(source, answer)
    details = vector_evidence(source_sentence_vectors, answer_sentence_vectors)
    details |= {"source_sentences": len(source), "answer_sentences": len(kept), "reducer": reducer}
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
