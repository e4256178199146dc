"""Shared work on one row: tokens, sentences and vectors, each computed once for all metrics."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .declaration import artefact
from .lexical import NgramMatches, clipped_matches, rouge_tokens, words_missing
from .score import NotApplicable, Reason
from .text import eligible, sentences, word_tokens
from .tools import Embedder


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """Unit vectors of some texts, in their order, and the model that made them."""

    vectors: NDArray[np.float32]
    truncated: NDArray[np.bool_]
    model: str


@dataclass(frozen=True, slots=True)
class ContextSentence:
    """A sentence of the retrieved contexts; ``context`` counts all of them from 0, blank ones too."""

    context: int
    text: str


@artefact
def answer_sentences(answer: str, language: str = "en") -> tuple[str, ...]:
    """The sentences of the answer, of any length."""
    return sentences(answer, language)


@artefact
def context_sentences(contexts: Sequence[str], language: str = "en") -> tuple[ContextSentence, ...]:
    """The sentences of the contexts that are long enough to compare, each with its context."""
    found = tuple(
        ContextSentence(place, sentence)
        for place, context in enumerate(contexts)
        for sentence in sentences(context, language)
        if eligible(sentence)
    )
    if not found:
        raise NotApplicable(Reason.CONTEXTS_EMPTY)
    return found


@artefact
def answer_words(answer: str, language: str = "en") -> list[str]:
    """The answer's words and punctuation marks, as NLTK's tokenizer gives them for each sentence."""
    return [word for sentence in sentences(answer, language) for word in word_tokens(sentence)]


@artefact
def expected_words(expected: str, language: str = "en") -> list[str]:
    """The expected answer's words and punctuation marks, as NLTK's tokenizer gives them for each sentence."""
    return [word for sentence in sentences(expected, language) for word in word_tokens(sentence)]


@artefact
def ngram_matches(answer_words: list[str], expected_words: list[str]) -> NgramMatches:
    """Clipped n-gram matches of the answer's words against the expected answer's, for n = 1 to 4."""
    return clipped_matches(answer_words, expected_words)


@artefact
def answer_stems(answer: str) -> list[str]:
    """The answer's stemmed words, as ROUGE reads them."""
    return rouge_tokens(answer)


@artefact
def expected_stems(expected: str) -> list[str]:
    """The expected answer's stemmed words, as ROUGE reads them."""
    return rouge_tokens(expected)


@artefact
def missing_words(answer_stems: list[str], expected: str) -> list[str]:
    """The expected answer's words whose stems are not in the answer, as ROUGE reads them: at most 30, for display."""
    return words_missing(expected, frozenset(answer_stems))


@artefact
async def question_vector(question: str, embedder: Embedder) -> TextVectors:
    """The vector of the whole question."""
    return await embedded([question], embedder)


@artefact
async def answer_vector(answer: str, embedder: Embedder) -> TextVectors:
    """The vector of the whole answer."""
    return await embedded([answer], embedder)


@artefact
async def expected_vector(expected: str, embedder: Embedder) -> TextVectors:
    """The vector of the whole expected answer."""
    return await embedded([expected], embedder)


@artefact
async def answer_sentence_vectors(answer_sentences: tuple[str, ...], embedder: Embedder) -> TextVectors:
    """The vectors of the answer's sentences."""
    if not answer_sentences:
        raise NotApplicable(Reason.NO_SENTENCES)
    return await embedded(answer_sentences, embedder)


@artefact
async def relevancy_vectors(
    answer: str, answer_sentences: tuple[str, ...], answer_sentence_vectors: TextVectors, embedder: Embedder
) -> TextVectors:
    """The vectors of the answer's sentences of more than 10 characters, or of the whole answer if there are none."""
    places = [place for place, sentence in enumerate(answer_sentences) if eligible(sentence)]
    if not places and len(answer_sentences) > 1:
        return await embedded([answer], embedder)
    made, places = answer_sentence_vectors, places or [0]
    return TextVectors(made.vectors[places], made.truncated[places], made.model)


@artefact
async def context_sentence_vectors(context_sentences: tuple[ContextSentence, ...], embedder: Embedder) -> TextVectors:
    """The vectors of the contexts' sentences."""
    return await embedded([sentence.text for sentence in context_sentences], embedder)


async def embedded(texts: Sequence[str], embedder: Embedder) -> TextVectors:
    """The vectors of some texts, with the model that made them."""
    made = await embedder.embed(texts)
    return TextVectors(made.vectors, made.truncated, embedder.model_id)


def vector_evidence(*made: TextVectors) -> dict[str, object]:
    """For details: the model, and whether any text was truncated."""
    return {"model": made[0].model, "truncated": any(bool(vectors.truncated.any()) for vectors in made)}
