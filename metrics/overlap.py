"""Metrics on shared n-grams and subsequences: BLEU and ROUGE."""

import math
from typing import Final

from .declaring import metric
from .overlap_counts import NgramMatches, common_subsequence_length, shared_ngrams
from .score import Measured, NotApplicable, Reason

_H2O_BLEU: Final = "H2O evaluators page, BLEU; Papineni et al. 2002; values as nltk sentence_bleu"
_H2O_ROUGE: Final = "H2O evaluators page, ROUGE; Lin 2004; values as rouge-score with its stemmer"
# Twice as long, four times the work: two texts of this length take about 0.2 s. It is 300 to 400 kB of prose.
LONGEST_SUBSEQUENCE_TEXT: Final = 65_536


@metric(threshold=0.75, source=_H2O_BLEU)
def bleu_1(ngram_matches: NgramMatches) -> float:
    """Brevity penalty times the clipped precision of the answer's words.

    See ``bleu`` for what the family is worth.
    """
    return _bleu_of_order(ngram_matches, 1)


@metric(threshold=0.75, source=_H2O_BLEU)
def bleu_2(ngram_matches: NgramMatches) -> float:
    """Brevity penalty times the clipped precision of the answer's word pairs alone."""
    return _bleu_of_order(ngram_matches, 2)


@metric(threshold=0.75, source=_H2O_BLEU)
def bleu_3(ngram_matches: NgramMatches) -> float:
    """Brevity penalty times the clipped precision of the answer's runs of three words alone."""
    return _bleu_of_order(ngram_matches, 3)


@metric(threshold=0.75, source=_H2O_BLEU)
def bleu_4(ngram_matches: NgramMatches) -> float:
    """Brevity penalty times the clipped precision of the answer's runs of four words alone."""
    return _bleu_of_order(ngram_matches, 4)


@metric(
    threshold=0.75,
    source="Ejento metrics guide 1.4; Papineni et al. 2002; values as nltk sentence_bleu (threshold: project default)",
)
def bleu(ngram_matches: NgramMatches) -> float:
    """Cumulative BLEU: brevity penalty times the geometric mean of the n-gram precisions, n = 1 to 4.

    It can't tell right answers from wrong ones: it has no value below four words, and where it has one its AUROC
    against human verdicts is 0.56 to 0.60 on four question sets, far below token F1; next to no right answer reaches
    the threshold. On summaries it follows people less than ROUGE does (relevance in summeval, best of 11 references:
    Spearman 0.16, ``rouge_1`` 0.30). Measured by ``tests/benchmarks/measure_evaluators.py correctness overlap``.
    """
    if min(ngram_matches.answer_length, ngram_matches.expected_length) < 4:
        raise NotApplicable(Reason.TOO_SHORT, tokens=_lengths(ngram_matches))
    if not all(ngram_matches.matches):
        return 0.0
    logarithms = [math.log(_precision(ngram_matches, order)) for order in (1, 2, 3, 4)]
    return _brevity_penalty(ngram_matches) * math.exp(math.fsum(logarithms) / 4)


@metric(threshold=0.75, source=_H2O_ROUGE)
def rouge_1(answer_stems: list[str], expected_stems: list[str], missing_words: list[str]) -> Measured:
    """F1 of the stemmed words that answer and expected answer share; precision and recall in the details.

    The details also name the expected answer's words that are missing.
    To ask how much of the expected content is there, look at the recall: against human content units in realsumm it
    has a Pearson correlation of 0.61, the F1 one of 0.51. It reads only a-z and 0-9: of a text in another script it
    sees the figures and foreign names at most, and has no value without any. Measured by
    ``tests/benchmarks/measure_evaluators.py overlap language``.
    """
    return _rouge_of_order(answer_stems, expected_stems, missing_words, 1)


@metric(threshold=0.75, source=_H2O_ROUGE)
def rouge_2(answer_stems: list[str], expected_stems: list[str], missing_words: list[str]) -> Measured:
    """F1 of the stemmed word pairs that answer and expected answer share; precision and recall in the details."""
    return _rouge_of_order(answer_stems, expected_stems, missing_words, 2)


@metric(threshold=0.75, source=_H2O_ROUGE)
def rouge_l(answer_stems: list[str], expected_stems: list[str], missing_words: list[str]) -> Measured:
    """F1 of the longest common subsequence of stemmed words; precision and recall in the details.

    For right and wrong it is about as good as token F1 (AUROC 0.87 on evouna, 0.81 on nq301, 0.77 on efficientqa,
    0.74 on student_answers), but the threshold fails most right answers that are sentences: balanced accuracy there is
    0.55 to 0.71, and 0.68 to 0.78 with a threshold fitted to the questions. Of summaries the recall ranks systems
    better than the F1 (realsumm: Pearson 0.94 against 0.46). It reads only a-z and 0-9, as ``rouge_1`` does. Measured
    by ``tests/benchmarks/measure_evaluators.py correctness overlap``.

    Of texts with more than 65,536 words only the first 65,536 are compared, and ``truncated`` is set.
    """
    _must_have_tokens(answer_stems, expected_stems)
    answer, expected = answer_stems[:LONGEST_SUBSEQUENCE_TEXT], expected_stems[:LONGEST_SUBSEQUENCE_TEXT]
    length = common_subsequence_length(answer, expected)
    was_cut = len(answer) < len(answer_stems) or len(expected) < len(expected_stems)
    return _f1(length, len(answer), len(expected), missing_words, was_cut)


def _rouge_of_order(answer: list[str], expected: list[str], missing: list[str], order: int) -> Measured:
    _must_have_tokens(answer, expected)
    answer_count, expected_count = max(len(answer) - order + 1, 0), max(len(expected) - order + 1, 0)
    return _f1(shared_ngrams(answer, expected, order), answer_count, expected_count, missing)


def _must_have_tokens(answer: list[str], expected: list[str]) -> None:
    # A text in another script has no token at all, and would score 0 against itself.
    if not answer or not expected:
        raise NotApplicable(Reason.TOO_SHORT, tokens=0)


def _f1(common: int, answer_count: int, expected_count: int, missing: list[str], was_cut: bool = False) -> Measured:
    precision = common / max(answer_count, 1)
    recall = common / max(expected_count, 1)
    value = 2 * precision * recall / (precision + recall) if common else 0.0
    details: dict[str, object] = {"precision": precision, "recall": recall}
    details |= {"missing": missing} if missing else {}
    return Measured(value, details | {"truncated": True} if was_cut else details)


def _bleu_of_order(counted: NgramMatches, order: int) -> float:
    if counted.answer_length < order and counted.expected_length < order:
        raise NotApplicable(Reason.TOO_SHORT, tokens=_lengths(counted))
    if not counted.matches[order - 1]:
        return 0.0
    return _brevity_penalty(counted) * _precision(counted, order)


def _precision(counted: NgramMatches, order: int) -> float:
    return counted.matches[order - 1] / (counted.answer_length - order + 1)


def _brevity_penalty(counted: NgramMatches) -> float:
    if counted.answer_length > counted.expected_length:
        return 1.0
    return math.exp(1 - counted.expected_length / counted.answer_length)


def _lengths(counted: NgramMatches) -> dict[str, int]:
    return {"answer": counted.answer_length, "expected": counted.expected_length}
