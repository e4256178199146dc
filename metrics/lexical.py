"""Metrics on words and characters: exact match, keyword recall, politeness, FAQ similarity, BLEU and ROUGE."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from .declaration import metric
from .score import Measured, NotApplicable, Reason
from .text import MOST_MISSING, in_order, normalise, stem, token_cosine, token_set

_WORD: Final = re.compile("[a-z0-9]+")
_STEMMED_LENGTH: Final = 3  # only longer words are stemmed
_LONGEST_CACHED_WORD: Final = 40  # longer ones are no words, and are not cached
_MOST_ORDERS: Final = 4


@dataclass(frozen=True, slots=True)
class NgramMatches:
    """Clipped n-gram matches for the orders 1 to 4, and the lengths of both texts in tokens."""

    matches: tuple[int, int, int, int]
    answer_length: int
    expected_length: int


def rouge_tokens(text: str) -> list[str]:
    """Runs of a-z and 0-9 after lower-casing, stemmed when longer than three letters, as rouge-score does.

    >>> rouge_tokens("The cats were running.")
    ['the', 'cat', 'were', 'run']
    """
    words = _WORD.findall(text.lower())
    return list(map(_read if max(map(len, words), default=0) <= _LONGEST_CACHED_WORD else _read.__wrapped__, words))


def words_missing(expected: str, stems: Set[str]) -> list[str]:
    """The distinct words of a text, as ROUGE reads them, whose stems are not given; at most ``MOST_MISSING``.

    >>> words_missing("The cats were running.", {"the", "run"})
    ['cats', 'were']
    """
    missing: dict[str, None] = {}
    for word in _WORD.findall(expected.lower()):
        read = _read if len(word) <= _LONGEST_CACHED_WORD else _read.__wrapped__
        if read(word) not in stems:
            missing.setdefault(word[:_LONGEST_CACHED_WORD])
            if len(missing) == MOST_MISSING:
                break
    return list(missing)


@lru_cache(maxsize=65_536)
def _read(word: str) -> str:
    return stem(word) if len(word) > _STEMMED_LENGTH else word


def clipped_matches(answer: Sequence[str], expected: Sequence[str]) -> NgramMatches:
    """Matches of the answer's n-grams, each counted at most as often as the expected answer has it."""
    found = [0] * _MOST_ORDERS
    for order in range(1, _MOST_ORDERS + 1):
        found[order - 1] = shared_ngrams(answer, expected, order)
        if not found[order - 1]:
            break  # no longer n-gram can match either
    return NgramMatches((found[0], found[1], found[2], found[3]), len(answer), len(expected))


def shared_ngrams(first: Sequence[str], second: Sequence[str], order: int) -> int:
    """Size of the multiset intersection of the runs of ``order`` tokens."""
    kinds = set(_ngrams(second, order))
    common = kinds.intersection(_ngrams(first, order))
    if len(kinds) == len(second) - order + 1:
        return len(common)  # if one text repeats nothing, each common n-gram counts once
    first_counts, second_counts = Counter(_ngrams(first, order)), Counter(_ngrams(second, order))
    return sum([min(first_counts[kind], second_counts[kind]) for kind in common])


def _ngrams(tokens: Sequence[str], order: int) -> Iterable[Hashable]:
    """All runs of ``order`` tokens, as tuples; the tokens themselves for order 1."""
    if order == 1:
        return tokens
    return zip(*[tokens[start:] for start in range(order)], strict=False)


def common_subsequence_length(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence.

    The columns of the usual table are stored as bits of one integer, so a step over a token costs
    ``len(first) / 64`` machine words instead of ``len(first)`` comparisons.

    Source: H. Hyyrö, Bit-parallel LCS-length computation revisited, AWOCA 2004.

    >>> common_subsequence_length("the cat sat".split(), "the dog sat".split())
    2
    """
    if first == second:
        return len(first)
    places: dict[Hashable, int] = {}
    bit = 1
    for token in first:
        places[token] = places.get(token, 0) | bit
        bit <<= 1
    everything = bit - 1
    open_places = everything  # a bit goes out where the table grows by one
    for token in second:
        if token in places:
            met = open_places & places[token]
            if met:
                open_places = ((open_places + met) | (open_places - met)) & everything
    return len(first) - open_places.bit_count()


POLITE_MARKERS: Final = (
    "please", "thank you", "thanks", "happy to help", "glad to help", "you're welcome", "sorry", "apologies",
    "kindly", "let me know",
)  # fmt: skip


@metric(source="Metric foundations page, strict FAQ bot")
def faq_similarity(question: str, faq_question: str) -> float:
    """Cosine of the token sets of the question and of the FAQ entry that the bot matched.

    >>> round(faq_similarity("How do I reset my password?", "How can I reset my password?"), 4)
    0.8333
    """
    return token_cosine(token_set(question), token_set(faq_question))


@metric(threshold=1.0, source="Metric foundations page, faq_basics (threshold: project default)")
def exact_match(answer: str, expected: str) -> float:
    """1 if answer and expected answer are the same after lower-casing and collapsing white space, else 0.

    A 1 is reliable, a 0 is not: people accept many answers in other words. Against human verdicts its
    balanced accuracy is 0.58 (evouna), 0.64 (nq301) and 0.50 (efficientqa), where a plain token F1 reaches 0.83, 0.78
    and 0.74. Measured by ``tests/benchmarks/measure_evaluators.py correctness``.

    >>> exact_match("  The Refund takes 5  days ", "the refund takes 5 days")
    1.0
    """
    return float(normalise(answer) == normalise(expected))


@metric(threshold=0.75, source="Metric foundations page, faq_basics (threshold: project default)")
def keyword_recall(answer: str, expected: str) -> float | Measured:
    """Share of the expected answer's distinct words that are in the answer.

    The missing words are in the details.

    For short facts it is the best of the plain metrics once all accepted answers are given: AUROC against human
    verdicts 0.94 on evouna (token F1: 0.89) and 0.82 on nq301 (0.81). Where right and wrong answers use the same words
    it is no better than token F1: 0.75 on efficientqa (0.76) and 0.76 on student_answers (0.75); there a "not", or a
    guess of several names, is not noticed. Measured by ``tests/benchmarks/measure_evaluators.py correctness``.

    >>> keyword_recall("at nine", "nine sharp")
    Measured(value=0.5, details={'missing': ['sharp']})
    """
    wanted = token_set(expected)
    if not wanted:
        raise NotApplicable(Reason.EXPECTED_MISSING, tokens=0)
    missing = wanted - token_set(answer)
    value = (len(wanted) - len(missing)) / len(wanted)
    return Measured(value, {"missing": in_order(expected, missing)}) if missing else value


@metric(better="neither", high=None, blank_answer="measure", source="Metric foundations page, faq_basics")
def answer_length(answer: str) -> Measured:
    """Length of the answer in characters, untrimmed; the number of words is in the details.

    >>> answer_length("At nine.")
    Measured(value=8.0, details={'words': 2})
    """
    return Measured(float(len(answer)), {"words": len(answer.split())})


@metric(source="Metric foundations page, faq_basics")
def politeness(answer: str, *, markers: Sequence[str] = POLITE_MARKERS) -> float:
    """Half a point for each distinct polite phrase in the answer, at most 1.

    >>> politeness("Please wait.")
    0.5
    """
    lowered = answer.lower()
    found = 0
    for phrase, as_words in _phrases(tuple(markers)):
        # The plain search is there for speed: most answers hold none of the phrases.
        if phrase in lowered and as_words.search(lowered):
            found += 1
            if found == 2:
                return 1.0
    return found / 2


@cache
def _phrases(markers: tuple[str, ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each phrase in lower case, with a pattern that finds it where it neither begins nor ends inside a word."""
    lowered = dict.fromkeys(marker.lower() for marker in markers if marker.strip())
    return tuple((phrase, re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)")) for phrase in lowered)


_H2O_BLEU: Final = "H2O evaluators page, BLEU; Papineni et al. 2002; values as nltk sentence_bleu"
_H2O_ROUGE: Final = "H2O evaluators page, ROUGE; Lin 2004; values as rouge-score with its stemmer"
# Twice as long, four times the work: two texts of this length take about 0.2 s. It is 300 to 400 kB of prose.
LONGEST_SUBSEQUENCE_TEXT: Final = 65_536


@metric(threshold=0.75, source=_H2O_BLEU)
def bleu_1(ngram_matches: NgramMatches) -> float:
    """Brevity penalty times the clipped precision of the answer's words.

    See ``bleu`` for the quality of the family.
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
